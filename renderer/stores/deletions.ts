import { create } from 'zustand';
import { describeError } from '../components/state-panels.tsx';
import { showToast, useToasts } from './toasts.ts';

/** What was deleted on the screen but not at the host yet. Lists leave these ids out. */
export const useDeletions = create<{ ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }));

function keep(id: string, isDeleted: boolean): void {
  useDeletions.setState(({ ids }) => {
    const next = new Set(ids);
    if (isDeleted) next.add(id);
    else next.delete(id);
    return { ids: next };
  });
}

export interface Deletion {
  id: string;
  /** What the message says: `"Support reply" is deleted.` */
  text: string;
  /** Deletes it at the host and renews what shows it. */
  carryOut: () => Promise<unknown>;
  onUndo?: () => void;
}

async function end({ id, carryOut }: Deletion): Promise<void> {
  try {
    await carryOut();
  } catch (cause) {
    const { message, requestId } = describeError(cause);
    showToast({ tone: 'negative', text: message, requestId });
  } finally {
    keep(id, false);
  }
}

/**
 * Takes something off the screen at once and deletes it when the message with the way back is gone. A window that closes before
 * that has deleted nothing: the host is asked once, for the whole of it.
 */
export function deleteWithUndo(deletion: Deletion): void {
  let isUndone = false;
  keep(deletion.id, true);
  const undo = (): void => {
    isUndone = true;
    keep(deletion.id, false);
    deletion.onUndo?.();
  };
  const toastId = showToast({ tone: 'neutral', text: deletion.text, action: { label: 'Undo', run: undo } });
  const leave = useToasts.subscribe(({ toasts }) => {
    if (toasts.some(({ id }) => id === toastId)) return;
    leave();
    if (!isUndone) void end(deletion);
  });
}
