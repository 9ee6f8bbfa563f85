import type Database from 'better-sqlite3';
import { prepareQuery, valuesOf } from '../queries.ts';
import type { PromptRow } from '../schema.ts';
import type { NewVersionRow } from './prompt-rows.ts';

const insertedColumns = [
  'id',
  'name',
  'folder',
  'tags_json',
  'description',
  'latest_version_id',
  'created_at',
  'updated_at',
] as const satisfies (keyof PromptRow)[];

const changedColumns = [
  'name',
  'folder',
  'tags_json',
  'description',
  'updated_at',
] as const satisfies (keyof PromptRow)[];

const versionColumns = [
  'id',
  'prompt',
  'number',
  'prompt_text',
  'system_message',
  'ai_system',
  'model',
  'configuration_json',
  'variables_json',
  'note',
  'created_at',
] as const satisfies (keyof NewVersionRow)[];

type InsertedPrompt = Pick<PromptRow, (typeof insertedColumns)[number]>;
type ChangedPrompt = Pick<PromptRow, 'id' | (typeof changedColumns)[number]>;

export function promptQueries(database: Database.Database) {
  return { ...keptPromptQueries(database), ...versionQueries(database) };
}

function keptPromptQueries(database: Database.Database) {
  return {
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('prompts').selectAll().where('id', '=', input.id).where('deleted_at', 'is', null),
    ),
    insert: prepareQuery(database, (tables, input: InsertedPrompt) =>
      tables.insertInto('prompts').values(valuesOf(input, insertedColumns)),
    ),
    change: prepareQuery(database, (tables, input: ChangedPrompt) =>
      tables.updateTable('prompts').set(valuesOf(input, changedColumns)).where('id', '=', input.id),
    ),
    setLatest: prepareQuery(database, (tables, input: Pick<PromptRow, 'id' | 'latest_version_id' | 'updated_at'>) =>
      tables
        .updateTable('prompts')
        .set(valuesOf(input, ['latest_version_id', 'updated_at']))
        .where('id', '=', input.id),
    ),
    remove: prepareQuery(database, (tables, input: { id: string; deleted_at: number }) =>
      tables.updateTable('prompts').set({ deleted_at: input.deleted_at }).where('id', '=', input.id),
    ),
  };
}

function versionQueries(database: Database.Database) {
  return {
    insertVersion: prepareQuery(database, (tables, input: NewVersionRow) =>
      tables.insertInto('prompt_versions').values(valuesOf(input, versionColumns)),
    ),
    /** By number, which has an index for each prompt; `before` is a number too. */
    versionPage: prepareQuery(database, (tables, input: { prompt: number; before: number; limit: number }) =>
      tables
        .selectFrom('prompt_versions')
        .innerJoin('prompts', 'prompts.sequence', 'prompt_versions.prompt')
        .selectAll('prompt_versions')
        .select('prompts.id as prompt_id')
        .where('prompt_versions.prompt', '=', input.prompt)
        .where('prompt_versions.number', '<', input.before)
        .orderBy('prompt_versions.number', 'desc')
        .limit(input.limit),
    ),
    findVersion: prepareQuery(database, (tables, input: { id: string }) =>
      tables
        .selectFrom('prompt_versions')
        .innerJoin('prompts', 'prompts.sequence', 'prompt_versions.prompt')
        .selectAll('prompt_versions')
        .select('prompts.id as prompt_id')
        .where('prompt_versions.id', '=', input.id),
    ),
  };
}
