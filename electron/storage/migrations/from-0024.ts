import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';

/**
 * 24. Datasets. A row is stored once for all versions that have it: `dataset_row_contents` holds its values, `dataset_rows` its position in a
 * version. Large versions are written in many transactions, so only complete ones are visible. `dataset_files` keeps the files of rows.
 */
export const datasets = `
  CREATE TABLE datasets (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE dataset_versions (
    dataset INTEGER NOT NULL REFERENCES datasets (sequence),
    version INTEGER NOT NULL,
    is_complete INTEGER NOT NULL,
    columns_json TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    note TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (dataset, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dataset_row_contents (
    sequence INTEGER PRIMARY KEY,
    dataset INTEGER NOT NULL,
    row_id TEXT NOT NULL,
    values_json TEXT NOT NULL,
    UNIQUE (dataset, row_id)
  ) STRICT;

  CREATE TABLE dataset_rows (
    dataset INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (dataset, version, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dataset_files (
    file TEXT NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (file, content)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dataset_files_by_content ON dataset_files (content);

  CREATE TRIGGER files_of_removed_row AFTER DELETE ON dataset_row_contents BEGIN
    DELETE FROM dataset_files WHERE content = old.sequence;
  END;
`;

/** 25. Tools of the library. A version never changes; deleting a tool removes its versions, because nothing refers to them. */
export const toolTables = `
  CREATE TABLE tools (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    search_text TEXT NOT NULL,
    latest_version_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE tool_versions (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tool INTEGER NOT NULL REFERENCES tools (sequence) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    parameters_json TEXT NOT NULL,
    strict INTEGER,
    mock_kind TEXT,
    mock_json TEXT,
    note TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (tool, number)
  ) STRICT;
  CREATE TRIGGER tool_versions_never_change BEFORE UPDATE ON tool_versions
    BEGIN SELECT RAISE(ABORT, 'A version of a tool never changes'); END;
`;

/**
 * 26. Comparisons, which run variants over the rows of a dataset. `comparison_cells` has a row for each cell that was claimed, skipped or
 * stopped; a cell without a row waits. `position` is `(row * variants + variant) * repeats + repeat`, each from 0. `setup_json` can have
 * megabytes, so lists don't read it. `comparison_progress` is a separate table because it is written with every cell.
 */
