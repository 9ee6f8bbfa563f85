import { describeDiskFailure } from './disk-failure.ts';
import { createRetryBuffer } from './retry-buffer.ts';
import type { LogSync } from './log-sync.ts';
import { createRunWriter, type RunWriterOptions, type WrittenRun } from './run-writer.ts';
import type { RunOutcome, RunStore } from './storage.ts';

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
  /** Told that something was written. */
  readonly onWrite: () => void;
}

export type Durability = 'process' | 'power-loss';

/**
 * Writes runs in batches: whatever begins and finishes within one turn of the event loop shares one transaction, and a run
 * that ends before its begin was written costs one insert.
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
