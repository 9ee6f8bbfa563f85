import { setImmediate as nextTurn } from 'node:timers/promises';
import { ActiveMap } from '../common/active-values.ts';
import { describeDiskFailure } from './disk-failure.ts';
import { charactersOf, createRetryBuffer } from './retry-buffer.ts';
import type { EndedRun, JournalEnd, RunJournal } from './run-journal.ts';
import type { NewRun, RunOutcome } from './run-rows.ts';
import {
  createRunWriter,
  maxSharedCharacters,
  type RunWriter,
  type RunWriterOptions,
  type WrittenRun,
} from './run-writer.ts';
import type { RunStore } from './storage.ts';
import type { Conversations } from './conversations.ts';
import type { LogSync } from './write-ahead-log.ts';

/**
 * How long a run waits for others, to be written together: at its start, and at its end, when it is in the journal. A run that can't be in the journal
 * is written at once, with all that wait.
 */
const writeDelayMilliseconds = 50;
/** Runs that wait at most. Writing them stops everything else for some milliseconds. */
const maxWaiting = 32;

/** A run whose outcome isn't on disk yet. */
interface RecordedRun extends WrittenRun {
  /** Its start, for the journal; null for a long one. */
  readonly runJson: string | null;
  outcome: RunOutcome | null;
  isAnswered: boolean;
  readonly written: PromiseWithResolvers<void>;
}

/** A run whose program has the response, which is in the journal and not read yet. */
interface UnreadRun {
  readonly recorded: RecordedRun;
  readonly read: () => RunOutcome;
}

export interface RunRecorder extends Pick<RunStore, 'requireRoom' | 'begin' | 'finish' | 'finishUnread'> {
  /** Writes the queue. Readers call it first, so that they see every run. */
  flush(): void;
  /** Writes runs that have ended, in one transaction with what `also` writes. Throws if the disk fails; then nothing is written. */
  record(runs: readonly Pick<RecordedRun, 'run' | 'outcome'>[], also: () => void): void;
  /** The number of runs, including queued ones. */
  count(): number;
}

export interface RunRecorderOptions extends RunWriterOptions {
  readonly logSync: LogSync;
  /** Its runs of an earlier host are written at once. */
  readonly journal: RunJournal;
  /** What a run waits for at its end: `power-loss` for the disk, `process` for the operating system. */
  readonly durability: Durability;
  /** Called after a write. */
  readonly onWrite: () => void;
  /** Called with runs that have ended and are stored. */
  readonly onEnd: (ended: readonly { readonly run: NewRun; readonly outcome: RunOutcome }[]) => void;
}

export type Durability = 'process' | 'power-loss';

/** What the journal has of a run beside its end. */
function endedRunOf(
  { run, sequence, runJson }: RecordedRun,
  { unwrittenName }: Conversations,
): EndedRun & { runJson: string | null } {
  const { runId, apiKeyId, conversationId } = run;
  if (sequence !== null) return { run: { runId, apiKeyId }, conversationName: null, runJson: null };
  return { run, conversationName: unwrittenName(conversationId), runJson };
}

/** Of a run whose start isn't in the database, the journal would get all messages. The database gets only those that no earlier run has. */
const maxJournaledCharacters = 64 * 1024;
/** For a run of more, the JSON of its start is made at its end, if its start isn't in the database then. */
const maxPreparedCharacters = 4096;
/** Of a part beside its text. */
const charactersOfPart = 64;

const fitsJournal = ({ run, sequence }: RecordedRun): boolean => sequence !== null || fits(maxJournaledCharacters, run);

function fits(maxCharacters: number, { messages }: NewRun): boolean {
  let characters = 0;
  for (const { content } of messages ?? []) {
    for (const part of content) {
      const text = part.type === 'text' ? part.text : part.type === 'toolResult' ? part.content : '';
      characters += charactersOfPart + text.length + (part.type === 'toolCall' ? part.arguments.length : 0);
      if (characters > maxCharacters) return false;
    }
  }
  return true;
}

const isLong = (run: RecordedRun): boolean => charactersOf(run) > maxSharedCharacters;

/** Runs whose callers are answered from the journal, until the database has the runs. */
function createJournaledRuns({ journal, durability, conversations }: RunRecorderOptions) {
  let waiting = 0;

  /** Returns false if the journal doesn't take them. Then no caller is answered. */
  function answer(ended: readonly RecordedRun[], endOf: (recorded: RecordedRun) => JournalEnd): boolean {
    if (durability === 'power-loss' || ended.some(isLong) || !ended.every(fitsJournal)) return false;
    const entries = ended.map((recorded) => ({ ...endedRunOf(recorded, conversations), ...endOf(recorded) }));
    if (!journal.append(entries)) return false;
    waiting += ended.length;
    for (const recorded of ended) {
      recorded.isAnswered = true;
      recorded.written.resolve();
    }
    return true;
  }

  return {
    answer,
    /** Called once for each run that has ended. */
    remove(written: readonly RecordedRun[]): void {
      waiting -= written.filter(({ isAnswered }) => isAnswered).length;
      if (waiting === 0) journal.clear();
    },
  };
}

const toWrite = ({ run, outcome }: Pick<WrittenRun, 'run' | 'outcome'>): WrittenRun => {
  return { run, outcome, sequence: null, isLongRow: false };
};

/** Returns what callers wait for. */
function syncLog(
  ended: readonly RecordedRun[],
  { durability, logSync }: RunRecorderOptions,
): Promise<void> | undefined {
  if (durability === 'power-loss' && ended.length > 0) return logSync.sync();
  // What was in the journal has waited already. The next write reports a failing disk.
  if (ended.some(({ isAnswered }) => isAnswered)) logSync.sync().catch(() => undefined);
  else logSync.syncSoon();
  return undefined;
}

