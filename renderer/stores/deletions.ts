import { create } from 'zustand';
import type { SourceDetail } from '../../shared/contract/knowledge-window.ts';
import type { Prompt } from '../../shared/contract/prompts.ts';
import { AppError } from '../../shared/app-error.ts';
import { describeError } from '../components/state-panels.tsx';
import { showToast, useToasts } from './toasts.ts';

/** A deleted object that the host's counts still include. */
type Counted = { prompt: Prompt } | { source: SourceDetail };

interface Deletions {
  /** What was deleted on the screen but not at the host yet. Lists leave these ids out. */
  ids: ReadonlySet<string>;
  /** By id, until the host's counts leave them out. */
  counted: ReadonlyMap<string, Counted>;
}

export const useDeletions = create<Deletions>()(() => ({ ids: new Set(), counted: new Map() }));

function addPending({ id, counted }: Deletion): void {
  useDeletions.setState((state) => ({
    ids: new Set(state.ids).add(id),
    counted: counted ? new Map(state.counted).set(id, counted) : state.counted,
  }));
}

function removePending(id: string): void {
  uncount([id]);
  useDeletions.setState(({ ids }) => ({ ids: new Set([...ids].filter((one) => one !== id)) }));
}

/** Call when the host's counts no longer include these objects, so that they aren't subtracted twice. */
export function uncount(ids: readonly string[]): void {
  const { counted } = useDeletions.getState();
  if (!ids.some((id) => counted.has(id))) return;
  useDeletions.setState({ counted: new Map([...counted].filter(([id]) => !ids.includes(id))) });
}

/** Call with the current state of sources: one that is indexed while Undo is offered counts differently afterwards. */
export function recountSources(sources: readonly SourceDetail[]): void {
  const { counted } = useDeletions.getState();
  const changed = sources.filter(({ id }) => counted.has(id));
  if (changed.length === 0) return;
  useDeletions.setState({
    counted: new Map([...counted, ...changed.map((source) => [source.id, { source }] as const)]),
  });
}

export interface Deletion {
  id: string;
  /** What the message says: `"Support reply" is deleted.` */
  text: string;
  /** Present if the host counts the object. Counts on the screen leave it out from now on. */
  counted?: Counted;
  /** Deletes it at the host and refetches the queries that show it. */
  carryOut: () => Promise<unknown>;
  onUndo?: () => void;
}

async function end({ id, carryOut }: Deletion): Promise<void> {
  try {
    await carryOut();
  } catch (cause) {
    // Someone else deleted it first: nothing is left to do.
    if (cause instanceof AppError && cause.status === 404) return;
    const { message, requestId } = describeError(cause);
    showToast({ tone: 'negative', text: message, requestId });
  } finally {
    removePending(id);
  }
}

/**
 * Hides something at once and deletes it when the toast with Undo closes. A window that closes before that deletes nothing: one
 * call to the host deletes all of it.
 */
export function deleteWithUndo(deletion: Deletion): void {
  let isUndone = false;
  addPending(deletion);
  const undo = (): void => {
    isUndone = true;
    removePending(deletion.id);
    deletion.onUndo?.();
  };
  const toastId = showToast({ tone: 'neutral', text: deletion.text, action: { label: 'Undo', run: undo } });
  const unsubscribe = useToasts.subscribe(({ toasts }) => {
    if (toasts.some(({ id }) => id === toastId)) return;
    unsubscribe();
    if (!isUndone) void end(deletion);
  });
}
