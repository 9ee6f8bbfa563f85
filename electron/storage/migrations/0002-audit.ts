/**
 * `run_changes` names every run that was changed after it had ended, in the order of the changes: the audit index reads it to
 * follow them. `kind` is `feedback` when only the feedback is another one, otherwise `run` (changed or removed).
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