export const comparisons = `
  CREATE TABLE comparisons (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    dataset_id TEXT NOT NULL,
    dataset_version INTEGER NOT NULL,
    settings_json TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    setup_json TEXT NOT NULL
  ) STRICT;
  CREATE INDEX comparisons_by_dataset ON comparisons (dataset_id);

  CREATE TABLE comparison_progress (
    comparison INTEGER PRIMARY KEY REFERENCES comparisons (sequence) ON DELETE CASCADE,
    state TEXT NOT NULL,
    summary_json TEXT NOT NULL
  ) STRICT;

  CREATE TABLE comparison_cells (
    comparison INTEGER NOT NULL REFERENCES comparisons (sequence) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    run_id TEXT,
    attempts INTEGER NOT NULL,
    failure_json TEXT,
    cost REAL,
    first_token_ms REAL,
    total_ms REAL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    answer_hash TEXT,
    checks_json TEXT,
    passed INTEGER,
    score REAL,
    PRIMARY KEY (comparison, position)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * 27. Judges, their labels by hand and their verdicts on runs. The reason of a verdict is in the judge's own run, so that it is deleted with
 * it. A label stays when its run is deleted: it is one word.
 */
export const judges = `
  CREATE TABLE judges (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    input_json TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE judge_labels (
    judge INTEGER NOT NULL REFERENCES judges (sequence) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    row_key TEXT NOT NULL,
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (judge, run_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE judge_verdicts (
    judge INTEGER NOT NULL REFERENCES judges (sequence) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    judge_run_id TEXT NOT NULL,
    verdict_json TEXT NOT NULL,
    PRIMARY KEY (judge, run_id)
  ) STRICT, WITHOUT ROWID;
`;

/** 28. Finds the cell of a run, so that what it quotes of the run's texts is removed with them. */
export const cellsByRun = `
  CREATE INDEX comparison_cells_by_run ON comparison_cells (run_id) WHERE run_id IS NOT NULL;
`;

/** 29. Finds the runs of a prompt version and model, from which comparisons estimate their cost. */
export const runsByVersion = `
  CREATE INDEX runs_by_version ON runs (prompt_version_id, model, sequence) WHERE prompt_version_id IS NOT NULL;
`;

/**
 * 30. Votes of people: on single answers, and blind ones on pairs of answers. `voter` is the caller. A pair's vote names the variant that won
 * (`first` or `second` of `blind_votes`), not the side on which its answer was. A label of a judge now has only the half that its row is in:
 * the hash of a row's values told who has them which row it was.
 */
export const votes = `
  CREATE TABLE comparison_votes (
    comparison INTEGER NOT NULL REFERENCES comparisons (sequence) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    voter TEXT NOT NULL,
    vote TEXT,
    note TEXT,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (comparison, position, voter)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE blind_votes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    comparison INTEGER NOT NULL REFERENCES comparisons (sequence) ON DELETE CASCADE,
    voter TEXT NOT NULL,
    first INTEGER NOT NULL,
    second INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    question TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
  ) STRICT;
  CREATE INDEX blind_votes_by_comparison ON blind_votes (comparison);

  CREATE TABLE blind_vote_pairs (
    blind_vote INTEGER NOT NULL REFERENCES blind_votes (sequence) ON DELETE CASCADE,
    row INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    vote TEXT NOT NULL,
    note TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (blind_vote, row)
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE judge_labels ADD COLUMN is_held_out INTEGER NOT NULL DEFAULT 0;
  UPDATE judge_labels SET is_held_out = is_held_out(row_key);
  ALTER TABLE judge_labels DROP COLUMN row_key;
`;

/**
 * 31. Where a run comes from. Runs until then are completions. `import_batches` marks the runs of an imported log, so that they can be
 * removed together.
 */
export const origins = `
  CREATE TABLE import_batches (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    format TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('Running', 'Stopped', 'Completed', 'Failed', 'Removing')),
    plan_json TEXT NOT NULL,
    progress_json TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  ALTER TABLE runs ADD COLUMN origin_api TEXT NOT NULL DEFAULT 'completions';
  ALTER TABLE runs ADD COLUMN origin_client TEXT;
  ALTER TABLE runs ADD COLUMN http_status INTEGER;
  ALTER TABLE runs ADD COLUMN import_batch INTEGER;
  CREATE INDEX runs_of_import ON runs (import_batch, sequence) WHERE import_batch IS NOT NULL;
`;

/**
 * 32. Recorded calls of other programs: how much of a key's calls is recorded, and by which keys the next call of a conversation finds
 * it.
 */
export const recordedCalls = `
  ALTER TABLE api_keys ADD COLUMN record_level TEXT NOT NULL DEFAULT 'all' CHECK (record_level IN ('all', 'metadata', 'none'));
  CREATE TABLE call_threads (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL
  ) STRICT;
`;

/**
 * 33. All feedback ever given; `feedback` has only the latest of each run. `reviewer` is the name of the key at that time. It isn't known
 * for what was given before.
 */
export const feedbackHistory = `
  CREATE TABLE feedback_history (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL,
    reviewer TEXT,
    score INTEGER,
    score_text TEXT,
    score_tags TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX feedback_history_by_run ON feedback_history (run, sequence);

  INSERT INTO feedback_history (id, run, score, score_text, score_tags, created_at)
  SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' ||
    substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))), run, score, score_text, score_tags, updated_at FROM feedback ORDER BY updated_at, run;
`;

/** Must be called before migration 30. */
export function registerHeldOut(database: Database.Database): void {
  database.function(
    'is_held_out',
    { deterministic: true },
    (rowKey: string) => createHash('sha256').update(rowKey).digest()[0]! & 1,
  );
}
