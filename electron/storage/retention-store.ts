import { z } from 'zod';
import { createSharedMessages, releasedBytes } from './shared-messages.ts';
import { createQuoteRemoval } from './comparison-cells.ts';
import { createReviewRemoval } from './reviews/review-removal.ts';
import type { Metadata } from './queries.ts';
import type Database from 'better-sqlite3';

/** Removes runs from the database. Call its methods in a transaction. */
export interface RunRemoval {
  /** Removes runs with their texts, feedback, reviews and what comparisons quote of them, and conversations without runs. Credit entries stay. */
  remove(runs: readonly { readonly sequence: number; readonly conversation: number }[]): void;
}

/** The removed runs so far, for counts that are based on sequences. */
export interface RemovedRuns {
  lastRun(): number;
  count(): number;
}

export function createRemovedRuns(database: Database.Database): RemovedRuns {
  const read = database.prepare<[], { last_run: number; runs: number }>('SELECT last_run, runs FROM removed_runs');
  return { lastRun: () => read.get()!.last_run, count: () => read.get()!.runs };
}

export function createRunRemoval(database: Database.Database): RunRemoval {
  const removeQuotes = createQuoteRemoval(database);
  const reviews = createReviewRemoval(database);
  const removeFeedback = database.prepare<[number]>('DELETE FROM feedback WHERE run = ?');
  const removeHistory = database.prepare<[number]>('DELETE FROM feedback_history WHERE run = ?');
  const shared = createSharedMessages(database);
  const removeTexts = database
    .prepare<[number], number | null>('DELETE FROM stored_texts WHERE run = ? RETURNING last_message')
    .pluck();
  const removeRun = database.prepare<[number], string>('DELETE FROM runs WHERE sequence = ? RETURNING id').pluck();
  const noteChange = database.prepare<[number, string | null]>(
    "INSERT INTO run_changes (run, kind, run_id) VALUES (?, 'run', ?)",
  );
  const noteRemoval = database.prepare<[number, number]>(
    'UPDATE removed_runs SET last_run = max(last_run, ?), runs = runs + ?',
  );
  const newest = database
    .prepare<[number], number | null>('SELECT max(sequence) FROM runs WHERE conversation = ?')
    .pluck();
  const removeConversation = database.prepare<[number]>('DELETE FROM conversations WHERE sequence = ?');
  const setNewest = database.prepare<[number, number]>('UPDATE conversations SET last_run = ? WHERE sequence = ?');

  return {
    remove(runs) {
      for (const { sequence } of runs) {
        // These find the run's ID, so they come before the run is gone.
        removeQuotes(sequence);
        reviews.remove(sequence);
        removeFeedback.run(sequence);
        removeHistory.run(sequence);
        shared.release(removeTexts.get(sequence) ?? null);
        noteChange.run(sequence, removeRun.get(sequence) ?? null);
      }
      noteRemoval.run(Math.max(0, ...runs.map(({ sequence }) => sequence)), runs.length);
      for (const conversation of new Set(runs.map((run) => run.conversation))) {
        const last = newest.get(conversation) ?? null;
        if (last === null) removeConversation.run(conversation);
        else setNewest.run(last, conversation);
      }
    },
  };
}

export type RetentionMode = 'delete' | 'anonymise';

/** The position from which a walk through old runs continues. */
export interface OldRunPosition {
  readonly isAnonymous: 0 | 1;
  readonly createdAt: number;
  readonly conversation: number;
  readonly sequence: number;
}

const appliedRetention = z.object({
  mode: z.enum(['delete', 'anonymise']),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  runs: z.int(),
});
/** The last time that the retention was applied. Times are milliseconds since 1970. */
export type AppliedRetention = z.infer<typeof appliedRetention>;

/** Old runs without samples. They are read in slices, so that other requests never wait for long. */
export interface RetentionStore {
  /** Runs that a mode would change, oldest first, at most `limit` after a position. */
  find(mode: RetentionMode, before: number, after: OldRunPosition | null, limit: number): OldRunPosition[];
  /** Bytes of the texts of a run. */
  textBytes(sequence: number): number;
  /** Deletes or anonymises at most `limit` runs in one transaction. Returns how many; 0 if none are left. */
  apply(mode: RetentionMode, before: number, limit: number): number;
  lastApplied(): AppliedRetention | null;
  noteApplied(applied: AppliedRetention): void;
  /** When the clock first showed a doubtful time; null if it is plausible. */
  doubtedSince(): number | null;
  noteDoubt(since: number | null): void;
}

/** Anonymised rows need no second anonymisation, but can still be deleted. */
const startOf: Readonly<Record<0 | 1, OldRunPosition>> = {
  0: { isAnonymous: 0, createdAt: -1, conversation: 0, sequence: 0 },
  1: { isAnonymous: 1, createdAt: -1, conversation: 0, sequence: 0 },
};

export interface RetentionStoreOptions {
  /** Called after each slice that was deleted or anonymised. */
  readonly onChange: () => void;
  /** Called after the last slice. */
  readonly onEnd: () => void;
}

