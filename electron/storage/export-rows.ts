import type Database from 'better-sqlite3';
import { sql } from 'kysely';
import { prepareQuery } from './queries.ts';
import { runTextColumns } from './run-queries.ts';
import { wholeMessages } from './shared-messages.ts';

/** The stored columns of a run that an evidence pack may contain. */
export type ExportRow = ReturnType<ReturnType<typeof exportQueries>['runs']['all']>[number];

export interface RunFeedback {
  readonly score: number | null;
  readonly comment: string | null;
  readonly tags: string | null;
}

/** Reads conversations for evidence packs, each in its own transaction. During a long transaction the log can't be emptied. */
export interface ExportRows {
  /** The runs of a conversation up to a sequence, oldest first. */
  runs(conversation: number, lastRun: number): ExportRow[];
  /** `conversations.sequence`; null for an unknown id. */
  conversation(id: string): number | null;
  runSequences(conversation: number): number[];
  /** Ids of runs by their sequences, without removed runs. */
  runIds(sequences: readonly number[]): string[];
  /** A person's feedback on a run. `tags` are separated by commas. */
  feedback(runId: string): RunFeedback | null;
  /** Highest `runs.sequence`; 0 without runs. */
  lastRun(): number;
  /** Names of the things that a run refers to by id; null if they have no name or were deleted. */
  readonly names: {
    caller(id: string): string | null;
    prompt(id: string): string | null;
    promptVersion(id: string): string | null;
    agent(id: string): string | null;
    dataspace(id: string): string | null;
  };
}

export function createExportRows(database: Database.Database): ExportRows {
  const queries = exportQueries(database);
  const feedback = database.prepare<[string], RunFeedback>(
    `SELECT score, score_text AS comment, score_tags AS tags FROM feedback JOIN runs ON runs.sequence = feedback.run WHERE runs.id = ?`,
  );
  return {
    runs: (conversation, lastRun) => queries.runs.all({ conversation, lastRun }),
    conversation: (id) => queries.conversation.first({ id: id.toLowerCase() })?.sequence ?? null,
    runSequences: (conversation) => queries.sequences.all({ conversation }).map(({ sequence }) => sequence),
    runIds: (sequences) => sequences.flatMap((sequence) => queries.runId.first({ sequence })?.id ?? []),
    feedback: (runId) => feedback.get(runId) ?? null,
    lastRun: () => queries.last.first({})?.sequence ?? 0,
    names: nameReaders(database),
  };
}

function nameReaders(database: Database.Database): ExportRows['names'] {
  const reader = (query: string) => {
    const statement = database.prepare<[string], string>(query).pluck();
    return (id: string): string | null => statement.get(id) ?? null;
  };
  return {
    caller: reader(
      `WITH asked (caller) AS (VALUES (?))
       SELECT name FROM asked JOIN api_keys ON caller_id = caller
       UNION ALL
       SELECT 'Touchstone window' FROM asked JOIN facts ON value = caller WHERE name = 'window_caller_id'
       LIMIT 1`,
    ),
    prompt: reader('SELECT name FROM prompts WHERE id = ?'),
    promptVersion: reader("SELECT 'Version ' || number FROM prompt_versions WHERE id = ?"),
    agent: reader('SELECT name FROM agents WHERE id = ?'),
    dataspace: reader('SELECT name FROM dataspaces WHERE id = ?'),
  };
}

/** All feedback on the run, oldest first; `[]` without any. */
const feedbackHistory = sql<string>`(
  SELECT json_group_array(json_object('id', id, 'reviewer', reviewer, 'question', question, 'score', score, 'scoreTags', score_tags, 'note', score_text,
    'createdAt', created_at, 'rubricItemId', rubric_item_id, 'value', json(value_json)) ORDER BY sequence)
  FROM feedback_history WHERE run = runs.sequence)`;

function exportQueries(database: Database.Database) {
  return {
    runs: prepareQuery(database, (tables, input: { conversation: number; lastRun: number }) =>
      tables
        .selectFrom('runs')
        .innerJoin('run_texts', 'run_texts.run', 'runs.sequence')
        .innerJoin('conversations', 'conversations.sequence', 'runs.conversation')
        .leftJoin('feedback', 'feedback.run', 'runs.sequence')
        .leftJoin('import_batches', 'import_batches.sequence', 'runs.import_batch')
        .leftJoin('agent_runs', 'agent_runs.run_id', 'runs.id')
        .selectAll('runs')
        .select(runTextColumns)
        .select([
          sql.raw<string | null>(wholeMessages).as('messages_json'),
          'conversations.id as conversation_id',
          'conversations.name as conversation_name',
          'conversations.workspace_id',
          // Null for runs that no agent made.
          'agent_runs.agent_id',
          'import_batches.id as import_id',
          'feedback.score',
          'feedback.score_text',
          'feedback.score_tags',
          'feedback.updated_at as feedback_at',
          feedbackHistory.as('feedback_history_json'),
        ])
        .where('runs.conversation', '=', input.conversation)
        .where('runs.sequence', '<=', input.lastRun)
        .orderBy('runs.sequence'),
    ),
    conversation: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('conversations').select('sequence').where('id', '=', input.id),
    ),
    sequences: prepareQuery(database, (tables, input: { conversation: number }) =>
      tables.selectFrom('runs').select('sequence').where('conversation', '=', input.conversation).orderBy('sequence'),
    ),
    runId: prepareQuery(database, (tables, input: { sequence: number }) =>
      tables.selectFrom('runs').select('id').where('sequence', '=', input.sequence),
    ),
    last: prepareQuery(database, (tables) =>
      tables.selectFrom('runs').select('sequence').orderBy('sequence', 'desc').limit(1),
    ),
  };
}
