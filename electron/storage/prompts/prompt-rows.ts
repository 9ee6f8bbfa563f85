import type { AiSystem } from '../../../shared/contract/common.ts';
import type { Prompt, PromptVariable, PromptVersion } from '../../../shared/contract/prompts.ts';
import type { VersionContent } from '../../../shared/prompt-content.ts';
import type { PromptRow, PromptVersionRow } from '../schema.ts';
import { prepareQuery, valuesOf } from '../queries.ts';
import type Database from 'better-sqlite3';

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
  return { ...storedPromptQueries(database), ...versionQueries(database) };
}

function storedPromptQueries(database: Database.Database) {
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
    /** By number, which is indexed per prompt. `before` is a number, too. */
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

/** A version's row with the id of its prompt. */
export type ListedVersionRow = PromptVersionRow & { readonly prompt_id: string };

/** A prompt's row with the fields of its newest version and its labels that lists show. */
export type ListedPromptRow = PromptRow & {
  readonly latest_number: number;
  readonly latest_ai_system: string | null;
  readonly latest_model: string | null;
  readonly labels_json: string;
};

export type NewVersionRow = Omit<PromptVersionRow, 'sequence'>;

export function promptOf(row: ListedPromptRow): Prompt {
  return {
    id: row.id,
    name: row.name,
    folder: row.folder,
    tags: JSON.parse(row.tags_json) as string[],
    description: row.description,
    latestVersionId: row.latest_version_id,
    latestVersion: {
      number: row.latest_number,
      aiSystem: row.latest_ai_system as AiSystem | null,
      model: row.latest_model,
    },
    labels: JSON.parse(row.labels_json) as Prompt['labels'],
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

export function versionOf(row: ListedVersionRow): PromptVersion {
  return {
    id: row.id,
    promptId: row.prompt_id,
    number: row.number,
    promptText: row.prompt_text,
    systemMessage: row.system_message,
    aiSystem: row.ai_system as AiSystem | null,
    model: row.model,
    configuration:
      row.configuration_json === null ? null : (JSON.parse(row.configuration_json) as Record<string, unknown>),
    variables: JSON.parse(row.variables_json) as PromptVariable[],
    note: row.note,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

export function versionRow(
  version: VersionContent,
  position: Pick<PromptVersionRow, 'id' | 'prompt' | 'number' | 'created_at'>,
): NewVersionRow {
  return {
    ...position,
    prompt_text: version.promptText,
    system_message: version.systemMessage,
    ai_system: version.aiSystem,
    model: version.model,
    configuration_json: version.configuration === null ? null : JSON.stringify(version.configuration),
    variables_json: JSON.stringify(version.variables),
    note: version.note,
  };
}
