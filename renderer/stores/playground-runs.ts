import { create } from 'zustand';
import { readRun } from '../../shared/contract/runs.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import type { Client } from '../host/client.ts';
import { followRun, isUnderWay } from './playground-run.ts';
import type { LiveRun, RunOptions } from './playground-run.ts';

interface RunsState {
  /** The newest run of each draft since the window opened. */
  live: Readonly<Record<string, LiveRun>>;
  /** Runs as the host kept them, by run id: what an old run showed, and what only the host knows of a new one. */
  kept: Readonly<Record<string, RunDetail>>;
  /** Drafts that begin to run by themselves as soon as the on-device model is there. */
  waiting: Readonly<Record<string, true>>;
  start(client: Client, options: Omit<RunOptions, 'signal' | 'onChange'>): Promise<LiveRun>;
  stop(draftId: string): void;
  /** Takes the newest run of a draft off the screen; it stays in the history. */
  dismiss(draftId: string): void;
  setWaiting(draftId: string, isWaiting: boolean): void;
  keep(run: RunDetail): void;
}

const stopSwitches = new Map<string, AbortController>();

/**
 * Hands on only the newest state, once for each frame that the screen draws. Tokens come faster than that, and each
 * hand-on draws. A hidden window has no frames and draws nothing until it is shown or the run ends.
 */
function oncePerFrame(draw: (run: LiveRun) => void): { push(run: LiveRun): void; flush(run: LiveRun): void } {
  let newest: LiveRun | null = null;
  let request = 0;
  const drawNewest = (): void => {
    request = 0;
    if (newest) draw(newest);
    newest = null;
  };
  return {
    push: (run) => {
      newest = run;
      request ||= requestAnimationFrame(drawNewest);
    },
    flush: (run) => {
      cancelAnimationFrame(request);
      newest = null;
      draw(run);
    },
  };
}

export const useRuns = create<RunsState>()((set, get) => ({
  live: {},
  kept: {},
  waiting: {},
  start: async (client, options) => {
    const { draftId } = options;
    get().stop(draftId);
    get().setWaiting(draftId, false);
    const controller = new AbortController();
    stopSwitches.set(draftId, controller);
    const isNewest = (): boolean => stopSwitches.get(draftId) === controller;
    const show = (run: LiveRun): void => {
      if (isNewest()) set(({ live }) => ({ live: { ...live, [draftId]: run } }));
    };
    const frames = oncePerFrame(show);
    let isDrawn = false;
    const onChange = (run: LiveRun): void => {
      // The first state is drawn at once: a press on Run shows in the same frame.
      if (isDrawn) frames.push(run);
      else show(run);
      isDrawn = true;
    };
    const ended = await followRun(client, { ...options, signal: controller.signal, onChange });
    frames.flush(ended);
    await keepEnded(client, ended, get().keep);
    return ended;
  },
  stop: (draftId) => {
    stopSwitches.get(draftId)?.abort();
    get().setWaiting(draftId, false);
  },
  dismiss: (draftId) => {
    get().stop(draftId);
    stopSwitches.delete(draftId);
    set(({ live }) => ({ live: without(live, draftId) }));
  },
  setWaiting: (draftId, isWaiting) => {
    if (isWaiting === draftId in get().waiting) return;
    set(({ waiting }) => ({ waiting: isWaiting ? { ...waiting, [draftId]: true } : without(waiting, draftId) }));
  },
  keep: (run) => set(({ kept }) => ({ kept: { ...kept, [run.runId]: run } })),
}));

function without<Value>(values: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(values).filter(([other]) => other !== key));
}

/** Cost, reasoning and the like are known to the host alone, once the run is on disk. */
async function keepEnded(client: Client, run: LiveRun, keep: (detail: RunDetail) => void): Promise<void> {
  if (run.runId === null) return;
  try {
    keep(await client.call(readRun, { parameters: { id: run.runId } }));
  } catch (cause) {
    console.warn('The finished run could not be read back.', cause);
  }
}

/** How many runs are under way, over all drafts. */
export function useRunsUnderWay(): number {
  return useRuns(({ live }) => Object.values(live).filter(isUnderWay).length);
}
