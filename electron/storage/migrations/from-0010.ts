/**
 * 10. Conversations that branch off another one. They share the runs of `origin_id` before `origin_run_id`. The row exists before the
 * branch has a run, and so a conversation.
 */
export const conversationBranchTables = `
  CREATE TABLE conversation_branches (
    conversation_id TEXT PRIMARY KEY,
    caller_id TEXT NOT NULL,
    origin_id TEXT NOT NULL,
    origin_run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX branches_of_conversations ON conversation_branches (origin_id, origin_run_id);
`;

/**
 * 11. Library search, and labels that point at versions.
 *
 * A row of `prompt_search` holds the texts of a prompt (version 0), or the lines of a version that the previous version lacks: most
 * versions repeat their predecessor, and repeated lines would make searches for common words five times as slow. The rowid is the
 * prompt's `sequence` * 2^24 + the version's `number`, so a match needs no join. Each text ends with two line feeds, so that
 * terms of one or two characters match as prefixes of trigrams at the end of the text too.
 */
export const promptLibraryTables = `
  CREATE VIRTUAL TABLE prompt_search USING fts5 (text, tokenize = 'trigram remove_diacritics 1');
  CREATE VIRTUAL TABLE prompt_search_terms USING fts5vocab (prompt_search, row);
  INSERT INTO prompt_search (rowid, text)
    SELECT sequence * 16777216, concat_ws(char(10), name, folder,
      (SELECT group_concat(value, char(10)) FROM json_each(tags_json)), description) || char(10, 10)
    FROM prompts WHERE deleted_at IS NULL;
  INSERT INTO prompt_search (rowid, text)
    SELECT prompt * 16777216 + number, concat_ws(char(10), prompt_text, system_message, ai_system, model, note,
      (SELECT group_concat(atom, char(10)) FROM json_tree(variables_json))) || char(10, 10)
    FROM prompt_versions WHERE prompt IN (SELECT sequence FROM prompts WHERE deleted_at IS NULL);

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
`;

/**
 * 12. Dataspaces and their sources. Passages and vectors are in a separate index that can be rebuilt from the files. `removed_sources` lists
 * sources whose files still have to be deleted, also after a crash.
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

/**
 * 13. Runs, cost and scores of each prompt version. Triggers update them, because counting takes longer the more runs there are, and would
 * block the main thread. Runs without a version cost nothing extra.
 */
export const promptUsageTables = `
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

  INSERT INTO prompt_version_usage
    SELECT prompt_version_id, count(*), max(runs.created_at), count(total_ms), ifnull(sum(total_ms), 0),
      count(cost), ifnull(sum(cost), 0), count(score), ifnull(sum(score), 0)
    FROM runs LEFT JOIN feedback ON feedback.run = runs.sequence
    WHERE prompt_version_id IS NOT NULL GROUP BY prompt_version_id;

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
`;

/** 14. A saved view of the last seven days means seven days before the day on which it is opened. */
export const auditSpanColumn = `
  ALTER TABLE audit_views ADD COLUMN span TEXT;
`;

/**
 * 15. The agent of a run, in a separate table so that other runs cost nothing extra. The row is written when a turn is accepted, which can be
 * before the run is recorded.
 */
export const agentRunTables = `
  CREATE TABLE agent_runs (
    run_id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX runs_of_agents ON agent_runs (agent_id);
  CREATE TRIGGER agent_runs_go_with_runs AFTER DELETE ON runs
    BEGIN DELETE FROM agent_runs WHERE run_id = old.id; END;
`;

/** 16. Parameters and dataspaces of an agent, and the prompt version that it was created from. */
export const agentSettingColumns = `
  ALTER TABLE agents ADD COLUMN configuration_json TEXT;
  ALTER TABLE agents ADD COLUMN dataspace_ids_json TEXT;
  ALTER TABLE agents ADD COLUMN prompt_id TEXT;
  ALTER TABLE agents ADD COLUMN prompt_version_id TEXT;
`;

/**
 * 17. Raw requests to the provider and its responses. They are written after the run, so that recording it costs nothing extra. They are
 * deleted with the run, or when it is anonymised.
 */
export const providerExchangeTables = `
  CREATE TABLE provider_exchanges (
    sequence INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    exchanges_json TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER provider_exchanges_go_with_runs AFTER DELETE ON runs
    BEGIN DELETE FROM provider_exchanges WHERE run_id = old.id; END;
  CREATE TRIGGER provider_exchanges_go_with_texts AFTER UPDATE OF is_anonymous ON runs WHEN new.is_anonymous = 1
    BEGIN DELETE FROM provider_exchanges WHERE run_id = new.id; END;
`;
