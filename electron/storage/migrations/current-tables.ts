/* oxlint-disable max-lines -- A test writes this file. */
/**
 * The tables of a new database: what all migrations make, in a quarter of their time. After a new migration, this writes it:
 * `npx vitest run tests/unit/storage/migrate.test.ts --update`
 */
export const currentTables = `
PRAGMA application_id = 1416590691;

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
  , is_anonymous INTEGER NOT NULL DEFAULT 0, moderation_flags TEXT, cached_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER, prices_from TEXT, origin_api TEXT NOT NULL DEFAULT 'completions', origin_client TEXT, http_status INTEGER, import_batch INTEGER) STRICT;

CREATE INDEX runs_of_draft ON runs (draft_id, sequence) WHERE draft_id IS NOT NULL;

CREATE INDEX runs_under_way ON runs (sequence) WHERE status = 'Running';

CREATE TABLE "stored_texts" (
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
  , moderation_json TEXT, usage_json TEXT, messages_json TEXT, tool_calls_json TEXT, last_message INTEGER, frames_json TEXT) STRICT;

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
  , requests_per_minute INTEGER, tokens_per_minute INTEGER, record_level TEXT NOT NULL DEFAULT 'all' CHECK (record_level IN ('all', 'metadata', 'none')), team_json TEXT, is_foreign INTEGER NOT NULL DEFAULT 0, credits_elsewhere INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE provider_accounts (
    account TEXT PRIMARY KEY,
    base_address TEXT,
    last_test_json TEXT,
    listed_models_json TEXT
  ) STRICT;

CREATE TABLE compatible_endpoints (name TEXT PRIMARY KEY COLLATE NOCASE, base_address TEXT NOT NULL) STRICT;

CREATE TABLE user_models (ai_system TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (ai_system, model)) STRICT;

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
  , run_id TEXT) STRICT;

CREATE TABLE audit_views (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    filter_json TEXT NOT NULL,
    sort TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  , span TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE "credit_entries" (
    run INTEGER PRIMARY KEY,
    api_key_id TEXT NOT NULL,
    credits INTEGER NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

CREATE INDEX runs_by_age ON runs (is_anonymous, created_at, conversation);

CREATE TABLE removed_runs (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last_run INTEGER NOT NULL,
    runs INTEGER NOT NULL
  ) STRICT;

CREATE TABLE sample_conversations (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

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

CREATE TABLE agents (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    ai_system TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    created_at INTEGER NOT NULL
  , configuration_json TEXT, dataspace_ids_json TEXT, prompt_id TEXT, prompt_version_id TEXT) STRICT;

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

CREATE TABLE conversation_branches (
    conversation_id TEXT PRIMARY KEY,
    caller_id TEXT NOT NULL,
    origin_id TEXT NOT NULL,
    origin_run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE INDEX branches_of_conversations ON conversation_branches (origin_id, origin_run_id);

CREATE VIRTUAL TABLE prompt_search USING fts5 (text, tokenize = 'trigram remove_diacritics 1');

CREATE VIRTUAL TABLE prompt_search_terms USING fts5vocab (prompt_search, row);

CREATE TABLE prompt_labels (
    prompt INTEGER NOT NULL REFERENCES prompts (sequence),
    label TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES prompt_versions (sequence),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (prompt, label)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE prompt_label_changes (
    sequence INTEGER PRIMARY KEY,
    prompt INTEGER NOT NULL REFERENCES prompts (sequence),
    label TEXT NOT NULL,
    previous_version INTEGER REFERENCES prompt_versions (sequence),
    version INTEGER REFERENCES prompt_versions (sequence),
    changed_at INTEGER NOT NULL
  ) STRICT;

CREATE INDEX label_changes_of_prompt ON prompt_label_changes (prompt, sequence);

CREATE TRIGGER prompt_label_changes_never_change BEFORE UPDATE ON prompt_label_changes
    BEGIN SELECT RAISE(ABORT, 'The history of a label never changes'); END;

CREATE TRIGGER prompt_label_changes_never_go BEFORE DELETE ON prompt_label_changes
    BEGIN SELECT RAISE(ABORT, 'The history of a label is never removed'); END;

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

CREATE TABLE prompt_version_usage (
    version_id TEXT PRIMARY KEY,
    runs INTEGER NOT NULL DEFAULT 0,
    last_run_at INTEGER,
    timed_runs INTEGER NOT NULL DEFAULT 0,
    total_ms REAL NOT NULL DEFAULT 0,
    priced_runs INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    scored_runs INTEGER NOT NULL DEFAULT 0,
    score INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

CREATE TRIGGER usage_of_new_run AFTER INSERT ON runs WHEN NEW.prompt_version_id IS NOT NULL BEGIN
    INSERT INTO prompt_version_usage (version_id, runs, last_run_at, timed_runs, total_ms, priced_runs, cost)
      VALUES (NEW.prompt_version_id, 1, NEW.created_at, NEW.total_ms IS NOT NULL, ifnull(NEW.total_ms, 0),
        NEW.cost IS NOT NULL, ifnull(NEW.cost, 0))
      ON CONFLICT (version_id) DO UPDATE SET runs = runs + 1, last_run_at = max(ifnull(last_run_at, 0), excluded.last_run_at),
        timed_runs = timed_runs + excluded.timed_runs, total_ms = total_ms + excluded.total_ms,
        priced_runs = priced_runs + excluded.priced_runs, cost = cost + excluded.cost;
  END;

CREATE TRIGGER usage_of_ended_run AFTER UPDATE OF total_ms, cost ON runs WHEN NEW.prompt_version_id IS NOT NULL BEGIN
    UPDATE prompt_version_usage SET
      timed_runs = timed_runs + (NEW.total_ms IS NOT NULL) - (OLD.total_ms IS NOT NULL),
      total_ms = total_ms + ifnull(NEW.total_ms, 0) - ifnull(OLD.total_ms, 0),
      priced_runs = priced_runs + (NEW.cost IS NOT NULL) - (OLD.cost IS NOT NULL),
      cost = cost + ifnull(NEW.cost, 0) - ifnull(OLD.cost, 0)
      WHERE version_id = NEW.prompt_version_id;
  END;

CREATE TRIGGER usage_of_removed_run AFTER DELETE ON runs WHEN OLD.prompt_version_id IS NOT NULL BEGIN
    UPDATE prompt_version_usage SET runs = runs - 1,
      timed_runs = timed_runs - (OLD.total_ms IS NOT NULL), total_ms = total_ms - ifnull(OLD.total_ms, 0),
      priced_runs = priced_runs - (OLD.cost IS NOT NULL), cost = cost - ifnull(OLD.cost, 0)
      WHERE version_id = OLD.prompt_version_id;
    DELETE FROM prompt_version_usage WHERE version_id = OLD.prompt_version_id AND runs = 0;
  END;

CREATE TRIGGER usage_of_new_feedback AFTER INSERT ON feedback WHEN NEW.score IS NOT NULL BEGIN
    UPDATE prompt_version_usage SET scored_runs = scored_runs + 1, score = score + NEW.score
      WHERE version_id = (SELECT prompt_version_id FROM runs WHERE sequence = NEW.run);
  END;

CREATE TRIGGER usage_of_changed_feedback AFTER UPDATE OF score ON feedback BEGIN
    UPDATE prompt_version_usage SET
      scored_runs = scored_runs + (NEW.score IS NOT NULL) - (OLD.score IS NOT NULL),
      score = score + ifnull(NEW.score, 0) - ifnull(OLD.score, 0)
      WHERE version_id = (SELECT prompt_version_id FROM runs WHERE sequence = NEW.run);
  END;

CREATE TRIGGER usage_of_removed_feedback AFTER DELETE ON feedback WHEN OLD.score IS NOT NULL BEGIN
    UPDATE prompt_version_usage SET scored_runs = scored_runs - 1, score = score - OLD.score
      WHERE version_id = (SELECT prompt_version_id FROM runs WHERE sequence = OLD.run);
  END;

CREATE TABLE agent_runs (
    run_id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE INDEX runs_of_agents ON agent_runs (agent_id);

CREATE TRIGGER agent_runs_go_with_runs AFTER DELETE ON runs
    BEGIN DELETE FROM agent_runs WHERE run_id = old.id; END;

CREATE TABLE provider_exchanges (
    sequence INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    exchanges_json TEXT NOT NULL
  ) STRICT;

CREATE TRIGGER provider_exchanges_go_with_runs AFTER DELETE ON runs
    BEGIN DELETE FROM provider_exchanges WHERE run_id = old.id; END;

CREATE TRIGGER provider_exchanges_go_with_texts AFTER UPDATE OF is_anonymous ON runs WHEN new.is_anonymous = 1
    BEGIN DELETE FROM provider_exchanges WHERE run_id = new.id; END;

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

CREATE TRIGGER files_of_new_run AFTER INSERT ON "stored_texts"
  WHEN instr(new.messages_json, '"type":"file"') BEGIN
    INSERT OR IGNORE INTO run_files (file, run)
    SELECT part.value ->> 'fileId', new.run
    FROM json_each(new.messages_json) AS message, json_each(message.value -> 'content') AS part
    WHERE part.value ->> 'type' = 'file';
  END;

CREATE TRIGGER files_of_changed_run AFTER UPDATE OF messages_json ON "stored_texts"
  WHEN old.messages_json IS NOT new.messages_json BEGIN
    DELETE FROM run_files WHERE run = new.run;
    INSERT OR IGNORE INTO run_files (file, run)
    SELECT part.value ->> 'fileId', new.run
    FROM json_each(coalesce(new.messages_json, '[]')) AS message, json_each(message.value -> 'content') AS part
    WHERE part.value ->> 'type' = 'file';
  END;

CREATE TRIGGER files_of_removed_run AFTER DELETE ON "stored_texts" BEGIN
    DELETE FROM run_files WHERE run = old.run;
  END;

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
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL, is_held_out INTEGER NOT NULL DEFAULT 0,
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

CREATE INDEX comparison_cells_by_run ON comparison_cells (run_id) WHERE run_id IS NOT NULL;

CREATE INDEX runs_by_version ON runs (prompt_version_id, model, sequence) WHERE prompt_version_id IS NOT NULL;

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

CREATE INDEX runs_of_import ON runs (import_batch, sequence) WHERE import_batch IS NOT NULL;

CREATE TABLE call_threads (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL
  , run_id TEXT, keeps_system INTEGER NOT NULL DEFAULT 0, item_json TEXT) STRICT;

CREATE TABLE feedback_history (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL,
    reviewer TEXT,
    score INTEGER,
    score_text TEXT,
    score_tags TEXT,
    created_at INTEGER NOT NULL
  , rubric_item_id TEXT, value_json TEXT, question TEXT) STRICT;

CREATE INDEX feedback_history_by_run ON feedback_history (run, sequence);

CREATE TABLE tool_uses (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    prompt_version INTEGER,
    agent INTEGER
  ) STRICT;

CREATE INDEX tool_uses_by_name ON tool_uses (name, sequence);

CREATE INDEX tool_uses_by_agent ON tool_uses (agent) WHERE agent IS NOT NULL;

CREATE TRIGGER tool_uses_of_versions AFTER INSERT ON prompt_versions WHEN new.configuration_json IS NOT NULL BEGIN
    
    INSERT INTO tool_uses (name, prompt_version)
    SELECT DISTINCT coalesce(json_extract(value, '$.function.name'), json_extract(value, '$.name')) AS function_name, new.sequence
    FROM json_each(CASE WHEN json_valid(new.configuration_json) THEN new.configuration_json ELSE '{}' END, '$.tools')
    WHERE CASE type WHEN 'object' THEN json_extract(value, '$.type') END = 'function' AND typeof(function_name) = 'text';
  END;

CREATE TRIGGER tool_uses_of_agents AFTER INSERT ON agents WHEN new.configuration_json IS NOT NULL BEGIN
    
    INSERT INTO tool_uses (name, agent)
    SELECT DISTINCT coalesce(json_extract(value, '$.function.name'), json_extract(value, '$.name')) AS function_name, new.sequence
    FROM json_each(CASE WHEN json_valid(new.configuration_json) THEN new.configuration_json ELSE '{}' END, '$.tools')
    WHERE CASE type WHEN 'object' THEN json_extract(value, '$.type') END = 'function' AND typeof(function_name) = 'text';
  END;

CREATE TRIGGER tool_uses_of_changed_agents AFTER UPDATE OF configuration_json ON agents BEGIN
    DELETE FROM tool_uses WHERE agent = old.sequence;
    
    INSERT INTO tool_uses (name, agent)
    SELECT DISTINCT coalesce(json_extract(value, '$.function.name'), json_extract(value, '$.name')) AS function_name, new.sequence
    FROM json_each(CASE WHEN json_valid(new.configuration_json) THEN new.configuration_json ELSE '{}' END, '$.tools')
    WHERE CASE type WHEN 'object' THEN json_extract(value, '$.type') END = 'function' AND typeof(function_name) = 'text';
  END;

CREATE TRIGGER tool_uses_of_deleted_agents AFTER DELETE ON agents BEGIN
    DELETE FROM tool_uses WHERE agent = old.sequence;
  END;

CREATE TABLE judge_preferences (
    judge INTEGER NOT NULL REFERENCES judges (sequence) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    other_run_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    verdict TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (judge, run_id, other_run_id)
  ) STRICT, WITHOUT ROWID;

CREATE INDEX judge_preferences_by_run ON judge_preferences (run_id);

CREATE INDEX judge_preferences_by_other_run ON judge_preferences (other_run_id);

CREATE TABLE reviewers (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    pin_hash TEXT,
    caller_id TEXT,
    installation_id TEXT,
    created_at INTEGER NOT NULL,
    removed_at INTEGER
  , team_json TEXT) STRICT;

CREATE UNIQUE INDEX reviewers_by_name ON reviewers (name_key) WHERE removed_at IS NULL AND installation_id IS NULL;

CREATE UNIQUE INDEX reviewers_by_caller ON reviewers (caller_id) WHERE caller_id IS NOT NULL AND removed_at IS NULL;

CREATE TABLE rubrics (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

CREATE TABLE rubric_versions (
    rubric INTEGER NOT NULL REFERENCES rubrics (sequence) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    description TEXT,
    items_json TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (rubric, version)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE review_queues (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    installation_id TEXT NOT NULL,
    is_hidden INTEGER NOT NULL,
    is_imported INTEGER NOT NULL,
    name TEXT NOT NULL,
    input_json TEXT NOT NULL,
    sampling_json TEXT NOT NULL,
    rubric_id TEXT NOT NULL,
    rubric_json TEXT NOT NULL,
    created_at INTEGER NOT NULL
  , team_change INTEGER) STRICT;

CREATE INDEX review_queues_by_rubric ON review_queues (rubric_id);

CREATE TABLE review_items (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    queue INTEGER NOT NULL REFERENCES review_queues (sequence),
    position INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    stratum INTEGER NOT NULL,
    is_flagged INTEGER NOT NULL,
    needed INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    is_removed INTEGER NOT NULL DEFAULT 0,
    is_disagreeing INTEGER NOT NULL DEFAULT 0,
    gold_json TEXT,
    gold_by TEXT,
    gold_at INTEGER
  , second_json TEXT) STRICT;

CREATE UNIQUE INDEX review_items_by_position ON review_items (queue, position);

CREATE INDEX review_items_by_run ON review_items (run_id);

CREATE INDEX review_items_by_conversation ON review_items (conversation_id);

CREATE TABLE review_item_contents (
    item INTEGER PRIMARY KEY REFERENCES review_items (sequence) ON DELETE CASCADE,
    content_json TEXT NOT NULL
  ) STRICT;

CREATE TABLE review_reservations (
    queue INTEGER NOT NULL,
    reviewer INTEGER NOT NULL REFERENCES reviewers (sequence),
    item INTEGER NOT NULL REFERENCES review_items (sequence) ON DELETE CASCADE,
    started_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (queue, reviewer)
  ) STRICT, WITHOUT ROWID;

CREATE INDEX review_reservations_by_item ON review_reservations (item);

CREATE TABLE reviews (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    queue INTEGER NOT NULL,
    item INTEGER NOT NULL REFERENCES review_items (sequence) ON DELETE CASCADE,
    reviewer INTEGER NOT NULL REFERENCES reviewers (sequence),
    kind TEXT NOT NULL CHECK (kind IN ('review', 'skip')),
    answers_json TEXT NOT NULL,
    note TEXT,
    seconds REAL NOT NULL,
    created_at INTEGER NOT NULL,
    replaces TEXT,
    is_current INTEGER NOT NULL
  ) STRICT;

CREATE INDEX reviews_by_item ON reviews (item, reviewer, is_current);

CREATE UNIQUE INDEX current_reviews ON reviews (queue, reviewer, item) WHERE is_current = 1;

CREATE TABLE shared_messages (
    sequence INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    earlier INTEGER,
    json TEXT NOT NULL
  ) STRICT;

CREATE INDEX shared_messages_by_earlier ON shared_messages (earlier) WHERE earlier IS NOT NULL;

CREATE INDEX run_texts_by_last_message ON "stored_texts" (last_message) WHERE last_message IS NOT NULL;

CREATE TABLE judge_pair_labels (
    judge INTEGER NOT NULL REFERENCES judges (sequence) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    other_run_id TEXT NOT NULL,
    is_held_out INTEGER NOT NULL,
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (judge, run_id, other_run_id)
  ) STRICT, WITHOUT ROWID;

CREATE TABLE late_answers (
    run INTEGER PRIMARY KEY REFERENCES stored_texts (run) ON DELETE CASCADE,
    content TEXT NOT NULL,
    tool_calls_json TEXT,
    reasoning TEXT,
    error_message TEXT,
    citations_json TEXT,
    usage_json TEXT,
    moderation_json TEXT,
    frames_json TEXT
  ) STRICT;

CREATE VIEW run_texts AS
  SELECT stored.run, prompt_text, system_message, replacements_json, rendered_prompt, messages_json, last_message, configuration_json,
    dataspace_ids_json, metadata_json, warnings_json,
    coalesce(late.content, stored.content) AS content,
    coalesce(late.tool_calls_json, stored.tool_calls_json) AS tool_calls_json,
    coalesce(late.reasoning, stored.reasoning) AS reasoning,
    coalesce(late.error_message, stored.error_message) AS error_message,
    coalesce(late.citations_json, stored.citations_json) AS citations_json,
    coalesce(late.usage_json, stored.usage_json) AS usage_json,
    coalesce(late.moderation_json, stored.moderation_json) AS moderation_json,
    coalesce(late.frames_json, stored.frames_json) AS frames_json
  FROM stored_texts AS stored LEFT JOIN late_answers AS late ON late.run = stored.run;

CREATE TABLE review_comments (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES review_items (sequence) ON DELETE CASCADE,
    reviewer INTEGER NOT NULL REFERENCES reviewers (sequence),
    text TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

CREATE INDEX review_comments_by_item ON review_comments (item);

INSERT INTO removed_runs VALUES (1, 0, 0);
`;
