/**
 * What is known of the files that completions are grounded on. Their passages and vectors are in an index of its own, which can
 * be made again from the files; these tables say what it has to hold. `removed_sources` are cleared away after they are gone
 * from here, also when the process ends in between.
 */
export const knowledgeTables = `
  CREATE TABLE dataspaces (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE sources (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dataspace INTEGER NOT NULL REFERENCES dataspaces (sequence),
    name TEXT NOT NULL,
    file_name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Processing', 'Ready', 'Failed')),
    failure_reason TEXT CHECK ((failure_reason IS NULL) = (status <> 'Failed')),
    revision TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    passages INTEGER,
    pages INTEGER,
    characters INTEGER,
    embedding_model TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sources_of_dataspaces ON sources (dataspace, sequence);
  CREATE INDEX processing_sources ON sources (attempts, queued_at, sequence) WHERE status = 'Processing';

  CREATE TABLE removed_sources (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;
