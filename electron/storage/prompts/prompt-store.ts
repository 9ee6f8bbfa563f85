import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AppError, invalidField } from '../../../shared/app-error.ts';
import type {
  PromptLabel,
  PromptLabelChange,
  PromptLabelInput,
  PromptVersionUsage,
} from '../../../shared/contract/prompt-library.ts';
import type { Prompt, PromptChange, PromptVersion } from '../../../shared/contract/prompts.ts';
import type { PromptDetails, VersionContent } from '../../../shared/prompt-content.ts';
import { createContinuationTokens } from '../continuation-token.ts';
import { listPage, type ListPage, type ListQuery } from '../list-page.ts';
import { createLabelStore } from './label-store.ts';
import {
  createPromptReading,
  createPromptSearch,
  type FolderCount,
  type PromptFilter,
  type PromptSearch,
  type TagCount,
} from './prompt-search.ts';
import { type ListedPromptRow, promptOf, promptQueries, versionOf, versionRow } from './prompt-rows.ts';
import { createUsageStore } from './prompt-usage.ts';
import type Database from 'better-sqlite3';

interface PromptWritingOptions {
  readonly queries: ReturnType<typeof promptQueries>;
  readonly search: PromptSearch;
  /** Throws `not_found`. */
  required(id: string): ListedPromptRow;
  findVersion(versionId: string): PromptVersion | null;
}

