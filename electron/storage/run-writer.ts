import type { Conversations } from './conversations.ts';
import { runReadQueries, runWriteQueries } from './run-queries.ts';
import type { RemovedRuns } from './retention-store.ts';
import {
  type NewRun,
  outcomeColumns,
  outcomeTexts,
  type RunOutcome,
  runRow,
  runTextRow,
  storedJson,
} from './run-rows.ts';
import type Database from 'better-sqlite3';

/** A run whose start, end, or both have to be written. */
export interface WrittenRun {
  readonly run: NewRun;
  /** Null until the run is on disk. */
  sequence: number | null;
  /** Null until the run has ended. */
  readonly outcome: RunOutcome | null;
}

export interface RunWriter {
  /** Writes all runs in one transaction and sets the sequence of new ones. If it throws, none was written. */
  write(batch: readonly WrittenRun[]): void;
  /** The last assigned sequence. Sequences of removed runs aren't reused. */
  lastSequence(): number;
}

export interface RunWriterOptions {
  readonly database: Database.Database;
  readonly conversations: Conversations;
  readonly draftIdOf: (run: NewRun) => string | null;
  readonly removedRuns: RemovedRuns;
}

export function createRunWriter(options: RunWriterOptions): RunWriter {
  const { database, conversations } = options;
  const statements = createStatements(options);
  let lastSequence = Math.max(runReadQueries(database).newest.first({})?.sequence ?? 0, options.removedRuns.lastRun());

  const writeAll = database.transaction((batch: readonly WrittenRun[]) => {
    let next = lastSequence + 1;
    for (const { run, outcome, sequence } of batch) {
      if (sequence !== null) statements.end(run, outcome!, sequence);
      else statements.whole(run, outcome, next++);
    }
    statements.sumCredits();
  });

  return {
    write(batch) {
      try {
        writeAll.immediate(batch);
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
