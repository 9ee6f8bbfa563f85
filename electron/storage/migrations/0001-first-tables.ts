/** Tells our databases from others: `Touc` in ASCII. */
export const applicationId = 0x546f7563;

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
