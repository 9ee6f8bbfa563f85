import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import { useState } from 'react';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfirmDialog } from '../../../../renderer/components/dialog.tsx';

const confirmed: string[] = [];

function Part() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Tooltip.Provider>
      <button type="button" onClick={() => setOpen(true)}>
        Ask
      </button>
      <ConfirmDialog
        title="Remove it?"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        action="Remove"
        onConfirm={() => confirmed.push('removed')}
      >
        It is gone for good.
      </ConfirmDialog>
    </Tooltip.Provider>
  );
}

describe('a confirmation of an irreversible action', () => {
  const frame = document.createElement('div');
  beforeEach(() => {
    frame.id = 'window';
    document.body.append(frame);
    confirmed.length = 0;
    render(<Part />, { container: frame });
  });
  afterEach(() => {
    cleanup();
    frame.remove();
  });

  test('blocks the window until it is closed, with the harmless button first', () => {
    const ask = screen.getByText('Ask');
    ask.focus();
    fireEvent.click(ask);
    expect(frame.hasAttribute('inert')).toBe(true);
    expect(document.activeElement).toBe(screen.getByText('Cancel'));
    expect(screen.getByRole('alertdialog', { name: 'Remove it?' }).getAttribute('aria-modal')).toBe('true');
  });

  test.each([
    ['Esc', () => fireEvent.keyDown(document.activeElement as Element, { key: 'Escape' })],
    ['Cancel', () => fireEvent.click(screen.getByText('Cancel'))],
    ['Close', () => fireEvent.click(screen.getByLabelText('Close'))],
  ])('%s closes it, restores the window and the focus, and does nothing', (_name, putAway) => {
    const ask = screen.getByText('Ask');
    ask.focus();
    fireEvent.click(ask);
    putAway();
    expect(screen.queryByRole('alertdialog')).toBeNull();
    expect(frame.hasAttribute('inert')).toBe(false);
    expect(document.activeElement).toBe(ask);
    expect(confirmed).toEqual([]);
  });
});
