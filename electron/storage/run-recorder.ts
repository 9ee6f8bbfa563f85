import { setImmediate as nextTurn } from 'node:timers/promises';
import { describeDiskFailure } from './disk-failure.ts';
import type { LogSync } from './write-ahead-log.ts';
import {
  type NewRun,
  outcomeColumns,
  outcomeTexts,
  type RunOutcome,
  runRow,
  runTextRow,
  storedJson,
} from './run-rows.ts';
import type { RunTextRow } from './schema.ts';
import { createSharedMessages, type StoredAnswer } from './shared-messages.ts';
import { messageKeys } from './stored-messages.ts';
import type { RunStore } from './storage.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { AppError } from '../../shared/app-error.ts';
import type { Conversations } from './conversations.ts';
import { runReadQueries, runWriteQueries } from './run-queries.ts';
import type { RemovedRuns } from './retention-store.ts';
import type Database from 'better-sqlite3';

/** A run whose start, end, or both have to be written. */
interface WrittenRun {
  readonly run: NewRun;
  /** Null until the run is on disk. */
  sequence: number | null;
  /** Whether its texts on disk are so long that its end doesn't write them again. */
  isLongRow: boolean;
  /** Null until the run has ended. */
  readonly outcome: RunOutcome | null;
}

interface RunWriter {
  /** Writes all runs in one transaction, with what `also` writes, and sets the sequence of new ones. If it throws, none was written. */
  write(batch: readonly WrittenRun[], also?: () => void): void;
  /** The last assigned sequence. Sequences of removed runs aren't reused. */
  lastSequence(): number;
}

interface RunWriterOptions {
  readonly database: Database.Database;
  readonly conversations: Conversations;
  readonly draftIdOf: (run: NewRun) => string | null;
  readonly removedRuns: RemovedRuns;
}

function createRunWriter(options: RunWriterOptions): RunWriter {
  const { database, conversations } = options;
  const statements = createStatements(options);
  let lastSequence = Math.max(runReadQueries(database).newest.first({})?.sequence ?? 0, options.removedRuns.lastRun());

  const writeAll = database.transaction((batch: readonly WrittenRun[], also?: () => void) => {
    let next = lastSequence + 1;
    for (const written of batch) {
      const { run, outcome, sequence, isLongRow } = written;
      if (sequence !== null) statements.end(run, outcome!, { sequence, isLongRow });
      else written.isLongRow = statements.whole(run, outcome, next++);
    }
    statements.sumCredits();
    also?.();
  });

  return {
    write(batch, also) {
      try {
        writeAll.immediate(batch, also);
      } catch (error) {
        conversations.endRun(false);
        statements.forgetCredits();
        throw error;
      }
      conversations.endRun(true);
      for (const written of batch) written.sequence ??= ++lastSequence;
    },
    lastSequence: () => lastSequence,
  };
}

/** The statements of one transaction, in the order in which the tables refer to each other. */
function createStatements({ database, conversations, draftIdOf }: RunWriterOptions) {
  const queries = runWriteQueries(database);
  const shared = createSharedMessages(database);
  const insertFile = database.prepare<[string, number]>('INSERT OR IGNORE INTO run_files (file, run) VALUES (?, ?)');
  const copyFiles = database.prepare<[number, number]>(
    'INSERT OR IGNORE INTO run_files (file, run) SELECT file, ? FROM run_files WHERE run = ?',
  );
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
    /** Returns whether the row of the texts is long. */
    whole(run: NewRun, outcome: RunOutcome | null, sequence: number): boolean {
      const conversation = conversations.append(run, sequence);
      queries.insertRun.run(runRow(run, outcome, { sequence, conversation }, draftIdOf(run)));
      const { messages } = run;
      const before = run.continues ? shared.answerOf(run.continues.runId) : null;
      const keys = sharedKeysOf(run).map((key) => (before === null ? key : `${run.continues!.runId} ${key}`));
      const lastMessage =
        messages && keys.length > 0 ? shared.store(messages, keys, before?.message) : (before?.message ?? null);
      const texts = runTextRow(before === null ? run : continuedRun(run, before), outcome, { sequence, lastMessage });
      queries.insertTexts.run(texts);
      // Those of other messages are found by a trigger.
      if (lastMessage !== null) for (const file of filesIn(messages!)) insertFile.run(file, sequence);
      if (before !== null) copyFiles.run(sequence, before.run);
      if (outcome) chargeCredits(run, outcome, sequence);
      return areLong(texts);
    },
    end(run: NewRun, outcome: RunOutcome, { sequence, isLongRow }: { sequence: number; isLongRow: boolean }): void {
      queries.endRun.run({ ...outcomeColumns(outcome), sequence });
      (isLongRow ? queries.insertLateAnswer : queries.endTexts).run({ ...outcomeTexts(outcome), run: sequence });
      if (outcome.sentPrompt !== undefined) {
        const { sentPrompt: rendered_prompt, sentMessages = null } = outcome;
        queries.keepSentPrompt.run({ rendered_prompt, messages_json: storedJson(sentMessages), run: sequence });
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

/** Programs send their whole conversation with every call. Passages would change the messages of a run later. */
function sharedKeysOf({ messages, messageKeys: keys, origin, dataspaceIds }: NewRun): readonly string[] {
  const isProgram = origin !== undefined && origin.api !== 'completions' && origin.api !== 'import';
  return keys ?? (isProgram && messages && dataspaceIds === null ? messageKeys(messages) : []);
}

/** A run whose messages come after those of the response that it continues, which no longer has to be named. */
function continuedRun(run: NewRun, { systemMessage }: StoredAnswer): NewRun {
  const { previous_response_id: _, ...configuration } = run.configuration ?? {};
  const earlier = run.continues?.keepsSystem === true ? systemMessage : null;
  return { ...run, configuration, systemMessage: run.systemMessage ?? earlier };
}

function filesIn(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'file' ? [part.fileId] : [])));
}

