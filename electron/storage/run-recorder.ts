import type Database from 'better-sqlite3';
import type { Conversations } from './conversations.ts';
import type { LogSync } from './log-sync.ts';
import { runReadQueries, runWriteQueries } from './run-queries.ts';
import type { RemovedRuns } from './run-removal.ts';
import { outcomeColumns, outcomeTexts, runRow, runTextRow } from './run-rows.ts';
import type { NewRun, RunOutcome, RunStore } from './storage.ts';

/** How long the start of a run may wait for company before it is written. */
const beginDelayMilliseconds = 20;

/** Without `power-loss`: how soon after a write the disk is asked to have it too. */
const syncDelayMilliseconds = 20;

/** A run between its begin and the moment when its outcome is on disk. */
interface RecordedRun {
  readonly run: NewRun;
  /** Null until the run is on disk. */
  sequence: number | null;
  outcome: RunOutcome | null;
  readonly written: PromiseWithResolvers<void>;
}

export interface RunRecorder extends Pick<RunStore, 'begin' | 'finish'> {
  /** Writes what is queued now; readers call it first, so that they see every run. */
  flush(): void;
  /** Writes what is queued; nothing may begin afterwards. */
  close(): void;
  /** How many runs there are, including those queued. */
  count(): number;
}

export interface RunRecorderOptions {
  readonly database: Database.Database;
  readonly conversations: Conversations;
  readonly logSync: LogSync;
  /** `power-loss`: a finish also waits until the disk has it. `process`: until the operating system has it. */
  readonly durability: Durability;
  readonly draftIdOf: (run: NewRun) => string | null;
  readonly removedRuns: RemovedRuns;
  /** Told that something was written. */
  readonly onWrite: () => void;
}

export type Durability = 'process' | 'power-loss';

/**
 * Writes runs in batches: whatever begins and finishes within one turn of the event loop shares one transaction, and a run
 * that ends before its begin was written costs one insert. A sequence is never given twice, also when its run was removed.
 */
export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  const { database, conversations, logSync } = options;
  const write = createRunWriter(options);
  const underWay = new Map<string, RecordedRun>();
  let queue = new Set<RecordedRun>();
  let beginTimer: NodeJS.Timeout | null = null;
  let finishTurn: NodeJS.Immediate | null = null;
  let syncTimer: NodeJS.Timeout | null = null;
  let lastSequence = Math.max(runReadQueries(database).newest.first({})?.sequence ?? 0, options.removedRuns.lastRun());

  const writeBatch = database.transaction((batch: Iterable<RecordedRun>) => {
    let sequence = lastSequence;
    const sequences = new Map<RecordedRun, number>();
    for (const recorded of batch) {
      if (recorded.sequence !== null) write.end(recorded.run, recorded.outcome!, recorded.sequence);
      else {
        sequences.set(recorded, ++sequence);
        write.whole(recorded.run, recorded.outcome, sequence);
      }
    }
    write.sumCredits();
    return sequences;
  });

  function flush(): void {
    if (beginTimer) clearTimeout(beginTimer);
    if (finishTurn) clearImmediate(finishTurn);
    beginTimer = finishTurn = null;
    if (queue.size === 0) return;
    const batch = [...queue];
    queue = new Set();
    commit(batch);
  }

  function commit(batch: RecordedRun[]): void {
    try {
      const sequences = writeBatch.immediate(batch);
      conversations.settle(true);
      lastSequence += sequences.size;
      for (const [recorded, sequence] of sequences) recorded.sequence = sequence;
    } catch (error) {
      conversations.settle(false);
      write.forgetCredits();
      // A run that cannot be written must not take the others of its batch with it.
      if (batch.length > 1) for (const recorded of batch) commit([recorded]);
      else reject(batch, error);
      return;
    }
    resolve(batch);
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
    syncSoon();
  }

  /** What could not be written as a begin is written whole when its run ends. */
  function reject(batch: RecordedRun[], error: unknown): void {
    for (const { outcome, written } of batch) if (outcome !== null) written.reject(error);
  }

  /** Keeps what a loss of power could take to a blink, at a cost that does not grow with the number of runs. */
  function syncSoon(): void {
    syncTimer ??= setTimeout(() => {
      syncTimer = null;
      // A disk that fails shows itself in the next write; nobody waits for this one.
      logSync.sync().catch(() => undefined);
    }, syncDelayMilliseconds).unref();
  }

  return {
    flush,
    close() {
      flush();
      if (syncTimer) clearTimeout(syncTimer);
    },
    count: () =>
      lastSequence - options.removedRuns.count() + [...queue].filter(({ sequence }) => sequence === null).length,
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

/** The statements of one transaction, in the order in which the tables refer to each other. */
function createRunWriter({ database, conversations, draftIdOf }: RunRecorderOptions) {
  const queries = runWriteQueries(database);
  const creditsOfBatch = new Map<string, number>();

  function chargeCredits(run: NewRun, outcome: RunOutcome, sequence: number): void {
    if (run.apiKeyId === null || outcome.credits === 0) return;
    queries.insertCredits.run({
      run: sequence,
      api_key_id: run.apiKeyId,
      credits: outcome.credits,
      created_at: outcome.completedAt,
    });
    creditsOfBatch.set(run.apiKeyId, (creditsOfBatch.get(run.apiKeyId) ?? 0) + outcome.credits);
  }

  return {
    whole(run: NewRun, outcome: RunOutcome | null, sequence: number): void {
      const conversation = conversations.append(run, sequence);
      queries.insertRun.run(runRow(run, outcome, { sequence, conversation }, draftIdOf(run)));
      queries.insertTexts.run(runTextRow(run, outcome, sequence));
      if (outcome) chargeCredits(run, outcome, sequence);
    },
    end(run: NewRun, outcome: RunOutcome, sequence: number): void {
      queries.endRun.run({ ...outcomeColumns(outcome), sequence });
      queries.endTexts.run({ ...outcomeTexts(outcome), run: sequence });
      if (outcome.sentPrompt !== undefined) {
        queries.keepSentPrompt.run({ rendered_prompt: outcome.sentPrompt, run: sequence });
      }
      chargeCredits(run, outcome, sequence);
    },
    sumCredits(): void {
      for (const [id, credits] of creditsOfBatch) queries.addCreditsUsed.run({ id, credits });
      creditsOfBatch.clear();
    },
    forgetCredits: () => creditsOfBatch.clear(),
  };
}
