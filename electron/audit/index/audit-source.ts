import type Database from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { plainNumber, prepareQuery } from '../../storage/queries.ts';
import type { Schema } from '../../storage/schema.ts';
import type { IndexedRun } from './terms.ts';

const indexedColumns = [
  'runs.sequence',
  'runs.id',
  'runs.conversation',
  'runs.caller_id',
  'runs.prompt_id',
  'runs.prompt_version_id',
  'runs.ai_system',
  'runs.model',
  'runs.status',
  'runs.created_at',
  'runs.completed_at',
  'runs.first_token_ms',
  'runs.total_ms',
  'runs.prompt_tokens',
  'runs.completion_tokens',
  'runs.total_tokens',
  'runs.cost',
  'runs.finish_reason',
  'runs.error_code',
  'runs.app_headers_json',
  'runs.moderation_flags',
  'runs.origin_api',
  'runs.origin_client',
  'runs.import_batch',
  'conversations.workspace_id',
] as const;

const textColumns = ['run', 'system_message', 'rendered_prompt', 'content', 'tool_calls_json', 'runs.status'] as const;

export interface SourceText {
  readonly run: number;
  readonly system_message: string | null;
  readonly rendered_prompt: string;
  readonly content: string;
  readonly tool_calls_json: string | null;
  readonly status: string;
}

export type AuditSource = ReturnType<typeof createAuditSource>;

/** The runs as the index reads them. `database` may be read-only. */
export function createAuditSource(database: Database.Database) {
  const queries = sourceQueries(database);
  const lastRemovedRun = database.prepare<[], number>('SELECT last_run FROM removed_runs').pluck();
  return {
    /** In the order of their sequence. */
    runs: (first: number, last: number, limit: number): IndexedRun[] => queries.runs.all({ first, last, limit }),
    run: (sequence: number): IndexedRun | null => queries.run.first({ sequence }) ?? null,
    texts: (first: number, last: number, limit: number): SourceText[] => queries.texts.all({ first, last, limit }),
    text: (sequence: number): SourceText | null => queries.text.first({ sequence }) ?? null,
    lastRun: () => queries.lastRun.first({})?.sequence ?? 0,
    /** The highest removed sequence; 0 for none. */
    lastRemovedRun: () => lastRemovedRun.get() ?? 0,
    /** Whether a run was changed, or removed, after a revision. */
    hasChanged: (run: number, after: number) => queries.changeOf.first({ run, after }) !== undefined,
    runId: (sequence: number) => queries.runId.first({ sequence })?.id ?? null,
    findRun: (id: string) => queries.findRun.first({ id }) ?? null,
    runsOfAgent: (agentId: string) => queries.runsOfAgent.all({ agentId }).map(({ sequence }) => sequence),
    findConversation: (id: string) => queries.findConversation.first({ id })?.sequence ?? null,
    findImport: (id: string) => queries.findImport.first({ id })?.sequence ?? null,
    conversationId: (sequence: number) => queries.conversationId.first({ sequence })!.id,
    lastRevision: () => queries.lastRevision.first({})?.revision ?? 0,
    changes: (after: number) => queries.changes.all({ after }),
    feedback: () => queries.feedback.all({}),
    feedbackOf: (run: number) => queries.feedbackOf.first({ run }) ?? null,
  };
}

function sourceQueries(database: Database.Database) {
  return {
    ...runQueries(database),
    lastRun: prepareQuery(database, (tables) =>
      tables.selectFrom('runs').select((expression) => expression.fn.max('sequence').as('sequence')),
    ),
    runId: prepareQuery(database, (tables, input: { sequence: number }) =>
      tables.selectFrom('runs').select('id').where('sequence', '=', input.sequence),
    ),
    findRun: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('runs').select(['sequence', 'prompt_id']).where('id', '=', input.id),
    ),
    runsOfAgent: prepareQuery(database, (tables, input: { agentId: string }) =>
      tables
        .selectFrom('agent_runs')
        .innerJoin('runs', 'runs.id', 'agent_runs.run_id')
        .select('runs.sequence')
        .where('agent_id', '=', input.agentId),
    ),
    findConversation: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('conversations').select('sequence').where('id', '=', input.id),
    ),
    findImport: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('import_batches').select('sequence').where('id', '=', input.id),
    ),
    conversationId: prepareQuery(database, (tables, input: { sequence: number }) =>
      tables.selectFrom('conversations').select('id').where('sequence', '=', input.sequence),
    ),
    lastRevision: prepareQuery(database, (tables) =>
      tables.selectFrom('run_changes').select((expression) => expression.fn.max('revision').as('revision')),
    ),
    changes: prepareQuery(database, (tables, input: { after: number }) =>
      tables
        .selectFrom('run_changes')
        .selectAll()
        .where('revision', '>', input.after)
        .orderBy('revision')
        .limit(10_000),
    ),
    changeOf: prepareQuery(database, (tables, input: { run: number; after: number }) =>
      tables
        .selectFrom('run_changes')
        .select('revision')
        .where('revision', '>', input.after)
        .where('run', '=', input.run)
        .where('kind', '=', 'run')
        .limit(1),
    ),
    feedback: prepareQuery(database, (tables) => tables.selectFrom('feedback').selectAll()),
    feedbackOf: prepareQuery(database, (tables, input: { run: number }) =>
      tables.selectFrom('feedback').selectAll().where('run', '=', input.run),
    ),
  };
}

function runQueries(database: Database.Database) {
  const runs = (tables: Kysely<Schema>) =>
    tables
      .selectFrom('runs')
      .innerJoin('conversations', 'conversations.sequence', 'runs.conversation')
      .select(indexedColumns);
  const texts = (tables: Kysely<Schema>) =>
    tables.selectFrom('run_texts').innerJoin('runs', 'runs.sequence', 'run_texts.run').select(textColumns);
  return {
    runs: prepareQuery(database, (tables, input: { first: number; last: number; limit: number }) =>
      runs(tables)
        .where('runs.sequence', '>=', input.first)
        .where('runs.sequence', '<=', input.last)
        .orderBy('runs.sequence')
        .limit(input.limit),
    ),
    run: prepareQuery(database, (tables, input: { sequence: number }) =>
      runs(tables).where('runs.sequence', '=', plainNumber(input.sequence)),
    ),
    texts: prepareQuery(database, (tables, input: { first: number; last: number; limit: number }) =>
      texts(tables).where('run', '>=', input.first).where('run', '<=', input.last).orderBy('run').limit(input.limit),
    ),
    text: prepareQuery(database, (tables, input: { sequence: number }) =>
      texts(tables).where('run', '=', plainNumber(input.sequence)),
    ),
  };
}
