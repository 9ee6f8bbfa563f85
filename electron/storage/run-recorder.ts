import { describeDiskFailure } from './disk-failure.ts';
import type { LogSync } from './write-ahead-log.ts';
import { createRunWriter, type RunWriterOptions, type WrittenRun } from './run-writer.ts';
import type { NewRun, RunOutcome } from './run-rows.ts';
import type { RunStore } from './storage.ts';
import type { AppError } from '../../shared/app-error.ts';

/** Beyond this many characters of buffered runs, a run isn't recorded. Its caller already got the failure. */
const maxCharacters = 64 * 1_048_576;

/** Time until an automatic retry. */
const retryMilliseconds = 1000;

/** A run that has ended. */
interface EndedRun {
  readonly run: NewRun;
  outcome: RunOutcome | null;
}

/** Runs that ended while the disk took nothing, kept in memory until it does. */
export interface RetryBuffer<Run extends EndedRun> {
  /** Buffers a run whose caller gets the failure. A completed run is buffered as failed, with its text. */
  hold(run: Run, failure: AppError): void;
  /** Writes what is held, as far as the disk takes it. */
  writeAll(): void;
  /** Throws what the last one failed with while any are held: a run that could not be kept should not be paid for. */
  requireNone(): void;
}

function charactersOf({ run, outcome }: EndedRun): number {
  return run.promptText.length + run.renderedPrompt.length + (outcome?.content.length ?? 0);
}

function asTold(outcome: RunOutcome, { code, message }: AppError): RunOutcome {
  if (outcome.status !== 'Completed') return outcome;
  return { ...outcome, status: 'Failed', finishReason: 'Error', error: { code, message } };
}

/** `write` returns whether the run was written; one that was not may be held again. */
export function createRetryBuffer<Run extends EndedRun>(write: (run: Run) => boolean): RetryBuffer<Run> {
  const held = new Set<Run>();
  let characters = 0;
  let lastFailure: AppError | null = null;
  let timer: NodeJS.Timeout | null = null;

  function writeAll(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const run of held) {
      held.delete(run);
      characters -= charactersOf(run);
      // Buffering it again moves it to the end, where this loop would find it again.
      if (!write(run)) break;
    }
    if (held.size > 0) timer ??= setTimeout(writeAll, retryMilliseconds).unref();
  }

  return {
    hold(run, failure) {
      lastFailure = failure;
      if (run.outcome === null || held.has(run) || characters + charactersOf(run) > maxCharacters) return;
      run.outcome = asTold(run.outcome, failure);
      held.add(run);
      characters += charactersOf(run);
      timer ??= setTimeout(writeAll, retryMilliseconds).unref();
    },
    writeAll,
    requireNone() {
      if (held.size === 0) return;
      writeAll();
      if (held.size > 0) throw lastFailure!;
    },
  };
}

/** How long the start of a run may wait for company before it is written. */
const beginDelayMilliseconds = 20;

/** A run between its begin and the moment when its outcome is on disk. */
interface RecordedRun extends WrittenRun {
  outcome: RunOutcome | null;
  readonly written: PromiseWithResolvers<void>;
}

export interface RunRecorder extends Pick<RunStore, 'requireRoom' | 'begin' | 'finish'> {
  /** Writes what is queued now; readers call it first, so that they see every run. */
  flush(): void;
  /** How many runs there are, including those queued. */
  count(): number;
}

export interface RunRecorderOptions extends RunWriterOptions {
  readonly logSync: LogSync;
  /** `power-loss`: a finish also waits until the disk has it. `process`: until the operating system has it. */
  readonly durability: Durability;
  /** Called after a write. */
  readonly onWrite: () => void;
}

export type Durability = 'process' | 'power-loss';

/**
 * Writes runs in batches: all runs that start or finish within one turn of the event loop share one transaction. A run that ends
 * before its start was written costs one insert.
 */
export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  const { logSync } = options;
  const writer = createRunWriter(options);
  const underWay = new Map<string, RecordedRun>();
  const held = createRetryBuffer<RecordedRun>((recorded) => commit([recorded]));
  let queue = new Set<RecordedRun>();
  let beginTimer: NodeJS.Timeout | null = null;
  let finishTurn: NodeJS.Immediate | null = null;

  function flush(): void {
    if (beginTimer) clearTimeout(beginTimer);
    if (finishTurn) clearImmediate(finishTurn);
    beginTimer = finishTurn = null;
    held.writeAll();
    if (queue.size === 0) return;
    const batch = [...queue];
    queue = new Set();
    commit(batch);
  }

  /** Whether all of it was written. */
  function commit(batch: RecordedRun[]): boolean {
    try {
      writer.write(batch);
    } catch (error) {
      // A run that cannot be written must not take the others of its batch with it.
      if (batch.length > 1) for (const recorded of batch) commit([recorded]);
      else reject(batch[0]!, error);
      return false;
    }
    resolve(batch);
    return true;
  }

  function resolve(batch: RecordedRun[]): void {
    options.onWrite();
    const ended = batch.filter(({ outcome }) => outcome !== null);
    if (options.durability === 'power-loss' && ended.length > 0) {
      const synced = logSync.sync();
      for (const { written } of ended) written.resolve(synced);
      return;
    }
    for (const { written } of ended) written.resolve();
    logSync.syncSoon();
  }

  /** What could not be written as a begin is written whole when its run ends. */
  function reject(recorded: RecordedRun, error: unknown): void {
    if (recorded.outcome === null) return;
    const failure = describeDiskFailure(error);
    if (failure !== null) held.hold(recorded, failure);
    recorded.written.reject(error);
  }

  return {
    flush,
    requireRoom: held.requireNone,
    count: () =>
      writer.lastSequence() -
      options.removedRuns.count() +
      [...queue].filter(({ sequence }) => sequence === null).length,
    begin(run) {
      const recorded = { run, sequence: null, outcome: null, written: Promise.withResolvers<void>() };
      underWay.set(run.runId, recorded);
      queue.add(recorded);
      beginTimer ??= setTimeout(flush, beginDelayMilliseconds).unref();
    },
    finish(runId, outcome) {
      const recorded = underWay.get(runId);
      if (!recorded) return Promise.reject(new Error(`The run ${runId} has not begun, or has ended already.`));
      underWay.delete(runId);
      recorded.outcome = outcome;
      queue.add(recorded);
      finishTurn ??= setImmediate(flush);
      return recorded.written.promise;
    },
  };
}
