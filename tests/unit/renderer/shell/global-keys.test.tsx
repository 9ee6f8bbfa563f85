import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { useLayoutEffect } from 'react';
import { afterEach, describe, expect, test } from 'vitest';
import { keysOf, useGlobalKeys } from '../../../../renderer/shell/global-keys.ts';
import { registerActions, useActions, type Action } from '../../../../renderer/stores/actions.ts';

function press(key: string, options: Partial<KeyboardEvent> = {}): KeyboardEvent {
  return new KeyboardEvent('keydown', { key, ...options });
}

describe('the keys of an event have the format of actions', () => {
  test.each([
    [press('k', { ctrlKey: true }), 'Mod+K'],
    [press('K', { ctrlKey: true, shiftKey: true }), 'Mod+Shift+K'],
    [press('?', { shiftKey: true }), '?'],
    [press(',', { ctrlKey: true }), 'Mod+,'],
    [press('Escape'), 'Escape'],
    [press('Enter', { ctrlKey: true }), 'Mod+Enter'],
    [press('&', { ctrlKey: true, code: 'Digit1' }), 'Mod+1'],
    [press('Enter', { ctrlKey: true, shiftKey: true }), 'Mod+Shift+Enter'],
  ])('%o', (event, keys) => {
    expect(keysOf(event)).toBe(keys);
  });
});

describe('keys run their action', () => {
  let unregister = (): void => {};
  afterEach(() => {
    cleanup();
    unregister();
  });

  function Frame() {
    useGlobalKeys();
    return (
      <>
        <button type="button">outside</button>
        <input aria-label="field" />
        <div role="dialog" aria-label="dialog">
          <button type="button">inside</button>
        </div>
        <button type="button" onKeyDown={(event) => event.preventDefault()}>
          taking
        </button>
      </>
    );
  }

  function show(...actions: Partial<Action>[]): string[] {
    const done: string[] = [];
    unregister = registerActions(
      'test',
      actions.map((action, index) => ({
        id: String(index),
        title: '',
        group: '',
        run: () => done.push(action.keys ?? ''),
        ...action,
      })),
    );
    render(<Frame />);
    return done;
  }

  test('from anywhere outside an overlay, once for a key that is held down', () => {
    const done = show({ keys: '?' });
    fireEvent.keyDown(screen.getByText('outside'), { key: '?' });
    fireEvent.keyDown(screen.getByText('outside'), { key: '?', repeat: true });
    fireEvent.keyDown(screen.getByText('inside'), { key: '?' });
    expect(done).toEqual(['?']);
  });

  test('in a text field only with Mod, or when the action says that it works while typing', () => {
    const done = show({ keys: '?' }, { keys: 'Mod+K' }, { keys: 'Escape', worksWhileTyping: true });
    const field = screen.getByLabelText('field');
    fireEvent.keyDown(field, { key: '?' });
    fireEvent.keyDown(field, { key: 'k', ctrlKey: true });
    fireEvent.keyDown(field, { key: 'Escape' });
    expect(done).toEqual(['Mod+K', 'Escape']);
  });

  test('unless the focused element handled the key, or the action is disabled', () => {
    const done = show({ keys: 'Mod+K' }, { keys: 'Mod+L', isEnabled: false });
    fireEvent.keyDown(screen.getByText('taking'), { key: 'k', ctrlKey: true });
    fireEvent.keyDown(screen.getByText('outside'), { key: 'l', ctrlKey: true });
    expect(done).toEqual([]);
  });

  test('as soon as the part that registers it is drawn', () => {
    const done: string[] = [];
    function Part() {
      useActions('part', [{ id: 'part.go', title: 'Go', group: 'Part', keys: 'G', run: () => done.push('G') }]);
      return null;
    }
    function Window() {
      useGlobalKeys();
      // The screen has it from here on; a machine that is busy runs other effects after the next keys.
      useLayoutEffect(() => {
        document.body.dispatchEvent(press('g', { bubbles: true }));
      }, []);
      return <Part />;
    }
    render(<Window />);
    expect(done).toEqual(['G']);
  });
});
