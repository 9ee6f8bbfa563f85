import { create } from 'zustand';
import type { CompletionRequest } from '../../shared/contract/completions.ts';
import type { ToolResult } from '../../shared/contract/tools.ts';
import type { Client } from '../host/client.ts';
import type { Transport } from './playground-drafts.ts';
import type { ToolStep } from './tool-steps.ts';
import { followRun, type RunProgress, type RunSource } from './run-stream.ts';

/** A run of a prompt in the playground, or of a question to a dataspace. */
export interface CompletionRun extends RunProgress {
  /** Of the first step where it continues a run. */
  request: CompletionRequest;
  transport: Transport;
  /** The steps before it; empty unless it continues a run. */
  steps: readonly ToolStep[];
}

/** The run of an agent that another one continues, and what the tools returned. */
export interface ContinuedTurn {
  runId: string;
  results: readonly ToolResult[];
}

/** One message to an agent, or the results of its tool calls, with the answer. */
export interface AgentTurn extends RunProgress {
  message: string;
  /** Null for a message. */
  continued: ContinuedTurn | null;
}

/** A run of a stored prompt version through the endpoints that API clients call. */
export interface VersionRun extends RunProgress {
  versionId: string;
}

/** What a run belongs to. A slot has one run: a new one stops the one before and replaces it. */
export type CompletionSlot = `draft/${string}` | `dataspace/${string}`;
type AgentSlot = `agent/${string}`;
type PromptSlot = `prompt/${string}`;
export type RunSlot = CompletionSlot | AgentSlot | PromptSlot;

interface Runs {
  readonly [slot: CompletionSlot]: CompletionRun;
  readonly [slot: AgentSlot]: AgentTurn;
  readonly [slot: PromptSlot]: VersionRun;
}

interface LiveRunsState {
  /** The newest run of each slot since the window opened. */
  runs: Runs;
  /** Slots whose run starts when the on-device model is ready. */
  queued: ReadonlySet<RunSlot>;
  /** Runs that haven't ended, also those that a newer one has replaced. */
  activeCount: number;
}

/** Every run that this window started, whichever screen shows it. */
export const useLiveRuns = create<LiveRunsState>()(() => ({ runs: {}, queued: new Set(), activeCount: 0 }));

const controllers = new Map<RunSlot, AbortController>();

function isNewest(slot: RunSlot, controller: AbortController): boolean {
  return controllers.get(slot) === controller;
}

/** After rendering, the window rests this many times as long, so that a slow machine still responds to input. */
const restFactor = 2;

/** Shorter renderings need no rest. */
const quickDrawingMs = 8;

/** What fewer runs should take after a longer rendering. The browser's layout of what they changed comes on top. */
const sharedDrawingMs = 4;

interface PendingDrawing {
  run: RunProgress;
  controller: AbortController;
}

/** States for the next frames, the one that waits longest first. Answers that stream side by side share a frame, unless that is slow. */
const pending = new Map<RunSlot, PendingDrawing>();
let frameRequest = 0;
let restEndsAt = 0;
/** Runs in a frame: as many as a slow machine draws quickly, one more with each quick frame. */
let maxDrawn = Infinity;

function putRuns(drawn: Iterable<readonly [RunSlot, RunProgress]>): void {
  // `startRun` accepts only the details that belong to its slot.
  useLiveRuns.setState(({ runs }) => ({ runs: { ...runs, ...(Object.fromEntries(drawn) as object as Runs) } }));
}