type JournaledRuns = ReturnType<typeof createJournaledRuns>;

/** Writes runs to the database. Those that a failing disk doesn't take wait in a buffer. */
function createCommits(writer: RunWriter, journaled: JournaledRuns, options: RunRecorderOptions) {
  const { onWrite, onEnd } = options;
  const retryBuffer = createRetryBuffer<RecordedRun>((recorded) => commit([recorded]));

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
    onWrite();
    const ended = batch.filter(({ outcome }) => outcome !== null);
    const synced = syncLog(ended, options);
    // What follows in this turn would be the response with a long answer.
    const settled = ended.some(isLong) ? Promise.all([synced, nextTurn()]).then(() => undefined) : synced;
    for (const { written } of ended) written.resolve(settled);
    journaled.remove(ended);
    if (ended.length > 0) onEnd(ended.map(({ run, outcome }) => ({ run, outcome: outcome! })));
  }

  /** If the start of a run couldn't be written, the whole run is written at its end. */
  function reject(recorded: RecordedRun, error: unknown): void {
    if (recorded.outcome === null) return;
    const failure = describeDiskFailure(error);
    if (failure !== null) retryBuffer.hold(recorded, failure);
    else if (recorded.isAnswered) {
      process.emitWarning(`The run ${recorded.run.runId} could not be stored: ${String(error)}`);
      journaled.remove([recorded]);
    }
    recorded.written.reject(error);
  }

  return { commit, retryBuffer };
}

/**
 * Writes runs in batches. What ends within one turn of the event loop is one write to the journal, and its callers are answered; the
 * database gets it a moment later, in one transaction with the runs before and after it. A run that ends before its start was written
 * costs one insert.
 */
export function createRunRecorder(options: RunRecorderOptions): RunRecorder {
  const { logSync, journal, onWrite, removedRuns } = options;
  const writer = createRunWriter(options);
  writer.restore(journal.read());
  journal.clear();
  const active = new ActiveMap<RecordedRun>();
  let queue = new Set<RecordedRun>();
  const journaled = createJournaledRuns(options);
  const { commit, retryBuffer } = createCommits(writer, journaled, options);
  let justEnded: RecordedRun[] = [];
  const unread: UnreadRun[] = [];
  let timer: NodeJS.Timeout | null = null;
  let finishTurn: NodeJS.Immediate | null = null;

  /** When the next call waits for its provider, or before a commit. */
  function readUnread(): void {
    for (const { recorded, read } of unread.splice(0)) recorded.outcome = read();
  }

  function flush(): void {
    readUnread();
    if (timer) clearTimeout(timer);
    if (finishTurn) clearImmediate(finishTurn);
    timer = finishTurn = null;
    justEnded = [];
    retryBuffer.writeAll();
    if (queue.size === 0) return;
    const batch = [...queue];
    queue = new Set();
    commit(batch);
  }

  /** Answers the callers of this turn from the journal, if it takes their runs. */
  function endTurn(): void {
    finishTurn = null;
    // A run that is in the journal must get into the database, which doesn't take any while others wait.
    const isAnswered =
      justEnded.length === 0 ||
      (retryBuffer.isEmpty && journaled.answer(justEnded, ({ outcome }) => ({ outcome: outcome! })));
    justEnded = [];
    if (!isAnswered) flush();
    // The callers get the ends of their answers first.
    else if (queue.size >= maxWaiting) flushNextTurn();
    else timer ??= setTimeout(flush, writeDelayMilliseconds).unref();
  }

  /** The turn that ended the run already read and parsed a long answer. */
  function flushNextTurn(): void {
    finishTurn = setImmediate(flush);
  }

  return {
    flush,
    requireRoom() {
      // The run that now begins may continue this one.
      readUnread();
      retryBuffer.requireNone();
    },
    record(runs, also) {
      try {
        writer.write(runs.map(toWrite), also);
      } catch (error) {
        throw describeDiskFailure(error) ?? error;
      }
      onWrite();
      logSync.syncSoon();
    },
    count() {
      const unwritten = [...queue].filter(({ sequence }) => sequence === null);
      return writer.lastSequence() - removedRuns.count() + unwritten.length;
    },
    begin(run) {
      const written = Promise.withResolvers<void>();
      const { promptText, renderedPrompt, systemMessage } = run;
      const texts = promptText.length + renderedPrompt.length + (systemMessage?.length ?? 0);
      const isBrief = texts <= maxPreparedCharacters && fits(maxPreparedCharacters, run);
      // At the end of the run, its caller would wait for it.
      const runJson = isBrief ? JSON.stringify(run) : null;
      const recorded = { run, runJson, sequence: null, isLongRow: false, outcome: null, isAnswered: false, written };
      active.set(run.runId, recorded);
      queue.add(recorded);
      timer ??= setTimeout(flush, writeDelayMilliseconds).unref();
    },
    finish(runId, outcome) {
      const recorded = active.get(runId);
      if (!recorded) return Promise.reject(new Error(`The run ${runId} has not begun, or has ended already.`));
      active.delete(runId);
      recorded.outcome = outcome;
      queue.add(recorded);
      justEnded.push(recorded);
      finishTurn ??= setImmediate(isLong(recorded) ? flushNextTurn : endTurn);
      return recorded.written.promise;
    },
    finishUnread(runId, unreadOutcome, read) {
      // Others that end within one turn share a write.
      if (finishTurn !== null || !retryBuffer.isEmpty) return false;
      const recorded = active.get(runId);
      if (!recorded || !journaled.answer([recorded], () => ({ unread: unreadOutcome }))) return false;
      active.delete(runId);
      queue.add(recorded);
      unread.push({ recorded, read });
      finishTurn = setImmediate(endTurn);
      return true;
    },
  };
}
