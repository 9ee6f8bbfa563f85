/** A row for each function of `new`: the row of a trigger, or those of a table with this alias. */
const insertUses = (column: 'prompt_version' | 'agent', table = '') => `
    INSERT INTO tool_uses (name, ${column})
    SELECT DISTINCT coalesce(json_extract(value, '$.function.name'), json_extract(value, '$.name')) AS function_name, new.sequence
    FROM ${table}json_each(CASE WHEN json_valid(new.configuration_json) THEN new.configuration_json ELSE '{}' END, '$.tools')
    WHERE CASE type WHEN 'object' THEN json_extract(value, '$.type') END = 'function' AND typeof(function_name) = 'text';`;

/**
 * 34. Which prompt versions and agents offer a function of a name: they have copies of tools, so nothing else refers to the library.
 * Triggers read the names from their configuration. SQLite reads at most 1,000 levels of JSON; a deeper configuration has no row.
 */
export const toolUses = `
  CREATE TABLE tool_uses (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    prompt_version INTEGER,
    agent INTEGER
  ) STRICT;
  CREATE INDEX tool_uses_by_name ON tool_uses (name, sequence);
  CREATE INDEX tool_uses_by_agent ON tool_uses (agent) WHERE agent IS NOT NULL;

  CREATE TRIGGER tool_uses_of_versions AFTER INSERT ON prompt_versions WHEN new.configuration_json IS NOT NULL BEGIN
    ${insertUses('prompt_version')}
  END;
  CREATE TRIGGER tool_uses_of_agents AFTER INSERT ON agents WHEN new.configuration_json IS NOT NULL BEGIN
    ${insertUses('agent')}
  END;
  CREATE TRIGGER tool_uses_of_changed_agents AFTER UPDATE OF configuration_json ON agents BEGIN
    DELETE FROM tool_uses WHERE agent = old.sequence;
    ${insertUses('agent')}
  END;
  CREATE TRIGGER tool_uses_of_deleted_agents AFTER DELETE ON agents BEGIN
    DELETE FROM tool_uses WHERE agent = old.sequence;
  END;

  ${insertUses('prompt_version', 'prompt_versions AS new, ')}
  ${insertUses('agent', 'agents AS new, ')}
`;

/**
 * 35. What judges preferred of two answers. The reason is in the judge's own runs, as that of a verdict is. `verdict` is `first` for `run_id`,
 * `second` for `other_run_id`, or `tie`.
 */
export const judgePreferences = `
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
`;

/**
 * 36. Reviewers and rubrics. `caller_id` is that of an API key or of the window, null for a person who chooses the name at the window.
 * `installation_id` is that of the installation that a merged file names, null for this one. `pin_hash` is that of scrypt with its salt.
 * Removed reviewers stay for their reviews.
 */
export const reviewersAndRubrics = `
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
  ) STRICT;
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
`;

/**
 * 37. Review queues. `input_json` is the plan and who reviews, `sampling_json` the population and its strata, `rubric_json` the pinned
 * version of the rubric. `is_hidden` is 2 until a queue has its items, 1 while they are deleted, otherwise 0. `done` counts the current reviews
 * without skips. Items of an imported queue have their texts in `review_item_contents`. Entries of the feedback history with a
 * `rubric_item_id` are answers of reviewers: text answers are in `score_text`, all others in `value_json`.
 */
export const reviewQueues = `
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
  ) STRICT;
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
  ) STRICT;
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

  ALTER TABLE feedback_history ADD COLUMN rubric_item_id TEXT;
  ALTER TABLE feedback_history ADD COLUMN value_json TEXT;
`;

/**
 * 38. Messages of recorded calls, which repeat their whole conversation: each refers to the one before it. `key` is the hash of all up to
 * it. `frames_json` is when the frames of a stream arrived.
 */