/** Beyond this many characters of buffered runs, a run isn't recorded. Its caller already got the failure. */
const maxCharacters = 64 * 1_048_576;

/** Time until an automatic retry. */
const retryMilliseconds = 1000;

/** A run that has ended. */
interface EndedRun {
  readonly run: NewRun;
  outcome: RunOutcome | null;
}

/** Runs that ended while the disk was failing. They stay in memory until they can be written. */
export interface RetryBuffer<Run extends EndedRun> {
  /** Buffers a run whose caller gets the failure. A completed run is buffered as failed, with its text. */
  hold(run: Run, failure: AppError): void;
  /** Writes the buffered runs until the disk fails again. */
  writeAll(): void;
  /** Throws the last failure while runs are buffered, because a run that can't be stored must not cost credits. */
  requireNone(): void;
}

function charactersOf({ run, outcome }: EndedRun): number {
  return run.promptText.length + run.renderedPrompt.length + (outcome?.content.length ?? 0);
}

/** Longer runs are written in a turn of the event loop of their own, because each megabyte takes several milliseconds. */
const maxSharedCharacters = 256 * 1024;

const isLong = (run: EndedRun): boolean => charactersOf(run) > maxSharedCharacters;

/** To add an answer, SQLite would write all of the row again, which takes five times as long as the answer of a prompt of 4 MB. */
function areLong(texts: RunTextRow): boolean {
  let characters = 0;
  for (const text of Object.values(texts)) if (typeof text === 'string') characters += text.length;
  return characters > maxSharedCharacters;
}

function withFailure(outcome: RunOutcome, { code, message }: AppError): RunOutcome {
  // The program of a recorded call has its response already.
  if (outcome.status !== 'Completed' || outcome.httpStatus !== undefined) return outcome;
  return { ...outcome, status: 'Failed', finishReason: 'Error', error: { code, message } };
}

/** `write` returns whether the run was written. If not, it may be buffered again. */
export function createRetryBuffer<Run extends EndedRun>(write: (run: Run) => boolean): RetryBuffer<Run> {
  const pending = new Set<Run>();
  let characters = 0;
  let lastFailure: AppError | null = null;
  let timer: NodeJS.Timeout | null = null;

  function writeAll(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const run of pending) {
      pending.delete(run);
      characters -= charactersOf(run);
      // Buffering it again moves it to the end, where this loop would find it again.
      if (!write(run)) break;
    }
    if (pending.size > 0) timer ??= setTimeout(writeAll, retryMilliseconds).unref();
  }

  return {
    hold(run, failure) {
      lastFailure = failure;
      if (run.outcome === null || pending.has(run) || characters + charactersOf(run) > maxCharacters) return;
      run.outcome = withFailure(run.outcome, failure);
      pending.add(run);
      characters += charactersOf(run);
      timer ??= setTimeout(writeAll, retryMilliseconds).unref();
    },
    writeAll,
    requireNone() {
      if (pending.size === 0) return;
      writeAll();
      if (pending.size > 0) throw lastFailure!;
    },
  };
}

/** How long the start of a run waits for others, to be written together. The end of any run writes the waiting starts, too. */
const beginDelayMilliseconds = 20;

