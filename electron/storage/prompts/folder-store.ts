import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import type { Prompt } from '../../../shared/contract/prompts.ts';
import type { PromptDetails } from '../../../shared/prompt-content.ts';
import { prepareQuery, valuesOf } from '../queries.ts';
import type { PromptFileRow, PromptFolderRow } from '../schema.ts';

export interface StoredFolder {
  readonly id: string;
  /** The path on disk, with links resolved. */
  readonly path: string;
  /** The library's folder that it is linked with. */
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly linkedAt: number;
  readonly wasRead: boolean;
}

/** The state of a file and its prompt when they were last in sync. */
export interface StoredFile {
  /** Relative to the folder, separated by `/`. */
  readonly path: string;
  readonly promptId: string;
  /** SHA-256 of the bytes, and the version. Both are empty if they were never in sync. */
  readonly hash: string;
  readonly versionId: string;
  readonly details: PromptDetails;
}

export interface FolderStore {
  list(): StoredFolder[];
  /** Throws `conflict` if the folder is already linked. */
  add(path: string, folder: string): StoredFolder;
  /** Also removes the records of its files. */
  remove(id: string): void;
  markRead(id: string): void;
  files(id: string): StoredFile[];
  /** Replaces the record of this prompt's file. */
  setFile(id: string, file: StoredFile): void;
  removeFile(id: string, promptId: string): void;
  /** Prompts in a folder of the library, or below it, without a file in any linked folder. */
  promptsWithoutFile(folder: string): string[];
}

export const detailsOf = ({ name, folder, tags, description }: Prompt | PromptDetails): PromptDetails => ({
  name,
  folder,
  tags,
  description,
});

const folderOf = (row: PromptFolderRow): StoredFolder => ({
  id: row.id,
  path: row.path,
  folder: row.folder,
  linkedAt: row.linked_at,
  wasRead: row.first_read_at !== null,
});

const fileOf = (row: PromptFileRow): StoredFile => ({
  path: row.path,
  promptId: row.prompt_id,
  hash: row.hash,
  versionId: row.version_id,
  details: JSON.parse(row.details_json) as PromptDetails,
});

export function createFolderStore(database: Database.Database): FolderStore {
  const queries = folderQueries(database);
  const promptsWithoutFile = database
    .prepare<[{ folder: string }], string>(
      `SELECT id FROM prompts
       WHERE deleted_at IS NULL AND (folder = @folder OR substr(folder, 1, length(@folder) + 1) = @folder || '/')
         AND id NOT IN (SELECT prompt_id FROM prompt_files)
       ORDER BY sequence`,
    )
    .pluck();

  function required(id: string): PromptFolderRow {
    const row = queries.find.first({ id: id.toLowerCase() });
    if (!row) throw new AppError('not_found', "This folder isn't linked.");
    return row;
  }

  const setFile = database.transaction((id: string, file: StoredFile) => {
    const { sequence: prompt_folder } = required(id);
    queries.removeFile.run({ prompt_folder, prompt_id: file.promptId });
    queries.insertFile.run({
      prompt_folder,
      path: file.path,
      prompt_id: file.promptId,
      hash: file.hash,
      version_id: file.versionId,
      details_json: JSON.stringify(file.details),
    });
  });

  return {
    list: () => queries.list.all({}).map(folderOf),
    add(path, folder) {
      if (queries.findPath.first({ path })) throw new AppError('conflict', 'This folder is already linked.');
      const id = randomUUID();
      queries.insert.run({ id, path, folder, linked_at: Date.now(), first_read_at: null });
      return folderOf(required(id));
    },
    remove: (id) => void queries.remove.run({ id: required(id).id }),
    markRead: (id) => void queries.markRead.run({ id: required(id).id, first_read_at: Date.now() }),
    files: (id) => queries.files.all({ prompt_folder: required(id).sequence }).map(fileOf),
    setFile: (id, file) => setFile.immediate(id, file),
    removeFile: (id, promptId) =>
      void queries.removeFile.run({ prompt_folder: required(id).sequence, prompt_id: promptId }),
    promptsWithoutFile: (folder) => promptsWithoutFile.all({ folder }),
  };
}

function folderQueries(database: Database.Database) {
  return {
    list: prepareQuery(database, (tables) => tables.selectFrom('prompt_folders').selectAll().orderBy('sequence')),
    find: prepareQuery(database, (tables, input: { id: string }) =>
      tables.selectFrom('prompt_folders').selectAll().where('id', '=', input.id),
    ),
    findPath: prepareQuery(database, (tables, input: { path: string }) =>
      tables.selectFrom('prompt_folders').select('id').where('path', '=', input.path),
    ),
    insert: prepareQuery(database, (tables, input: Omit<PromptFolderRow, 'sequence'>) =>
      tables
        .insertInto('prompt_folders')
        .values(valuesOf(input, ['id', 'path', 'folder', 'linked_at', 'first_read_at'])),
    ),
    markRead: prepareQuery(database, (tables, input: { id: string; first_read_at: number }) =>
      tables.updateTable('prompt_folders').set({ first_read_at: input.first_read_at }).where('id', '=', input.id),
    ),
    remove: prepareQuery(database, (tables, input: { id: string }) =>
      tables.deleteFrom('prompt_folders').where('id', '=', input.id),
    ),
    files: prepareQuery(database, (tables, input: { prompt_folder: number }) =>
      tables.selectFrom('prompt_files').selectAll().where('prompt_folder', '=', input.prompt_folder).orderBy('path'),
    ),
    insertFile: prepareQuery(database, (tables, input: PromptFileRow) =>
      tables
        .insertInto('prompt_files')
        .values(valuesOf(input, ['prompt_folder', 'path', 'prompt_id', 'hash', 'version_id', 'details_json'])),
    ),
    removeFile: prepareQuery(database, (tables, input: Pick<PromptFileRow, 'prompt_folder' | 'prompt_id'>) =>
      tables
        .deleteFrom('prompt_files')
        .where('prompt_folder', '=', input.prompt_folder)
        .where('prompt_id', '=', input.prompt_id),
    ),
  };
}
