/**
 * Files that prompts are sent with. Their content is in the folder `files`. `file_callers` holds who sent a file and under which name,
 * `run_files` which runs use it. Triggers keep `run_files` in step with the messages of the runs, however these change.
 */
export const files = `
  CREATE TABLE files (
    id TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    width INTEGER,
    height INTEGER,
    pages INTEGER,
    used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE file_callers (
    file TEXT NOT NULL,
    caller_id TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (file, caller_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE run_files (
    file TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (file, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_files_by_run ON run_files (run);

  CREATE TRIGGER files_of_new_run AFTER INSERT ON run_texts
  WHEN instr(new.messages_json, '"type":"file"') BEGIN
    INSERT OR IGNORE INTO run_files (file, run)
    SELECT part.value ->> 'fileId', new.run
    FROM json_each(new.messages_json) AS message, json_each(message.value -> 'content') AS part
    WHERE part.value ->> 'type' = 'file';
  END;

  CREATE TRIGGER files_of_changed_run AFTER UPDATE OF messages_json ON run_texts
  WHEN old.messages_json IS NOT new.messages_json BEGIN
    DELETE FROM run_files WHERE run = new.run;
    INSERT OR IGNORE INTO run_files (file, run)
    SELECT part.value ->> 'fileId', new.run
    FROM json_each(coalesce(new.messages_json, '[]')) AS message, json_each(message.value -> 'content') AS part
    WHERE part.value ->> 'type' = 'file';
  END;

  CREATE TRIGGER files_of_removed_run AFTER DELETE ON run_texts BEGIN
    DELETE FROM run_files WHERE run = old.run;
  END;
`;
