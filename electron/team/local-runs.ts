import type Database from 'better-sqlite3';
import { countTurnsBefore } from '../audit/query/conversation-rows.ts';
import { wholeMessages } from '../storage/shared-messages.ts';
import type { LocalRun } from './copied-run.ts';

/** More text than this isn't read for one batch, except for a single run. */
const maxBatchCharacters = 4 * 1_048_576;

export interface LocalFeedback {
  readonly id: string;
  readonly run_id: string;
  readonly reviewer: string | null;
  readonly score: number | null;
  readonly score_text: string | null;
  readonly score_tags: string | null;
  readonly rubric_item_id: string | null;
  readonly value_json: string | null;
  readonly question: string | null;
  readonly created_at: number;
}

export type LocalRuns = ReturnType<typeof createLocalRuns>;

const selectRuns = `
  SELECT runs.*, run_texts.*, ${wholeMessages} AS messages_json, conversations.id AS conversation_id, conversations.name AS conversation_name,
    conversations.created_at AS conversation_created_at, conversations.workspace_id, agent_runs.agent_id,
    import_batches.id AS import_id, feedback.score, feedback.score_text, feedback.score_tags, feedback.updated_at
  FROM runs
    CROSS JOIN run_texts ON run_texts.run = runs.sequence
    CROSS JOIN conversations ON conversations.sequence = runs.conversation
    LEFT JOIN feedback ON feedback.run = runs.sequence
    LEFT JOIN agent_runs ON agent_runs.run_id = runs.id
    LEFT JOIN import_batches ON import_batches.sequence = runs.import_batch`;

function lengthOf(run: LocalRun): number {
  let length = 0;
  for (const value of Object.values(run)) if (typeof value === 'string') length += value.length;
  return length;
}

interface RunChange {
  readonly revision: number;
  /** A sequence. */
  readonly run: number;
  /** The ID of a removed run; null for earlier versions' removals, and for an import that was removed and repeated. */
  readonly removedId: string | null;
}

/** What changed in the runs, and how far the device has got. */
function createChanges(database: Database.Database) {
  const lastRun = database.prepare<[], number | null>('SELECT max(sequence) FROM runs').pluck();
  const lastRemoved = database.prepare<[], number>('SELECT last_run FROM removed_runs').pluck();
  const lastRevision = database.prepare<[], number | null>('SELECT max(revision) FROM run_changes').pluck();
  const changes = database.prepare<[number, number], RunChange>(`
    SELECT revision, run, CASE WHEN NOT EXISTS (SELECT 1 FROM runs WHERE id = run_id) THEN run_id END AS removedId
    FROM run_changes WHERE revision > ? ORDER BY revision LIMIT ?`);
  return {
    lastRun: (): number => Math.max(lastRun.get() ?? 0, lastRemoved.get() ?? 0),
    lastRemoved: (): number => lastRemoved.get() ?? 0,
    lastRevision: (): number => lastRevision.get() ?? 0,
    changes: (revision: number, limit: number) => changes.all(revision, limit),
  };
}

/** The recorded runs of this device as the copier reads them. `database` may be read-only. */
export function createLocalRuns(database: Database.Database) {
  const after = database.prepare<[number, number], LocalRun>(
    `${selectRuns} WHERE runs.sequence > ? ORDER BY runs.sequence LIMIT ?`,
  );
  const one = database.prepare<[number], LocalRun>(`${selectRuns} WHERE runs.sequence = ?`);
  const runId = database.prepare<[number], string>('SELECT id FROM runs WHERE sequence = ?').pluck();
  const wasRemoved = database
    .prepare<[number], 1>("SELECT 1 FROM run_changes WHERE run = ? AND kind = 'run' LIMIT 1")
    .pluck();
  const isSample = database.prepare<[string], 1>('SELECT 1 FROM sample_conversations WHERE id = ?').pluck();
  const turnsBefore = database.prepare<[string], number>(countTurnsBefore).pluck();
  const isBranch = database
    .prepare<[string], 1>('SELECT 1 FROM conversation_branches WHERE conversation_id = ?')
    .pluck();
  const history = database.prepare<[number], Omit<LocalFeedback, 'run_id'>>(
    'SELECT id, reviewer, score, score_text, score_tags, rubric_item_id, value_json, question, created_at FROM feedback_history WHERE run = ? ORDER BY sequence',
  );
  const keyNames = database.prepare<[], { caller_id: string; name: string }>('SELECT caller_id, name FROM api_keys');
  const hostId = database.prepare<[], string>("SELECT value FROM facts WHERE name = 'window_caller_id'").pluck();
  const isShared = (run: LocalRun): boolean => isSample.get(run.conversation_id) === undefined;
  const { lastRemoved, ...changes } = createChanges(database);

  return {
    /** Runs several reads on one state of the database. Otherwise feedback could come between reading a run and reading its changes. */
    inOneState: <Result>(read: () => Result): Result => database.transaction(read)(),
    /** Identifies the data folder. */
    hostId: (): string => hostId.get()!,
    /** Runs after a sequence with the last one that was read, in order. Leaves out active runs, whose sequences are in `active`, and samples. */
    after(sequence: number, limit: number): { runs: LocalRun[]; active: number[]; last: number } {
      const batch = { runs: [] as LocalRun[], active: [] as number[], last: sequence };
      let [characters, count] = [0, 0];
      for (const run of after.iterate(sequence, limit)) {
        characters += lengthOf(run);
        if (characters > maxBatchCharacters && batch.last > sequence) return batch;
        count += 1;
        batch.last = run.sequence;
        if (run.status === 'Running') batch.active.push(run.sequence);
        else if (isShared(run)) batch.runs.push(run);
      }
      // Newer ones were removed. The copier would wait for them for ever.
      if (count < limit) batch.last = Math.max(batch.last, lastRemoved());
      return batch;
    },
    /** Null for a run that was removed, or is a sample. */
    read(sequence: number): LocalRun | null {
      const run = one.get(sequence);
      return run !== undefined && isShared(run) ? run : null;
    },
    runId: (sequence: number): string | null => runId.get(sequence) ?? null,
    wasRemoved: (sequence: number): boolean => wasRemoved.get(sequence) === 1,
    ...changes,
    history: (run: LocalRun): LocalFeedback[] => history.all(run.sequence).map((row) => ({ ...row, run_id: run.id })),
    /** Earlier runs of the conversations that this one branches off from. */
    turnsBefore: (conversationId: string): number =>
      isBranch.get(conversationId) === undefined ? 0 : turnsBefore.get(conversationId)!,
    keyNames: () => keyNames.all(),
  };
}
