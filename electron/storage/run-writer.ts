import type Database from 'better-sqlite3';
import type { Message } from '../../shared/contract/messages.ts';
import type { Conversations } from './conversations.ts';
import { describeDiskFailure } from './disk-failure.ts';
import { prepareQuery } from './queries.ts';
import type { RemovedRuns } from './retention-store.ts';
import type { JournalEntry } from './run-journal.ts';
import { runReadQueries, runWriteQueries } from './run-queries.ts';
import {
  type NewRun,
  outcomeColumns,
  outcomeTexts,
  type ReadOutcome,
  type RunOutcome,
  runRow,
  runTextRow,
  storedJson,
} from './run-rows.ts';
import type { RunTextRow } from './schema.ts';
import { createSharedMessages, type StoredAnswer } from './shared-messages.ts';
import { messageKeys } from './stored-messages.ts';

/** Longer runs are written in a turn of the event loop of their own, because each megabyte takes several milliseconds. */
export const maxSharedCharacters = 256 * 1024;

/** To add an answer, SQLite would write all of the row again, which takes five times as long as the answer of a prompt of 4 MB. */
function areLong(texts: RunTextRow): boolean {
  let characters = 0;
  for (const text of Object.values(texts)) if (typeof text === 'string') characters += text.length;
  return characters > maxSharedCharacters;
}

/** A run whose start, end, or both have to be written. */
export interface WrittenRun {
  readonly run: NewRun;
  /** Null until the run is on disk. */
  sequence: number | null;
  /** Whether its texts on disk are so long that its end doesn't write them again. */
  isLongRow: boolean;
  /** Null until the run has ended. */
  readonly outcome: RunOutcome | null;
}

export interface RunWriter {
  /** Writes all runs in one transaction, with what `also` writes, and sets the sequence of new ones. If it throws, none was written. */
  write(batch: readonly WrittenRun[], also?: () => void): void;
  /** Writes runs of an earlier host that had ended but weren't written. One that no database accepts is left out, with a warning. */
  restore(entries: readonly JournalEntry[]): void;
  /** The last assigned sequence. Sequences of removed runs aren't reused. */
  lastSequence(): number;
}

export interface RunWriterOptions {
  readonly database: Database.Database;
  readonly conversations: Conversations;
  readonly draftIdOf: (run: NewRun) => string | null;
  readonly removedRuns: RemovedRuns;
  readonly readOutcome: ReadOutcome;
}

export function createRunWriter(options: RunWriterOptions): RunWriter {
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

  const stored = prepareQuery(database, (tables, input: { id: string }) =>
    tables.selectFrom('runs').select(['sequence', 'status']).where('id', '=', input.id),
  );

  /** Returns whether there is a new run. The earlier host may have ended between its commit and the end of the journal. */
  const restoreOne = database.transaction(({ run, conversationName, ...end }: JournalEntry): boolean => {
    const outcome = 'unread' in end ? options.readOutcome(end.unread) : end.outcome;
    const row = stored.first({ id: run.runId });
    const isNew = row === undefined && 'conversationId' in run;
    if (row?.status === 'Running') statements.end(run, outcome, { sequence: row.sequence, isLongRow: false });
    if (isNew) {
      if (conversationName !== null) conversations.join({ ...run, name: conversationName });
      statements.whole(run, outcome, lastSequence + 1);
    }
    statements.sumCredits();
    return isNew;
  }).immediate;

  return {
    restore(entries) {
      for (const entry of entries) {
        try {
          if (restoreOne(entry)) lastSequence += 1;
          conversations.endRun(true);
        } catch (error) {
          conversations.endRun(false);
          statements.forgetCredits();
          if (describeDiskFailure(error) !== null) throw error;
          process.emitWarning(`The run ${entry.run.runId} of the last start could not be stored: ${String(error)}`);
        }
      }
    },
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
  let creditsOfBatch = new Map<string, number>();

  function chargeCredits(run: Pick<NewRun, 'apiKeyId'>, outcome: RunOutcome, sequence: number): void {
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
    end(
      run: Pick<NewRun, 'apiKeyId'>,
      outcome: RunOutcome,
      { sequence, isLongRow }: { sequence: number; isLongRow: boolean },
    ): void {
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
      creditsOfBatch = new Map();
    },
    forgetCredits(): void {
      creditsOfBatch = new Map();
    },
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