function retentionStatements(database: Database.Database) {
  const select = database.prepare<[OldRunPosition & { before: number; limit: number }], OldRunPosition>(`
    SELECT is_anonymous AS isAnonymous, created_at AS createdAt, conversation, sequence
    FROM runs INDEXED BY runs_by_age
    WHERE is_anonymous = @isAnonymous
      AND (created_at, conversation, sequence) > (@createdAt, @conversation, @sequence)
      AND created_at < @before
      AND NOT EXISTS (
        SELECT 1 FROM conversations JOIN sample_conversations USING (id) WHERE conversations.sequence = conversation
      )
    ORDER BY created_at, conversation, sequence
    LIMIT @limit
  `);
  const isEnded = database
    .prepare<[number], 1>("SELECT 1 FROM runs WHERE sequence = ? AND status <> 'Running'")
    .pluck();
  const textBytes = database
    .prepare<[number], number>(
      `SELECT octet_length(prompt_text) + octet_length(rendered_prompt) + octet_length(content)
        + coalesce(octet_length(messages_json), 0) + ${releasedBytes} + coalesce(octet_length(tool_calls_json), 0) + coalesce(octet_length(system_message), 0) + coalesce(octet_length(replacements_json), 0)
        + coalesce(octet_length(configuration_json), 0) + coalesce(octet_length(metadata_json), 0)
        + coalesce(octet_length(reasoning), 0) + coalesce(octet_length(citations_json), 0)
       FROM run_texts WHERE run = ?`,
    )
    .pluck();
  return { select, isEnded, textBytes };
}

export function createRetentionStore(
  database: Database.Database,
  metadata: Metadata,
  { onChange, onEnd }: RetentionStoreOptions,
): RetentionStore {
  const removal = createRunRemoval(database);
  const anonymise = createAnonymiser(database);
  const { select, isEnded, textBytes } = retentionStatements(database);

  function find(mode: RetentionMode, before: number, after: OldRunPosition | null, limit: number): OldRunPosition[] {
    const position = after ?? startOf[0];
    const found = select.all({ ...position, before, limit });
    if (mode === 'anonymise' || position.isAnonymous === 1 || found.length === limit) return found;
    return [...found, ...select.all({ ...startOf[1], before, limit: limit - found.length })];
  }

  const applySlice = database.transaction((mode: RetentionMode, before: number, limit: number) => {
    const found = find(mode, before, null, limit).filter(({ sequence }) => isEnded.get(sequence) === 1);
    if (mode === 'delete') removal.remove(found);
    else anonymise(found);
    return found.length;
  });

  return {
    find,
    textBytes: (sequence) => textBytes.get(sequence) ?? 0,
    apply(mode, before, limit) {
      try {
        return applySlice.immediate(mode, before, limit);
      } finally {
        onChange();
      }
    },
    lastApplied() {
      const stored = metadata.read('retention');
      return stored === null ? null : appliedRetention.parse(JSON.parse(stored));
    },
    noteApplied(applied) {
      metadata.write('retention', JSON.stringify(applied));
      if (applied.endedAt !== null) onEnd();
    },
    doubtedSince: () => Number(metadata.read('retention_doubt')) || null,
    noteDoubt: (since) => metadata.write('retention_doubt', String(since ?? '')),
  };
}

/** The numbers and booleans of a configuration. Its texts could identify a person. */
function withoutTexts(configurationJson: string | null): string | null {
  if (configurationJson === null) return null;
  const remaining = Object.entries(JSON.parse(configurationJson) as object).filter(
    ([, value]) => typeof value === 'number' || typeof value === 'boolean',
  );
  return JSON.stringify(Object.fromEntries(remaining));
}

/** Replaces the first line of a prompt. */
export const anonymousTitle = 'Anonymised';

function createAnonymiser(database: Database.Database): (runs: readonly OldRunPosition[]) => void {
  const removeQuotes = createQuoteRemoval(database);
  const reviews = createReviewRemoval(database);
  const shared = createSharedMessages(database);
  const texts = database.prepare<[number], { configuration: string | null; last: number | null }>(
    'SELECT configuration_json AS configuration, last_message AS last FROM run_texts WHERE run = ?',
  );
  const blankTexts = database.prepare<[string | null, number]>(`
    UPDATE stored_texts SET prompt_text = '', system_message = NULL, replacements_json = NULL, rendered_prompt = '',
      messages_json = '[]', last_message = NULL, tool_calls_json = NULL,
      configuration_json = ?, metadata_json = '{"anonymised":true}', warnings_json = NULL, content = '', reasoning = NULL,
      error_message = NULL, citations_json = NULL, moderation_json = NULL
    WHERE run = ?
  `);
  const blankAnswer = database.prepare<[number]>(`
    UPDATE late_answers SET content = '', tool_calls_json = NULL, reasoning = NULL, error_message = NULL, citations_json = NULL,
      moderation_json = NULL
    WHERE run = ?
  `);
  const blankRun = database.prepare<[string, number]>(
    'UPDATE runs SET is_anonymous = 1, title = ?, draft_id = NULL, app_headers_json = NULL WHERE sequence = ?',
  );
  const blankFeedback = database.prepare<[number]>('UPDATE feedback SET score_text = NULL WHERE run = ?');
  const blankHistory = database.prepare<[number]>('UPDATE feedback_history SET score_text = NULL WHERE run = ?');
  // The name of a conversation comes from its first prompt.
  const blankName = database.prepare<[string, number, number]>(
    'UPDATE conversations SET name = ? WHERE sequence = ? AND created_at <= ?',
  );
  const noteChange = database.prepare<[number]>("INSERT INTO run_changes (run, kind) VALUES (?, 'run')");
  return (runs) => {
    for (const { sequence, conversation, createdAt } of runs) {
      const { configuration = null, last = null } = texts.get(sequence) ?? {};
      blankTexts.run(withoutTexts(configuration), sequence);
      blankAnswer.run(sequence);
      shared.release(last);
      blankRun.run(anonymousTitle, sequence);
      blankFeedback.run(sequence);
      blankHistory.run(sequence);
      removeQuotes(sequence);
      reviews.anonymise(sequence);
      blankName.run(anonymousTitle, conversation, createdAt);
      noteChange.run(sequence);
    }
  };
}
