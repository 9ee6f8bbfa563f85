import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { Agent } from '../../../shared/contract/agents.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import { type ListPage, type ListQuery, newestList, rowsOf } from '../list-page.ts';
import { prepareQuery, valuesOf } from '../queries.ts';
import type { AgentRow } from '../schema.ts';

/** The fields of an agent that can change. */
export type AgentFields = Omit<Agent, 'id' | 'createdAt'>;

/** `read`, `update` and `remove` throw `not_found`. */
export interface AgentStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<Agent>;
  create(fields: AgentFields): Agent;
  read(id: string): Agent;
  update(id: string, fields: AgentFields): Agent;
  remove(id: string): void;
}

function agentOf(row: AgentRow): Agent {
  return {
    id: row.id,
    name: row.name,
    aiSystem: row.ai_system as AiSystem,
    model: row.model,
    prompt: row.prompt,
    configuration:
      row.configuration_json === null ? null : (JSON.parse(row.configuration_json) as Agent['configuration']),
    dataspaceIds: row.dataspace_ids_json === null ? null : (JSON.parse(row.dataspace_ids_json) as string[]),
    promptId: row.prompt_id,
    promptVersionId: row.prompt_version_id,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

const changeableColumns = [
  'name',
  'ai_system',
  'model',
  'prompt',
  'configuration_json',
  'dataspace_ids_json',
  'prompt_id',
  'prompt_version_id',
] as const;

function columnsOf(fields: AgentFields): Pick<AgentRow, (typeof changeableColumns)[number]> {
  return {
    name: fields.name,
    ai_system: fields.aiSystem,
    model: fields.model,
    prompt: fields.prompt,
    configuration_json: fields.configuration === null ? null : JSON.stringify(fields.configuration),
    dataspace_ids_json: fields.dataspaceIds === null ? null : JSON.stringify(fields.dataspaceIds),
    prompt_id: fields.promptId,
    prompt_version_id: fields.promptVersionId,
  };
}

export function createAgentStore(database: Database.Database, tokenSecret: string): AgentStore {
  const queries = agentQueries(database);

  function required(id: string): AgentRow {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', 'No agent has this ID.');
    return row;
  }

  return {
    list: newestList({ tokenSecret, name: 'agents', rows: rowsOf<AgentRow>(database, 'agents'), toItem: agentOf }),
    create(fields) {
      const id = randomUUID();
      queries.insert.run({ ...columnsOf(fields), id, created_at: Date.now() });
      return agentOf(required(id));
    },
    read: (id) => agentOf(required(id)),
    update(id, fields) {
      queries.change.run({ ...columnsOf(fields), id: required(id).id });
      return agentOf(required(id));
    },
    remove(id) {
      queries.remove.run({ id: required(id).id });
    },
  };
}

function agentQueries(database: Database.Database) {
  return {
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('agents').selectAll().where('id', '=', input.id),
    ),
    insert: prepareQuery(database, (tables, input: Omit<AgentRow, 'sequence'>) =>
      tables.insertInto('agents').values(valuesOf(input, ['id', ...changeableColumns, 'created_at'])),
    ),
    change: prepareQuery(database, (tables, input: Omit<AgentRow, 'sequence' | 'created_at'>) =>
      tables
        .updateTable('agents')
        .set(valuesOf(input, [...changeableColumns]))
        .where('id', '=', input.id),
    ),
    remove: prepareQuery(database, (tables, input: { id: string }) =>
      tables.deleteFrom('agents').where('id', '=', input.id),
    ),
  };
}
