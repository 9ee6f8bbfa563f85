import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { Popover } from 'radix-ui';
import { afterEach, expect, test, vi } from 'vitest';
import { useInputMethodKeys } from '../../../../renderer/shell/shell.tsx';

const onKey = vi.fn<(key: string) => void>();

function Frame() {
  useInputMethodKeys();
  return (
    <Popover.Root defaultOpen>
      <Popover.Portal>
        <Popover.Content aria-label="layer">
          <input aria-label="field" onKeyDown={({ key }) => onKey(key)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

afterEach(() => {
  cleanup();
  onKey.mockReset();
});

test.each([
  ['while a word is composed', { isComposing: true }],
  ['with the key that ends a composition in Safari', { keyCode: 229 }],
])('%s, keys send nothing and close nothing', (_when, composing) => {
  render(<Frame />);
  for (const key of ['Enter', 'ArrowDown', 'Escape']) {
    // What the input method needs is left to it.
    expect(fireEvent.keyDown(screen.getByLabelText('field'), { key, ...composing })).toBe(true);
  }
  expect(onKey).not.toHaveBeenCalled();
  expect(screen.getByLabelText('layer')).toBeTruthy();
});

test('keys after it work normally', () => {
  render(<Frame />);
  fireEvent.keyDown(screen.getByLabelText('field'), { key: 'Enter' });
  expect(onKey.mock.calls).toEqual([['Enter']]);
  fireEvent.keyDown(screen.getByLabelText('field'), { key: 'Escape' });
  expect(screen.queryByLabelText('layer')).toBeNull();
});
