/**
 * Runs name the version that made them, so a version can neither change nor go, and a deleted prompt is only marked. The
 * triggers hold that against every later mistake of ours.
 */
export const promptTables = `
  CREATE TABLE prompts (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    folder TEXT,
    tags_json TEXT NOT NULL,
    description TEXT,
    latest_version_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX kept_prompts ON prompts (sequence) WHERE deleted_at IS NULL;

  CREATE TABLE prompt_versions (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    prompt INTEGER NOT NULL REFERENCES prompts (sequence),
    number INTEGER NOT NULL,
    prompt_text TEXT NOT NULL,
    system_message TEXT,
    ai_system TEXT,
    model TEXT,
    configuration_json TEXT,
    variables_json TEXT NOT NULL,
    note TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (prompt, number)
  ) STRICT;
  CREATE TRIGGER prompt_versions_never_change BEFORE UPDATE ON prompt_versions
    BEGIN SELECT RAISE(ABORT, 'A version of a prompt never changes'); END;
  CREATE TRIGGER prompt_versions_never_go BEFORE DELETE ON prompt_versions
    BEGIN SELECT RAISE(ABORT, 'A version of a prompt is never removed'); END;
`;