function newRow(prompt: PromptDetails, { id, versionId, now }: { id: string; versionId: string; now: number }) {
  return {
    id,
    name: prompt.name,
    folder: prompt.folder,
    tags_json: JSON.stringify(prompt.tags),
    description: prompt.description,
    latest_version_id: versionId,
    created_at: now,
    updated_at: now,
  };
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

/** The methods that change prompts. Rows and their search index change in one transaction. */
export function createPromptWriting(
  database: Database.Database,
  { queries, search, required, findVersion }: PromptWritingOptions,
): Pick<PromptStore, 'create' | 'createAll' | 'update' | 'remove' | 'addVersion'> {
  const create = database.transaction((prompt: PromptDetails, version: VersionContent): string => {
    const [id, versionId, now] = [randomUUID(), randomUUID(), Date.now()];
    queries.insert.run(newRow(prompt, { id, versionId, now }));
    const row = queries.find.first({ id })!;
    const position = { prompt: row.sequence, number: 1 };
    queries.insertVersion.run(versionRow(version, { ...position, id: versionId, created_at: now }));
    search.writePrompt(row, []);
    search.addVersion(position, version, null);
    return id;
  });

  const createAll = database.transaction((prompts: Parameters<PromptStore['createAll']>[0]): string[] =>
    prompts.map(({ prompt, version }) => create(prompt, version)),
  );

  const addVersion = database.transaction((promptId: string, version: VersionContent): string => {
    const { sequence: prompt, id, latest_version_id: latestId, latest_number: latestNumber } = required(promptId);
    const [versionId, now] = [randomUUID(), Date.now()];
    const position = { prompt, number: latestNumber + 1 };
    queries.insertVersion.run(versionRow(version, { ...position, id: versionId, created_at: now }));
    queries.setLatest.run({ id, latest_version_id: versionId, updated_at: now });
    search.addVersion(position, version, findVersion(latestId));
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
    // Reads the row again, so that the response shows exactly what is stored.
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

/** Prompts and their versions. A deleted prompt is `not_found`, except in `findVersion`. */
export interface PromptStore {
  /** Newest first, like the versions. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery & { readonly filter?: PromptFilter }): ListPage<Prompt>;
  /** The number of prompts in each folder, by its spelling, and of each tag. */
  counts(): { readonly folders: FolderCount[]; readonly tags: TagCount[] };
  create(prompt: PromptDetails, version: VersionContent): Prompt;
  /** Creates all of them or none. */
  createAll(prompts: readonly { readonly prompt: PromptDetails; readonly version: VersionContent }[]): Prompt[];
  /** Throws `not_found`. */
  read(id: string): Prompt;
  /** Throws `not_found`. */
  update(id: string, change: PromptChange): Prompt;
  /** Throws `not_found`; the versions stay. */
  remove(id: string): void;
  /** Throws `not_found`. */
  listVersions(id: string, query: ListQuery): ListPage<PromptVersion>;
  /** Throws `not_found`. */
  addVersion(id: string, version: VersionContent): PromptVersion;
  /** Any version, also of a deleted prompt; null for an unknown id. */
  findVersion(versionId: string): PromptVersion | null;
  /** Throws `not_found`. */
  readLabel(id: string, label: string): PromptLabel;
  /** Throws `not_found`, `invalid_request` for a version of another prompt, and `conflict` if the label was moved meanwhile. */
  setLabel(id: string, label: string, input: PromptLabelInput): PromptLabel;
  /** Throws `not_found`. */
  removeLabel(id: string, label: string): void;
  /** Newest first. Throws `not_found`. */
  listLabelChanges(id: string, query: ListQuery): ListPage<PromptLabelChange>;
  /** By version, newest first. Throws `not_found`. */
  listUsage(id: string, query: ListQuery): ListPage<PromptVersionUsage>;
}

const everything: PromptFilter = { search: null, isOnlyDetails: false, folder: null, tags: [] };

const unknownLabel = (label: string) => new AppError('not_found', `This prompt has no label ${label}.`);

interface PromptLabelsOptions extends Pick<PromptWritingOptions, 'queries' | 'search' | 'required'> {
  readonly tokenSecret: string;
}

/** The labels of prompts. A label and the search index change in one transaction. */
function createPromptLabels(
  database: Database.Database,
  { queries, search, required, tokenSecret }: PromptLabelsOptions,
): Pick<PromptStore, 'readLabel' | 'setLabel' | 'removeLabel' | 'listLabelChanges'> {
  const labels = createLabelStore(database, tokenSecret);

  function requiredLabel(prompt: number, label: string): PromptLabel {
    const found = labels.find(prompt, label);
    if (found === null) throw unknownLabel(label);
    return found;
  }

  const setLabel = database.transaction((id: string, label: string, input: PromptLabelInput): PromptLabel => {
    const prompt = required(id);
    const version = queries.findVersion.first({ id: input.promptVersionId.toLowerCase() });
    if (version?.prompt !== prompt.sequence)
      throw invalidField(
        'promptVersionId',
        'is not a version of this prompt',
        'promptVersionId is not a version of this prompt.',
      );
    labels.set(prompt.sequence, label, version, input.previousVersionId);
    search.writePrompt(prompt, labels.names(prompt.sequence));
    return requiredLabel(prompt.sequence, label);
  });

  const removeLabel = database.transaction((id: string, label: string): void => {
    const prompt = required(id);
    if (!labels.remove(prompt.sequence, label)) throw unknownLabel(label);
    search.writePrompt(prompt, labels.names(prompt.sequence));
  });

  return {
    readLabel: (id, label) => requiredLabel(required(id).sequence, label),
    setLabel: setLabel.immediate,
    removeLabel: removeLabel.immediate,
    listLabelChanges: (id, query) => labels.changes(required(id).sequence, query),
  };
}

export function createPromptStore(database: Database.Database, tokenSecret: string): PromptStore {
  const queries = promptQueries(database);
  const promptTokens = createContinuationTokens(tokenSecret, 'prompts', z.int());
  const versionTokens = createContinuationTokens(tokenSecret, 'prompt-versions', z.int());
  const search = createPromptSearch(database);
  const reading = createPromptReading(database, search);
  const usage = createUsageStore(database, tokenSecret);

  function required(id: string): ListedPromptRow {
    const row = reading.find(id);
    if (!row) throw new AppError('not_found', 'No prompt has this ID.');
    return row;
  }

  function findVersion(versionId: string): PromptVersion | null {
    const row = queries.findVersion.first({ id: versionId.toLowerCase() });
    return row === undefined ? null : versionOf(row);
  }

  return {
    ...createPromptWriting(database, { queries, search, required, findVersion }),
    ...createPromptLabels(database, { queries, search, required, tokenSecret }),
    list: ({ filter = everything, ...query }) =>
      listPage(query, {
        tokens: promptTokens,
        filter,
        rows: (before, limit) => reading.page(filter, before, limit),
        positionOf: ({ sequence }) => sequence,
        toItem: promptOf,
      }),
    counts: () => ({ folders: reading.folders(), tags: reading.tags() }),
    read: (id) => promptOf(required(id)),
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
    findVersion,
    listUsage: (id, query) => usage.list(required(id).sequence, query),
  };
}
