/**
 * Folders of prompt files. A file's row says in which state of both sides it and its prompt were in step last: `hash` and `version_id`
 * are empty where they never were.
 */
export const promptFolderTables = `
  CREATE TABLE prompt_folders (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL,
    linked_at INTEGER NOT NULL,
    first_read_at INTEGER
  ) STRICT;
  CREATE TABLE prompt_files (
    prompt_folder INTEGER NOT NULL REFERENCES prompt_folders (sequence) ON DELETE CASCADE,
    path TEXT NOT NULL,
    prompt_id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    version_id TEXT NOT NULL,
    details_json TEXT NOT NULL,
    PRIMARY KEY (prompt_folder, path)
  ) STRICT, WITHOUT ROWID;
`;
