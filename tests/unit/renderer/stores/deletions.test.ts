import { expect, test, vi } from 'vitest';
import { deleteWithUndo, useDeletions } from '../../../../renderer/stores/deletions.ts';
import { dismissToast, useToasts } from '../../../../renderer/stores/toasts.ts';

const newest = () => useToasts.getState().toasts.at(-1)!;

test('a deleted object disappears at once and is deleted at the host when the toast closes', async () => {
  const carryOut = vi.fn(() => Promise.resolve());
  deleteWithUndo({ id: 'one', text: 'One is deleted.', carryOut });
  expect([...useDeletions.getState().ids]).toEqual(['one']);
  expect(carryOut).not.toHaveBeenCalled();
  dismissToast(newest().id);
  await expect.poll(() => useDeletions.getState().ids.size).toBe(0);
  expect(carryOut).toHaveBeenCalledOnce();
});

test('undo before the toast closes deletes nothing', () => {
  const carryOut = vi.fn(() => Promise.resolve());
  const onUndo = vi.fn();
  deleteWithUndo({ id: 'two', text: 'Two is deleted.', carryOut, onUndo });
  newest().action?.run();
  dismissToast(newest().id);
  expect([useDeletions.getState().ids.size, carryOut.mock.calls.length, onUndo.mock.calls.length]).toEqual([0, 0, 1]);
});

test('an object that the host fails to delete returns with the reason', async () => {
  deleteWithUndo({
    id: 'three',
    text: 'Three is deleted.',
    carryOut: () => Promise.reject(new Error('It is locked.')),
  });
  dismissToast(newest().id);
  await expect.poll(newest).toMatchObject({ tone: 'negative', text: 'It is locked.' });
  expect(useDeletions.getState().ids.size).toBe(0);
});
