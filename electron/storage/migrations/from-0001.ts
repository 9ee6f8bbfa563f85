/** Marks our databases: `Touc` in ASCII. */
export const applicationId = 0x546f7563;

/** 1. The first version. */
export const firstTables = `
  PRAGMA application_id = ${applicationId};

  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE conversations (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    caller_id TEXT NOT NULL,
    workspace_id TEXT,
    last_run INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES conversations (sequence),
    message_id TEXT NOT NULL,
    caller_id TEXT NOT NULL,
    api_key_id TEXT,
    prompt_id TEXT,
    prompt_version_id TEXT,
    ai_system TEXT NOT NULL,
    model TEXT NOT NULL,
    served_by TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Running', 'Completed', 'Cancelled', 'Failed')),
    created_at INTEGER NOT NULL,
    completed_at INTEGER,
    first_token_ms REAL,
    total_ms REAL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    total_tokens INTEGER,
    cost REAL,
    credits INTEGER NOT NULL,
    finish_reason TEXT,
    error_code TEXT,
    title TEXT NOT NULL,
    draft_id TEXT,
    app_headers_json TEXT
  ) STRICT;
  CREATE INDEX runs_of_draft ON runs (draft_id, sequence) WHERE draft_id IS NOT NULL;
  CREATE INDEX runs_under_way ON runs (sequence) WHERE status = 'Running';

  CREATE TABLE run_texts (
    run INTEGER PRIMARY KEY REFERENCES runs (sequence),
    prompt_text TEXT NOT NULL,
    system_message TEXT,
    replacements_json TEXT,
    rendered_prompt TEXT NOT NULL,
    configuration_json TEXT,
    dataspace_ids_json TEXT,
    metadata_json TEXT,
    warnings_json TEXT,
    content TEXT NOT NULL,
    reasoning TEXT,
    error_message TEXT,
    citations_json TEXT
  ) STRICT;

  CREATE TABLE api_keys (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    caller_id TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    credit_limit INTEGER,
    credits_used INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE credit_entries (
    run INTEGER PRIMARY KEY REFERENCES runs (sequence),
    api_key_id TEXT NOT NULL,
    credits INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE provider_accounts (
    account TEXT PRIMARY KEY,
    base_address TEXT,
    last_test_json TEXT,
    listed_models_json TEXT
  ) STRICT;

  CREATE TABLE compatible_endpoints (name TEXT PRIMARY KEY COLLATE NOCASE, base_address TEXT NOT NULL) STRICT;

  CREATE TABLE user_models (ai_system TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (ai_system, model)) STRICT;
`;

/**
 * 2. `run_changes` lists every run that changed after its end, in the order of the changes. The audit index follows it. `kind` is
 * `feedback` if only the feedback changed, otherwise `run` (changed or removed).
 */
export const auditTables = `
  CREATE INDEX runs_of_conversation ON runs (conversation, sequence);

  CREATE TABLE feedback (
    run INTEGER PRIMARY KEY REFERENCES runs (sequence),
    score INTEGER,
    score_text TEXT,
    score_tags TEXT,
    updated_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE run_changes (
    revision INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('feedback', 'run'))
  ) STRICT;

  CREATE TABLE audit_views (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    filter_json TEXT NOT NULL,
    sort TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

/**
 * 3. Runs can be removed or anonymised, but the ledger keeps their credits, so it no longer refers to runs. `removed_runs` holds the
 * highest removed sequence, because a sequence is never reused, and the number of removed runs.
 */
export const retentionTables = `
  CREATE TABLE paid_runs (
    run INTEGER PRIMARY KEY,
    api_key_id TEXT NOT NULL,
    credits INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO paid_runs SELECT run, api_key_id, credits, created_at FROM credit_entries;
  DROP TABLE credit_entries;
  ALTER TABLE paid_runs RENAME TO credit_entries;

  ALTER TABLE runs ADD COLUMN is_anonymous INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX runs_by_age ON runs (is_anonymous, created_at, conversation);

  CREATE TABLE removed_runs (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last_run INTEGER NOT NULL,
    runs INTEGER NOT NULL
  ) STRICT;
  INSERT INTO removed_runs VALUES (1, 0, 0);
`;

/** 4. IDs of conversations of the sample data, written before their first run. */
export const sampleTables = `
  CREATE TABLE sample_conversations (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

/** 5. Replays refer to runs by ID instead of sequence, because a replay outlives its runs. */
export const replayTables = `
  CREATE TABLE replays (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'stopped', 'completed')),
    target_json TEXT NOT NULL,
    parallel INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER
  ) STRICT;

  CREATE TABLE replayed_runs (
    replay INTEGER NOT NULL REFERENCES replays (sequence) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    original TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'completed', 'failed')),
    replayed TEXT,
    failure TEXT,
    PRIMARY KEY (replay, position)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * 6. What the guard found in a run. `moderation_flags` (`prompt:violence,answer:sexual`) is a small column that filters read. The scores
 * and withheld text are with the long texts.
 */
export const moderationColumns = `
  ALTER TABLE runs ADD COLUMN moderation_flags TEXT;
  ALTER TABLE run_texts ADD COLUMN moderation_json TEXT;
`;

/**
 * 7. Runs refer to the version that they used, so a version never changes, and a deleted prompt only gets a date. The triggers enforce
 * this if our code has a bug.
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

/** 8. Agents. */
export const agentTables = `
  CREATE TABLE agents (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    ai_system TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
`;

/**
 * 9. Linked folders of prompt files. A row of `prompt_files` holds the last state in which the file and its prompt were equal; `hash` and
 * `version_id` are empty before the first synchronisation.
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