export const sharedMessages = `
  CREATE TABLE shared_messages (
    sequence INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    earlier INTEGER,
    json TEXT NOT NULL
  ) STRICT;
  CREATE INDEX shared_messages_by_earlier ON shared_messages (earlier) WHERE earlier IS NOT NULL;
  ALTER TABLE run_texts ADD COLUMN last_message INTEGER;
  ALTER TABLE run_texts ADD COLUMN frames_json TEXT;
  CREATE INDEX run_texts_by_last_message ON run_texts (last_message) WHERE last_message IS NOT NULL;
`;

/** 39. Labels by hand of a judge of preferences: which of two answers is better, `first` being that of `run_id`. */
export const judgePairLabels = `
  CREATE TABLE judge_pair_labels (
    judge INTEGER NOT NULL REFERENCES judges (sequence) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    other_run_id TEXT NOT NULL,
    is_held_out INTEGER NOT NULL,
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (judge, run_id, other_run_id)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * 40. API keys that several hosts share: `team_json` is the key as the team database last had it, `is_foreign` whether another host created it,
 * and `credits_elsewhere` what other hosts have used of it.
 */
export const sharedKeyColumns = `
  ALTER TABLE api_keys ADD COLUMN team_json TEXT;
  ALTER TABLE api_keys ADD COLUMN is_foreign INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE api_keys ADD COLUMN credits_elsewhere INTEGER NOT NULL DEFAULT 0;
`;

/** 41. Review queues that several hosts share: the number of the last change of the team database that is here; null for the others. */
export const sharedQueueColumn = `
  ALTER TABLE review_queues ADD COLUMN team_change INTEGER;
`;

/**
 * 42. Answers to long prompts. SQLite writes a whole row again for every change, so the answer has its own row where the prompt is already
 * on disk. `run_texts` is both, as one row: it is only read.
 */
export const lateAnswers = `
  ALTER TABLE run_texts RENAME TO stored_texts;
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
`;

/**
 * 43. Discussions of review items, and who asked for one more review of an item than its plan says: `second_json` is a `SecondReview`, and
 * `needed` includes that review.
 */
export const reviewComments = `
  CREATE TABLE review_comments (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES review_items (sequence) ON DELETE CASCADE,
    reviewer INTEGER NOT NULL REFERENCES reviewers (sequence),
    text TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX review_comments_by_item ON review_comments (item);
  ALTER TABLE review_items ADD COLUMN second_json TEXT;
`;

/**
 * 44. The run of a response, by which a later call continues it. `keeps_system` is whether its system message holds for that call, too:
 * instructions hold for one call only.
 */
export const continuedResponses = `
  ALTER TABLE call_threads ADD COLUMN run_id TEXT;
  ALTER TABLE call_threads ADD COLUMN keeps_system INTEGER NOT NULL DEFAULT 0;
`;

/**
 * 45. What an answer in a review queue answers, because the queue and its rubric can be deleted. `is_disagreeing` doesn't count decided
 * questions any more.
 */
export const answeredQuestions = `
  ALTER TABLE feedback_history ADD COLUMN question TEXT;
  UPDATE feedback_history SET question = found.question
  FROM (
    SELECT item.value ->> '$.id' AS id, item.value ->> '$.question' AS question, max(sequence)
    FROM review_queues, json_each(rubric_json, '$.items') AS item GROUP BY 1
  ) AS found
  WHERE rubric_item_id = found.id;
  UPDATE review_items SET is_disagreeing = 0 WHERE gold_at IS NOT NULL;
`;

/**
 * 46. A reviewer as the team database last had it: `team` identifies the database, `remote` is the reviewer there and `local` the one here at
 * that time. What differs from it was changed since, and isn't sent yet.
 */
export const sharedReviewers = 'ALTER TABLE reviewers ADD COLUMN team_json TEXT';

/** 47. What an item of a response is in the answer of its run, so that a later call can refer to it: an `AnswerItem`. */
export const referredItems = 'ALTER TABLE call_threads ADD COLUMN item_json TEXT';

/** 48. The ID of a removed run, by which it is removed from a team database that no longer knows it by its sequence. */
export const removedRunIds = 'ALTER TABLE run_changes ADD COLUMN run_id TEXT';
