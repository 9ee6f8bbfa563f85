/** Runs refer to runs by id, not by sequence: a replay outlives them. */
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