/** A run whose outcome isn't on disk yet. */
interface RecordedRun extends WrittenRun {
  outcome: RunOutcome | null;
  readonly written: PromiseWithResolvers<void>;
}

export interface RunRecorder extends Pick<RunStore, 'requireRoom' | 'begin' | 'finish'> {
  /** Writes the queue. Readers call it first, so that they see every run. */
  flush(): void;
  /** Writes runs that have ended, in one transaction with what `also` writes. Throws if the disk fails; then nothing is written. */
  record(runs: readonly Pick<RecordedRun, 'run' | 'outcome'>[], also: () => void): void;
  /** The number of runs, including queued ones. */
  count(): number;
}

export interface RunRecorderOptions extends RunWriterOptions {
  readonly logSync: LogSync;
  /** What a run waits for at its end: `power-loss` for the disk, `process` for the operating system. */
  readonly durability: Durability;
  /** Called after a write. */
  readonly onWrite: () => void;
  /** Called with runs that have ended and are stored. */
  readonly onEnd: (ended: readonly { readonly run: NewRun; readonly outcome: RunOutcome }[]) => void;
}

export type Durability = 'process' | 'power-loss';

/**
 * Writes runs in batches: all runs that start or finish within one turn of the event loop share one transaction. A run that ends
 * before its start was written costs one insert.
 */
export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  const { logSync } = options;
  const writer = createRunWriter(options);
  const active = new Map<string, RecordedRun>();
  const retryBuffer = createRetryBuffer<RecordedRun>((recorded) => commit([recorded]));
  let queue = new Set<RecordedRun>();
  let beginTimer: NodeJS.Timeout | null = null;
  let finishTurn: NodeJS.Immediate | null = null;

  function flush(): void {
    if (beginTimer) clearTimeout(beginTimer);
    if (finishTurn) clearImmediate(finishTurn);
    beginTimer = finishTurn = null;
    retryBuffer.writeAll();
    if (queue.size === 0) return;
    const batch = [...queue];
    queue = new Set();
    commit(batch);
  }

  /** The turn that ended the run already read and parsed a long answer. */
  function flushNextTurn(): void {
    finishTurn = setImmediate(flush);
  }

  /** Returns whether all runs were written. */
  function commit(batch: RecordedRun[]): boolean {
    try {
      writer.write(batch);
    } catch (error) {
      // The failure of one run must not affect the others of its batch.
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
    const mustSync = options.durability === 'power-loss' && ended.length > 0;
    const synced = mustSync ? logSync.sync() : undefined;
    if (!mustSync) logSync.syncSoon();
    // What follows in this turn would be the response with a long answer.
    const settled = ended.some(isLong) ? Promise.all([synced, nextTurn()]).then(() => undefined) : synced;
    for (const { written } of ended) written.resolve(settled);
    if (ended.length > 0) options.onEnd(ended.map(({ run, outcome }) => ({ run, outcome: outcome! })));
  }

  /** If the start of a run couldn't be written, the whole run is written at its end. */
  function reject(recorded: RecordedRun, error: unknown): void {
    if (recorded.outcome === null) return;
    const failure = describeDiskFailure(error);
    if (failure !== null) retryBuffer.hold(recorded, failure);
    recorded.written.reject(error);
  }

  return {
    flush,
    requireRoom: retryBuffer.requireNone,
    record(runs, also) {
      try {
        writer.write(
          runs.map(({ run, outcome }) => ({ run, outcome, sequence: null, isLongRow: false })),
          also,
        );
      } catch (error) {
        throw describeDiskFailure(error) ?? error;
      }
      options.onWrite();
      logSync.syncSoon();
    },
    count: () =>
      writer.lastSequence() -
      options.removedRuns.count() +
      [...queue].filter(({ sequence }) => sequence === null).length,
    begin(run) {
      const written = Promise.withResolvers<void>();
      const recorded = { run, sequence: null, isLongRow: false, outcome: null, written };
      active.set(run.runId, recorded);
      queue.add(recorded);
      beginTimer ??= setTimeout(flush, beginDelayMilliseconds).unref();
    },
    finish(runId, outcome) {
      const recorded = active.get(runId);
      if (!recorded) return Promise.reject(new Error(`The run ${runId} has not begun, or has ended already.`));
      active.delete(runId);
      recorded.outcome = outcome;
      queue.add(recorded);
      finishTurn ??= setImmediate(isLong(recorded) ? flushNextTurn : flush);
      return recorded.written.promise;
    },
  };
}
