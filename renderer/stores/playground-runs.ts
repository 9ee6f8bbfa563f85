import { create } from 'zustand';
import type { Client } from '../host/client.ts';
import { beginStreamingRun } from './activity.ts';
import { followRun } from './playground-run.ts';
import type { LiveRun, RunOptions } from './playground-run.ts';

interface LiveRunsState {
  /** The newest run of each draft since the window opened. */
  live: Readonly<Record<string, LiveRun>>;
  /** Drafts that begin to run by themselves as soon as the on-device model is there. */
  waiting: Readonly<Record<string, true>>;
  /** Runs a draft and stops what it was running before. Resolves at the end of the run, however it ended. */
  start: (client: Client, options: StartOptions) => Promise<LiveRun>;
  /** Marks a draft as waiting until it is started or stopped; the signal is of the stop. */
  wait: (draftId: string) => AbortSignal;
  stop: (draftId: string) => void;
  /** Takes the newest run of a draft off the screen; it stays in the history. */
  dismiss: (draftId: string) => void;
}

export interface StartOptions extends Omit<RunOptions, 'signal' | 'onChange'> {
  /** Called once, as soon as the host has named the run. */
  onRunId?: (runId: string) => void;
}

const stopSwitches = new Map<string, AbortController>();

/** A drawing is followed by a rest of this many times its length, so that a slow machine still answers to the hand. */
const restFactor = 2;

/**
 * Hands on only the newest state, at most once for each frame that the screen draws. Tokens come faster than that, and each
 * hand-on draws. A hidden window has no frames and draws nothing until it is shown or the run ends.
 */
function oncePerFrame(draw: (run: LiveRun) => void): { push(run: LiveRun): void; flush(run: LiveRun): void } {
  let newest: LiveRun | null = null;
  let request = 0;
  let restEnds = 0;
  const drawNewest = (): void => {
    request = 0;
    const began = performance.now();
    if (began < restEnds) {
      request = requestAnimationFrame(drawNewest);
      return;
    }
    if (newest) draw(newest);
    newest = null;
    // React draws what a store hands on in a microtask of its own, before this one.
    queueMicrotask(() => {
      const ended = performance.now();
      restEnds = ended - began < 8 ? 0 : ended + (ended - began) * restFactor;
    });
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

function without<Value>(values: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(values).filter(([other]) => other !== key));
}

export const useLiveRuns = create<LiveRunsState>()((set, get) => ({
  live: {},
  waiting: {},
  start: async (client, options) => {
    const { draftId, onRunId } = options;
    get().stop(draftId);
    const controller = new AbortController();
    stopSwitches.set(draftId, controller);
    const show = (run: LiveRun): void => {
      const isNewest = stopSwitches.get(draftId) === controller;
      if (isNewest) set(({ live }) => ({ live: { ...live, [draftId]: run } }));
    };
    const frames = oncePerFrame(show);
    let isShown = false;
    let isNamed = false;
    // The first state is drawn at once: a press on Run shows before the host has answered.
    const onChange = (run: LiveRun): void => {
      if (isShown) frames.push(run);
      else show(run);
      isShown = true;
      if (run.runId !== null && !isNamed) onRunId?.(run.runId);
      isNamed = run.runId !== null;
    };
    const end = beginStreamingRun();
    try {
      const ended = await followRun(client, { ...options, signal: controller.signal, onChange });
      frames.flush(ended);
      return ended;
    } finally {
      end();
    }
  },
  wait: (draftId) => {
    get().stop(draftId);
    const controller = new AbortController();
    stopSwitches.set(draftId, controller);
    set(({ waiting }) => ({ waiting: { ...waiting, [draftId]: true } }));
    return controller.signal;
  },
  stop: (draftId) => {
    stopSwitches.get(draftId)?.abort();
    if (draftId in get().waiting) set(({ waiting }) => ({ waiting: without(waiting, draftId) }));
  },
  dismiss: (draftId) => {
    get().stop(draftId);
    stopSwitches.delete(draftId);
    set(({ live }) => ({ live: without(live, draftId) }));
  },
}));
