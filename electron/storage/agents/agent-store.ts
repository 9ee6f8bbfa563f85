import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { Agent } from '../../../shared/contract/agents.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import type { ListPage, ListQuery } from '../list-page.ts';
import { newestList, rowsOf } from '../newest-list.ts';
import { prepareQuery, valuesOf } from '../queries.ts';
import type { AgentRow } from '../schema.ts';

/** What an agent is made of. */
export type AgentFields = Pick<Agent, 'name' | 'aiSystem' | 'model' | 'prompt'>;

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
    createdAt: new Date(row.created_at).toISOString(),
  };
}

function columnsOf(fields: AgentFields): Pick<AgentRow, 'name' | 'ai_system' | 'model' | 'prompt'> {
  return { name: fields.name, ai_system: fields.aiSystem, model: fields.model, prompt: fields.prompt };
}

export function createAgentStore(database: Database.Database, tokenSecret: string): AgentStore {
  const queries = agentQueries(database);

  function required(id: string): AgentRow {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', 'There is no agent with this id.');
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
      tables.insertInto('agents').values(valuesOf(input, ['id', 'name', 'ai_system', 'model', 'prompt', 'created_at'])),
    ),
    change: prepareQuery(database, (tables, input: Omit<AgentRow, 'sequence' | 'created_at'>) =>
      tables
        .updateTable('agents')
        .set(valuesOf(input, ['name', 'ai_system', 'model', 'prompt']))
        .where('id', '=', input.id),
    ),
    remove: prepareQuery(database, (tables, input: { id: string }) =>
      tables.deleteFrom('agents').where('id', '=', input.id),
    ),
  };
}
