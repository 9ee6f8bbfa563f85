import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { z } from 'zod';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { searchWords } from '../../shared/contract/prompts.ts';
import type { Tool, ToolInput, ToolUse, ToolVersion } from '../../shared/contract/tool-library.ts';
import type { ToolMock } from '../../shared/contract/tools.ts';
import { createContinuationTokens } from './continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from './list-page.ts';

/** Tools of the library. Everything but `list` and `create` throws `not_found` for an unknown tool. */
export interface ToolStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery & { readonly search: string | null }): ListPage<Tool>;
  /** Throws `invalid_request` for a name that another tool has, as `addVersion` does. */
  create(input: ToolInput): Tool;
  read(id: string): Tool;
  remove(id: string): void;
  /** Newest first. */
  listVersions(id: string, query: ListQuery): ListPage<ToolVersion>;
  addVersion(id: string, input: ToolInput): ToolVersion;
  /** Throws `not_found` for a version of another tool, too. */
  readVersion(id: string, versionId: string): ToolVersion;
  /** The prompt versions and agents with a function of its names, newest first. */
  listUses(id: string, query: ListQuery): ListPage<ToolUse>;
}

interface ToolRow {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly mock_kind: Tool['mockKind'];
  readonly latest_version_id: string;
  readonly number: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface VersionRow {
  readonly id: string;
  readonly tool_id: string;
  readonly number: number;
  readonly name: string;
  readonly description: string | null;
  readonly parameters_json: string;
  readonly strict: number | null;
  readonly mock_json: string | null;
  readonly note: string | null;
  readonly created_at: number;
}

interface UseRow {
  readonly sequence: number;
  readonly prompt_id: string | null;
  readonly prompt_name: string | null;
  readonly latest_version_id: string | null;
  readonly version_id: string | null;
  readonly number: number | null;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
}

function useOf(row: UseRow): ToolUse {
  if (row.agent_id !== null) return { kind: 'agent', id: row.agent_id, name: row.agent_name! };
  return {
    kind: 'prompt',
    id: row.prompt_id!,
    name: row.prompt_name!,
    versionId: row.version_id!,
    versionNumber: row.number!,
    isLatest: row.version_id === row.latest_version_id,
  };
}

function toolOf(row: ToolRow): Tool {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    mockKind: row.mock_kind,
    latestVersionId: row.latest_version_id,
    latestVersionNumber: row.number,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

function versionOf(row: VersionRow): ToolVersion {
  return {
    id: row.id,
    toolId: row.tool_id,
    number: row.number,
    name: row.name,
    description: row.description,
    parameters: JSON.parse(row.parameters_json) as Record<string, unknown>,
    strict: row.strict === null ? null : row.strict === 1,
    mock: row.mock_json === null ? null : (JSON.parse(row.mock_json) as ToolMock),
    note: row.note,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

/** A text without case and accents. */
function fold(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

const toolColumns = `tools.sequence, tools.id, tools.name, description, mock_kind, latest_version_id, number, tools.created_at, updated_at
  FROM tools JOIN tool_versions ON tool_versions.id = latest_version_id`;

const versionColumns = `tool_versions.id, tools.id AS tool_id, number, tool_versions.name, description, parameters_json, strict, mock_json,
  note, tool_versions.created_at FROM tool_versions JOIN tools ON tools.sequence = tool`;

function toolStatements(database: Database.Database) {
  return {
    /** `words` is a JSON list. */
    page: database.prepare<{ words: string; before: number; limit: number }, ToolRow>(
      `SELECT ${toolColumns} WHERE tools.sequence < @before
         AND NOT EXISTS (SELECT 1 FROM json_each(@words) WHERE instr(search_text, value) = 0)
       ORDER BY tools.sequence DESC LIMIT @limit`,
    ),
    find: database.prepare<[id: string], ToolRow>(`SELECT ${toolColumns} WHERE tools.id = ?`),
    findName: database.prepare<[name: string], string>('SELECT id FROM tools WHERE name = ?').pluck(),
    insert: database.prepare<[id: string, name: string, search: string, version: string, at: number, at: number]>(
      'INSERT INTO tools (id, name, search_text, latest_version_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    update: database.prepare<[name: string, search: string, version: string, at: number, sequence: number]>(
      'UPDATE tools SET name = ?, search_text = ?, latest_version_id = ?, updated_at = ? WHERE sequence = ?',
    ),
    remove: database.prepare<[sequence: number]>('DELETE FROM tools WHERE sequence = ?'),
    removeVersions: database.prepare<[tool: number]>('DELETE FROM tool_versions WHERE tool = ?'),
    insertVersion: database.prepare<[VersionRow & { tool: number | bigint; mock_kind: string | null }]>(
      `INSERT INTO tool_versions
         (id, tool, number, name, description, parameters_json, strict, mock_kind, mock_json, note, created_at)
       VALUES
         (@id, @tool, @number, @name, @description, @parameters_json, @strict, @mock_kind, @mock_json, @note, @created_at)`,
    ),
    versionPage: database.prepare<[tool: number, before: number, limit: number], VersionRow>(
      `SELECT ${versionColumns} WHERE tool = ? AND number < ? ORDER BY number DESC LIMIT ?`,
    ),
    usePage: database.prepare<{ tool: number; before: number; limit: number }, UseRow>(
      // One row for a version or an agent with several functions of the tool's names.
      `WITH uses AS (
         SELECT max(sequence) AS sequence, prompt_version, agent FROM tool_uses WHERE name IN (
           SELECT name FROM tool_versions WHERE tool = @tool EXCEPT SELECT name FROM tools WHERE sequence <> @tool)
         GROUP BY prompt_version, agent HAVING max(sequence) < @before)
       SELECT uses.sequence, prompts.id AS prompt_id, prompts.name AS prompt_name, prompts.latest_version_id,
         prompt_versions.id AS version_id, number, agents.id AS agent_id, agents.name AS agent_name
       FROM uses LEFT JOIN prompt_versions ON prompt_versions.sequence = prompt_version
         LEFT JOIN prompts ON prompts.sequence = prompt_versions.prompt AND deleted_at IS NULL
         LEFT JOIN agents ON agents.sequence = agent
       WHERE prompts.id IS NOT NULL OR agents.id IS NOT NULL
       ORDER BY uses.sequence DESC LIMIT @limit`,
    ),
    findVersion: database.prepare<[id: string], VersionRow>(`SELECT ${versionColumns} WHERE tool_versions.id = ?`),
  };
}

function versionRow(input: ToolInput, toolId: string, number: number) {
  const { name, description, parameters, strict, mock, note } = input;
  return {
    id: randomUUID(),
    tool_id: toolId,
    number,
    name,
    description: description ?? null,
    parameters_json: JSON.stringify(parameters),
    strict: strict == null ? null : Number(strict),
    mock_kind: mock?.kind ?? null,
    mock_json: mock == null ? null : JSON.stringify(mock),
    note: note ?? null,
    created_at: Date.now(),
  };
}

const searchText = ({ name, description }: ToolInput) => fold(`${name}\n${description ?? ''}`);

function createToolReader(statements: ReturnType<typeof toolStatements>, tokenSecret: string) {
  const toolTokens = createContinuationTokens(tokenSecret, 'tools', z.int());
  const useTokens = createContinuationTokens(tokenSecret, 'tool-uses', z.int());
  const versionTokens = createContinuationTokens(tokenSecret, 'tool-versions', z.int());

  function required(id: string): ToolRow {
    const row = statements.find.get(id.toLowerCase());
    if (!row) throw new AppError('not_found', 'No tool has this ID.');
    return row;
  }

  const reader: Pick<ToolStore, 'list' | 'read' | 'listVersions' | 'readVersion' | 'listUses'> = {
    list: ({ search, ...query }) =>
      listPage(query, {
        tokens: toolTokens,
        filter: { search },
        rows: (before, limit) => {
          const words = JSON.stringify(searchWords(search ?? '').map(fold));
          return statements.page.all({ words, before, limit });
        },
        positionOf: ({ sequence }) => sequence,
        toItem: toolOf,
      }),
    read: (id) => toolOf(required(id)),
    listVersions(id, query) {
      const { sequence: tool } = required(id);
      return listPage(query, {
        tokens: versionTokens,
        filter: { tool },
        rows: (before, limit) => statements.versionPage.all(tool, before, limit),
        positionOf: ({ number }) => number,
        toItem: versionOf,
      });
    },
    listUses(id, query) {
      const { sequence: tool } = required(id);
      return listPage(query, {
        tokens: useTokens,
        filter: { tool },
        rows: (before, limit) => statements.usePage.all({ tool, before, limit }),
        positionOf: ({ sequence }) => sequence,
        toItem: useOf,
      });
    },
    readVersion(id, versionId) {
      const row = statements.findVersion.get(versionId.toLowerCase());
      if (row?.tool_id !== id.toLowerCase()) throw new AppError('not_found', 'This tool has no version with this ID.');
      return versionOf(row);
    },
  };
  return { ...reader, required };
}

export function createToolStore(database: Database.Database, tokenSecret: string): ToolStore {
  const statements = toolStatements(database);
  const { required, ...reader } = createToolReader(statements, tokenSecret);

  function requireUnusedName(name: string, ownId: string | null): void {
    const id = statements.findName.get(name);
    if (id !== undefined && id !== ownId)
      throw invalidField('name', 'is the name of another tool', `Another tool of the library has the name ${name}.`);
  }

  const create = database.transaction((input: ToolInput): Tool => {
    requireUnusedName(input.name, null);
    const id = randomUUID();
    const row = versionRow(input, id, 1);
    const { created_at: now } = row;
    const { lastInsertRowid } = statements.insert.run(id, input.name, searchText(input), row.id, now, now);
    statements.insertVersion.run({ ...row, tool: lastInsertRowid });
    return toolOf(required(id));
  });

  const addVersion = database.transaction((toolId: string, input: ToolInput): ToolVersion => {
    const { id, sequence, number } = required(toolId);
    requireUnusedName(input.name, id);
    const row = versionRow(input, id, number + 1);
    statements.insertVersion.run({ ...row, tool: sequence });
    statements.update.run(input.name, searchText(input), row.id, row.created_at, sequence);
    return versionOf(row);
  });

  const remove = database.transaction((id: string): void => {
    const { sequence } = required(id);
    statements.removeVersions.run(sequence);
    statements.remove.run(sequence);
  });

  return { ...reader, create: create.immediate, addVersion: addVersion.immediate, remove: remove.immediate };
}
