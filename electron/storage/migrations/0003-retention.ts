/**
 * Runs may be removed or made anonymous. What was paid stays: the ledger no longer refers to the runs. `removed_runs` remembers
 * the highest sequence that was removed, because a sequence is never given twice, and how many runs are missing below.
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