function drawPending(): void {
  frameRequest = 0;
  const startedAt = performance.now();
  if (startedAt < restEndsAt) {
    frameRequest = requestAnimationFrame(drawPending);
    return;
  }
  const newest = [...pending].filter(([slot, { controller }]) => isNewest(slot, controller));
  const drawn = newest.slice(0, maxDrawn);
  pending.clear();
  for (const [slot, drawing] of newest.slice(drawn.length)) drawInNextFrame(slot, drawing);
  putRuns(drawn.map(([slot, { run }]) => [slot, run]));
  // React draws a change of a store in a microtask, which runs before this one.
  queueMicrotask(() => {
    const endedAt = performance.now();
    const duration = endedAt - startedAt;
    const isQuick = duration < quickDrawingMs;
    const fewer = Math.floor((drawn.length * sharedDrawingMs) / duration);
    maxDrawn = isQuick ? Math.max(maxDrawn, drawn.length + 1) : Math.max(1, fewer);
    restEndsAt = isQuick ? 0 : endedAt + duration * restFactor;
  });
}

/**
 * Draws only the newest state of each run, at most once per animation frame: tokens arrive faster than that. A hidden window has no
 * frames and draws nothing until it is shown or the run ends.
 */
function drawInNextFrame(slot: RunSlot, drawing: PendingDrawing): void {
  pending.set(slot, drawing);
  frameRequest ||= requestAnimationFrame(drawPending);
}

type RunDetails<Slot extends RunSlot> = Omit<Runs[Slot], keyof RunProgress>;

export interface StartOptions<Slot extends RunSlot> {
  /** Details of the run besides its progress. A message to an agent may belong to an existing conversation. */
  details: RunDetails<Slot> & Partial<Pick<RunProgress, 'conversationId'>>;
  source: RunSource;
  /** Called once, when the host has named the run. */
  onAccepted?: (run: RunProgress & { runId: string }) => void;
}

/** Starts a run in a slot and stops the one before. Resolves at the end of the run: completed, stopped or failed. */
export async function startRun<Slot extends RunSlot>(
  client: Client,
  slot: Slot,
  { details, source, onAccepted }: StartOptions<Slot>,
): Promise<RunProgress & RunDetails<Slot>> {
  stopRun(slot);
  const controller = new AbortController();
  controllers.set(slot, controller);
  const draw = (run: RunProgress): void => {
    if (isNewest(slot, controller)) putRuns([[slot, run]]);
  };
  let isDrawn = false;
  let isAccepted = false;
  const onChange = (run: RunProgress): void => {
    // The first state is drawn at once: a press on Run shows before the host has responded.
    if (isDrawn) drawInNextFrame(slot, { run, controller });
    else draw(run);
    isDrawn = true;
    if (run.runId === null || isAccepted) return;
    isAccepted = true;
    onAccepted?.({ ...run, runId: run.runId });
  };
  try {
    // The request is sent before the window renders the run.
    const following = followRun(client, { details, source, signal: controller.signal, onChange });
    useLiveRuns.setState(({ activeCount }) => ({ activeCount: activeCount + 1 }));
    const ended = await following;
    if (pending.get(slot)?.controller === controller) pending.delete(slot);
    draw(ended);
    return ended;
  } finally {
    useLiveRuns.setState(({ activeCount }) => ({ activeCount: activeCount - 1 }));
  }
}

function removeQueued(slot: RunSlot): void {
  if (!useLiveRuns.getState().queued.has(slot)) return;
  useLiveRuns.setState(({ queued }) => ({ queued: new Set([...queued].filter((other) => other !== slot)) }));
}

/** Marks a slot as queued until it is started or stopped. The signal aborts when it is stopped. */
export function queueRun(slot: RunSlot): AbortSignal {
  stopRun(slot);
  const controller = new AbortController();
  controllers.set(slot, controller);
  useLiveRuns.setState(({ queued }) => ({ queued: new Set(queued).add(slot) }));
  return controller.signal;
}

/** Stops the run of a slot, or takes it out of the queue. */
export function stopRun(slot: RunSlot): void {
  controllers.get(slot)?.abort();
  removeQueued(slot);
}

/** Stops the run of a slot and takes it off the screen. It stays in the history. */
export function dismissRun(slot: RunSlot): void {
  stopRun(slot);
  controllers.delete(slot);
  useLiveRuns.setState(({ runs }) => ({
    runs: Object.fromEntries(Object.entries(runs).filter(([other]) => other !== slot)) as Runs,
  }));
}
