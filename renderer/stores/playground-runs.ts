import { create } from 'zustand';
import type { Client } from '../host/client.ts';
import { beginStreamingRun } from './activity.ts';
import { rememberComparedModel, rememberModel } from './model-choices.ts';
import { oncePerFrame } from './once-per-frame.ts';
import { useDrafts } from './playground-drafts.ts';
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
  /** Whether it runs beside the draft's own answer, on another model. */
  isCompared?: boolean;
  /** Called once, as soon as the host has named the run. */
  onRunId?: (runId: string) => void;
}

const stopSwitches = new Map<string, AbortController>();

/** States that wait for the next frame. Answers that stream side by side share it and are drawn at once. */
const waitingStates = new Map<string, { run: LiveRun; controller: AbortController }>();

const frames = oncePerFrame((waiting: typeof waitingStates) => {
  const newest = [...waiting].filter(([draftId, { controller }]) => stopSwitches.get(draftId) === controller);
  waiting.clear();
  const runs = Object.fromEntries(newest.map(([draftId, { run }]) => [draftId, run]));
  useLiveRuns.setState(({ live }) => ({ live: { ...live, ...runs } }));
});

/** Where the runs of a compared model are kept. */
export function columnKey(draftId: string, columnId: string): string {
  return `${draftId}/${columnId}`;
}

function without<Value>(values: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(values).filter(([other]) => other !== key));
}

export const useLiveRuns = create<LiveRunsState>()((set, get) => ({
  live: {},
  waiting: {},
  start: async (client, options) => {
    const { draftId, onRunId } = options;
    const { aiSystem, model } = options.request;
    const remember = options.isCompared ? rememberComparedModel : rememberModel;
    remember({ aiSystem, name: model });
    get().stop(draftId);
    const controller = new AbortController();
    stopSwitches.set(draftId, controller);
    const show = (run: LiveRun): void => {
      const isNewest = stopSwitches.get(draftId) === controller;
      if (isNewest) set(({ live }) => ({ live: { ...live, [draftId]: run } }));
    };
    let isShown = false;
    let isNamed = false;
    // The first state is drawn at once: a press on Run shows before the host has answered.
    const onChange = (run: LiveRun): void => {
      if (isShown) {
        waitingStates.set(draftId, { run, controller });
        frames.push(waitingStates);
      } else show(run);
      isShown = true;
      if (run.runId !== null && !isNamed) onRunId?.(run.runId);
      isNamed = run.runId !== null;
    };
    const end = beginStreamingRun();
    try {
      const ended = await followRun(client, { ...options, signal: controller.signal, onChange });
      if (waitingStates.get(draftId)?.controller === controller) waitingStates.delete(draftId);
      show(ended);
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

/** A deleted draft can no longer show its runs or stop them: they end with it, those of its compared models included. */
useDrafts.subscribe(({ drafts }, before) => {
  if (drafts === before.drafts) return;
  const ids = new Set(drafts.map(({ id }) => id));
  for (const { id, compared } of before.drafts) {
    if (ids.has(id)) continue;
    const keys = [id, ...(compared ?? []).map((column) => columnKey(id, column.id))];
    for (const key of keys) useLiveRuns.getState().stop(key);
  }
});
