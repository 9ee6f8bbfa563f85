import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { z } from 'zod';
import { AppError } from '../../../shared/app-error.ts';
import type { Prompt, PromptChange, PromptVersion } from '../../../shared/contract/prompts.ts';
import { createContinuationTokens } from '../continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from '../list-page.ts';
import type { PromptRow } from '../schema.ts';
import { promptQueries } from './prompt-queries.ts';
import { promptOf, versionOf, versionRow } from './prompt-rows.ts';

/** A version before it has its place. */
export type NewPromptVersion = Omit<PromptVersion, 'id' | 'promptId' | 'number' | 'createdAt'>;
export type NewPrompt = Pick<Prompt, 'name' | 'folder' | 'tags' | 'description'>;

/** Prompts and their versions. A prompt that was deleted is `not_found` everywhere but in `findVersion`. */
export interface PromptStore {
  /** Newest first, as the versions. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<Prompt>;
  create(prompt: NewPrompt, version: NewPromptVersion): Prompt;
  /** All of them or none. */
  createAll(prompts: readonly { readonly prompt: NewPrompt; readonly version: NewPromptVersion }[]): Prompt[];
  /** Throws `not_found`. */
  read(id: string): Prompt;
  /** Throws `not_found`. */
  update(id: string, change: PromptChange): Prompt;
  /** Throws `not_found`; the versions stay. */
  remove(id: string): void;
  /** Throws `not_found`. */
  listVersions(id: string, query: ListQuery): ListPage<PromptVersion>;
  /** Throws `not_found`. */
  addVersion(id: string, version: NewPromptVersion): PromptVersion;
  /** Any version that ever was, null for an unknown id. */
  findVersion(versionId: string): PromptVersion | null;
}

export function createPromptStore(database: Database.Database, tokenSecret: string): PromptStore {
  const queries = promptQueries(database);
  const promptTokens = createContinuationTokens(tokenSecret, 'prompts', z.int());
  const versionTokens = createContinuationTokens(tokenSecret, 'prompt-versions', z.int());

  function required(id: string): PromptRow {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', 'There is no prompt with this id.');
    return row;
  }

  function findVersion(versionId: string): PromptVersion | null {
    const row = queries.findVersion.first({ id: versionId.toLowerCase() });
    return row === undefined ? null : versionOf(row);
  }

  const create = database.transaction((prompt: NewPrompt, version: NewPromptVersion): string => {
    const [id, versionId, now] = [randomUUID(), randomUUID(), Date.now()];
    queries.insert.run({
      id,
      name: prompt.name,
      folder: prompt.folder,
      tags_json: JSON.stringify(prompt.tags),
      description: prompt.description,
      latest_version_id: versionId,
      created_at: now,
      updated_at: now,
    });
    const { sequence } = required(id);
    queries.insertVersion.run(versionRow(version, { id: versionId, prompt: sequence, number: 1, created_at: now }));
    return id;
  });

  const createAll = database.transaction((prompts: Parameters<PromptStore['createAll']>[0]): string[] =>
    prompts.map(({ prompt, version }) => create(prompt, version)),
  );

  const addVersion = database.transaction((promptId: string, version: NewPromptVersion): string => {
    const { sequence: prompt, id } = required(promptId);
    const [versionId, now] = [randomUUID(), Date.now()];
    const number = (queries.lastNumber.first({ prompt })?.number ?? 0) + 1;
    queries.insertVersion.run(versionRow(version, { id: versionId, prompt, number, created_at: now }));
    queries.setLatest.run({ id, latest_version_id: versionId, updated_at: now });
    return versionId;
  });

  return {
    list: (query) =>
      listPage(query, {
        tokens: promptTokens,
        filter: {},
        rows: (before, limit) => queries.page.all({ before, limit }),
        positionOf: ({ sequence }) => sequence,
        toItem: promptOf,
      }),
    // What was written is read again: the answer shows what is kept, to the last character.
    create: (prompt, version) => promptOf(required(create.immediate(prompt, version))),
    createAll: (prompts) => createAll.immediate(prompts).map((id) => promptOf(required(id))),
    read: (id) => promptOf(required(id)),
    update(id, change) {
      const row = required(id);
      queries.change.run({
        id: row.id,
        name: change.name ?? row.name,
        folder: change.folder === undefined ? row.folder : change.folder,
        tags_json: change.tags === undefined ? row.tags_json : JSON.stringify(change.tags),
        description: change.description === undefined ? row.description : change.description,
        updated_at: Date.now(),
      });
      return promptOf(required(id));
    },
    remove(id) {
      queries.remove.run({ id: required(id).id, deleted_at: Date.now() });
    },
    listVersions(id, query) {
      const { sequence: prompt } = required(id);
      return listPage(query, {
        tokens: versionTokens,
        filter: { prompt },
        rows: (before, limit) => queries.versionPage.all({ prompt, before, limit }),
        positionOf: ({ number }) => number,
        toItem: versionOf,
      });
    },
    addVersion: (id, version) => findVersion(addVersion.immediate(id, version))!,
    findVersion,
  };
}
