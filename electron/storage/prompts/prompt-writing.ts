import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { PromptChange, PromptVersion } from '../../../shared/contract/prompts.ts';
import type { PromptDetails, VersionContent } from '../../../shared/prompt-content.ts';
import type { promptQueries } from './prompt-queries.ts';
import { promptOf, versionRow, type ListedPromptRow } from './prompt-rows.ts';
import type { PromptSearch } from './prompt-search.ts';
import type { PromptStore } from './prompt-store.ts';

interface PromptWritingOptions {
  readonly queries: ReturnType<typeof promptQueries>;
  readonly search: PromptSearch;
  /** Throws `not_found`. */
  required(id: string): ListedPromptRow;
  findVersion(versionId: string): PromptVersion | null;
}

function changedRow(row: ListedPromptRow, change: PromptChange): ListedPromptRow {
  return {
    ...row,
    name: change.name ?? row.name,
    folder: change.folder === undefined ? row.folder : change.folder,
    tags_json: change.tags === undefined ? row.tags_json : JSON.stringify(change.tags),
    description: change.description === undefined ? row.description : change.description,
    updated_at: Date.now(),
  };
}

/** What changes prompts. Rows and the words that find them change in one transaction. */
export function createPromptWriting(
  database: Database.Database,
  { queries, search, required, findVersion }: PromptWritingOptions,
): Pick<PromptStore, 'create' | 'createAll' | 'update' | 'remove' | 'addVersion'> {
  const create = database.transaction((prompt: PromptDetails, version: VersionContent): string => {
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
    const row = queries.find.first({ id })!;
    const place = { prompt: row.sequence, number: 1 };
    queries.insertVersion.run(versionRow(version, { ...place, id: versionId, created_at: now }));
    search.writePrompt(row, []);
    search.addVersion(place, version, null);
    return id;
  });

  const createAll = database.transaction((prompts: Parameters<PromptStore['createAll']>[0]): string[] =>
    prompts.map(({ prompt, version }) => create(prompt, version)),
  );

  const addVersion = database.transaction((promptId: string, version: VersionContent): string => {
    const { sequence: prompt, id, latest_version_id: latestId, latest_number: latestNumber } = required(promptId);
    const [versionId, now] = [randomUUID(), Date.now()];
    const place = { prompt, number: latestNumber + 1 };
    queries.insertVersion.run(versionRow(version, { ...place, id: versionId, created_at: now }));
    queries.setLatest.run({ id, latest_version_id: versionId, updated_at: now });
    search.addVersion(place, version, findVersion(latestId));
    return versionId;
  });

  const update = database.transaction((id: string, change: PromptChange): void => {
    const row = changedRow(required(id), change);
    queries.change.run(row);
    search.writePrompt(
      row,
      promptOf(row).labels.map(({ label }) => label),
    );
  });

  const remove = database.transaction((id: string): void => {
    const row = required(id);
    queries.remove.run({ id: row.id, deleted_at: Date.now() });
    search.removePrompt(row.sequence);
  });

  return {
    // What was written is read again: the answer shows what is kept, to the last character.
    create: (prompt, version) => promptOf(required(create.immediate(prompt, version))),
    createAll: (prompts) => createAll.immediate(prompts).map((id) => promptOf(required(id))),
    update(id, change) {
      update.immediate(id, change);
      return promptOf(required(id));
    },
    remove: remove.immediate,
    addVersion: (id, version) => findVersion(addVersion.immediate(id, version))!,
  };
}
