import { guardedFunctions, guardedTables } from './guarded-tables.ts';
import { endRevisions, reserveItemAtOnce } from './reserve-item.ts';
import { reviewDiscussions } from './review-discussions.ts';
import { sharedKeyTables, sharedReviewTables } from './shared-tables.ts';

/**
 * The tables of the team database, in the schema `touchstone`. Times are milliseconds since 1970. `sequence` is the order in which runs
 * arrived: the state's row is locked while runs are written, so a higher one is never visible before a lower one.
 */
const firstTables = `
  CREATE TABLE touchstone.state (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    last_sequence bigint NOT NULL DEFAULT 0,
    token_secret text NOT NULL
  );
  INSERT INTO touchstone.state (token_secret) VALUES (gen_random_uuid()::text || gen_random_uuid()::text);

  CREATE TABLE touchstone.hosts (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    copied_run bigint NOT NULL DEFAULT 0,
    copied_run_id uuid,
    copied_revision bigint NOT NULL DEFAULT 0,
    active bigint[] NOT NULL DEFAULT '{}',
    rejected bigint NOT NULL DEFAULT 0,
    seen_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE touchstone.callers (caller_id uuid PRIMARY KEY, name text NOT NULL);

  CREATE TABLE touchstone.conversations (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    caller_id uuid NOT NULL,
    workspace_id uuid,
    created_at bigint NOT NULL,
    turns_before integer NOT NULL
  );

  CREATE TABLE touchstone.runs (
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    host_id uuid NOT NULL,
    position bigint,
    conversation_id uuid NOT NULL,
    previous_sequence bigint,
    next_sequence bigint,
    workspace_id uuid,
    created_at bigint NOT NULL,
    first_token_ms double precision,
    total_ms double precision,
    prompt_tokens double precision,
    completion_tokens double precision,
    total_tokens double precision,
    cost double precision,
    score integer,
    score_text text,
    score_tags text,
    score_search text,
    feedback_at bigint,
    terms text[] NOT NULL,
    row json NOT NULL,
    PRIMARY KEY (id, created_at)
  ) PARTITION BY RANGE (created_at);
  CREATE TABLE touchstone.runs_other PARTITION OF touchstone.runs DEFAULT;
  CREATE INDEX ON touchstone.runs (created_at, conversation_id);
  CREATE INDEX ON touchstone.runs (conversation_id, sequence);
  CREATE INDEX ON touchstone.runs (sequence);
  CREATE INDEX ON touchstone.runs (host_id, position);
  CREATE INDEX ON touchstone.runs USING gin (terms);
  CREATE INDEX ON touchstone.runs (total_ms DESC NULLS LAST, sequence DESC);
  CREATE INDEX ON touchstone.runs (cost DESC NULLS LAST, sequence DESC);
  CREATE INDEX ON touchstone.runs (score, sequence DESC);
  CREATE INDEX ON touchstone.runs (first_token_ms);
  CREATE INDEX ON touchstone.runs (total_tokens);
  CREATE INDEX ON touchstone.runs (sequence) WHERE score_search IS NOT NULL;
  CREATE INDEX ON touchstone.runs (workspace_id, created_at);

  CREATE TABLE touchstone.run_texts (
    sequence bigint NOT NULL,
    created_at bigint NOT NULL,
    conversation_id uuid NOT NULL,
    workspace_id uuid,
    contents json NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (sequence, created_at)
  ) PARTITION BY RANGE (created_at);
  CREATE TABLE touchstone.run_texts_other PARTITION OF touchstone.run_texts DEFAULT;
  CREATE INDEX ON touchstone.run_texts USING gin (words);

  CREATE TABLE touchstone.feedback_history (
    sequence bigint GENERATED ALWAYS AS IDENTITY,
    id uuid PRIMARY KEY,
    run_id uuid NOT NULL,
    workspace_id uuid,
    reviewer text,
    score integer,
    score_text text,
    score_tags text,
    rubric_item_id uuid,
    value_json text,
    created_at bigint NOT NULL
  );
  CREATE INDEX ON touchstone.feedback_history (run_id, sequence);

  -- How many runs have a term, so that facets need no scan.
  CREATE TABLE touchstone.terms (term text PRIMARY KEY, runs bigint NOT NULL);
  CREATE INDEX ON touchstone.terms (split_part(term, '=', 1), runs DESC);

  -- The workspaces that a role may see, for the policies of docs/team.md.
  CREATE TABLE touchstone.auditors (role name NOT NULL, workspace_id uuid NOT NULL, PRIMARY KEY (role, workspace_id));

  ALTER TABLE touchstone.conversations ENABLE ROW LEVEL SECURITY;
  ALTER TABLE touchstone.runs ENABLE ROW LEVEL SECURITY;
  ALTER TABLE touchstone.run_texts ENABLE ROW LEVEL SECURITY;
  ALTER TABLE touchstone.feedback_history ENABLE ROW LEVEL SECURITY;

  -- Creates the partitions of a month (in UTC) with the rights of their owner, so that a writer needs none to change tables.
  CREATE FUNCTION touchstone.create_partition(month date) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    first bigint := extract(epoch FROM date_trunc('month', month::timestamp)) * 1000;
    after bigint := extract(epoch FROM date_trunc('month', month::timestamp) + interval '1 month') * 1000;
    suffix text := to_char(month, 'YYYY_MM');
  BEGIN
    IF to_regclass('touchstone.runs_' || suffix) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE touchstone.%I PARTITION OF touchstone.runs FOR VALUES FROM (%s) TO (%s)',
      'runs_' || suffix, first, after);
    EXECUTE format('CREATE TABLE touchstone.%I PARTITION OF touchstone.run_texts FOR VALUES FROM (%s) TO (%s)',
      'run_texts_' || suffix, first, after);
  END
  $body$;
  REVOKE ALL ON FUNCTION touchstone.create_partition FROM PUBLIC;
`;

/**
 * Counts and sums of each day in UTC, kept by whoever writes runs, so that figures over all runs need no scan. `day` counts from 1970-01-01.
 * Amounts are decimals: floating-point sums would not return to zero after removals.
 */
const dayTables = `
  CREATE TABLE touchstone.day_models (
    day integer NOT NULL,
    model text NOT NULL,
    runs bigint NOT NULL,
    failed bigint NOT NULL,
    prompt_tokens numeric NOT NULL,
    completion_tokens numeric NOT NULL,
    total_tokens numeric NOT NULL,
    cost numeric NOT NULL,
    without_cost bigint NOT NULL,
    feedback bigint NOT NULL,
    scored bigint NOT NULL,
    score bigint NOT NULL,
    PRIMARY KEY (day, model)
  );
  CREATE TABLE touchstone.day_terms (day integer NOT NULL, term text NOT NULL, runs bigint NOT NULL, PRIMARY KEY (day, term));
  CREATE TABLE touchstone.day_durations (
    day integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('total_ms', 'first_token_ms')),
    class integer NOT NULL,
    runs bigint NOT NULL,
    longest double precision NOT NULL,
    PRIMARY KEY (day, kind, class)
  );

  ALTER TABLE touchstone.runs ADD COLUMN status text NOT NULL DEFAULT '', ADD COLUMN served_model text NOT NULL DEFAULT '';
  UPDATE touchstone.runs SET
    status = coalesce((SELECT substr(term, 8) FROM unnest(terms) AS term WHERE term LIKE 'status=%'), ''),
    served_model = coalesce((SELECT substr(term, 14) FROM unnest(terms) AS term WHERE term LIKE 'served-model=%'), '');

  -- What a line of a list shows is read for a page only, so it is kept away from what is counted.
  ALTER TABLE touchstone.run_texts ADD COLUMN "row" json;
  UPDATE touchstone.run_texts SET "row" = runs."row" FROM touchstone.runs
  WHERE runs.sequence = run_texts.sequence AND runs.created_at = run_texts.created_at;
  ALTER TABLE touchstone.runs DROP COLUMN "row";
  ALTER TABLE touchstone.run_texts ALTER COLUMN "row" SET NOT NULL;

  INSERT INTO touchstone.day_models
  SELECT floor(created_at / 86400000.0), served_model, count(*), count(*) FILTER (WHERE status = 'Failed'),
    coalesce(sum(prompt_tokens::text::numeric), 0), coalesce(sum(completion_tokens::text::numeric), 0),
    coalesce(sum(total_tokens::text::numeric), 0), coalesce(sum(cost::text::numeric), 0), count(*) FILTER (WHERE cost IS NULL),
    count(*) FILTER (WHERE num_nonnulls(score, score_text, score_tags) > 0), count(score), coalesce(sum(score), 0)
  FROM touchstone.runs GROUP BY 1, 2;
  INSERT INTO touchstone.day_terms
  SELECT floor(created_at / 86400000.0), term, count(*)
  FROM touchstone.runs, LATERAL (SELECT unnest(terms) AS term UNION ALL SELECT 'score=' || score WHERE score IS NOT NULL) AS found
  WHERE split_part(term, '=', 1) IN ('served-model', 'ai-system', 'caller', 'status', 'origin', 'client', 'finish-reason',
    'error-code', 'moderation', 'tag', 'score')
  GROUP BY 1, 2;
  INSERT INTO touchstone.day_durations
  SELECT floor(created_at / 86400000.0), kind,
    CASE WHEN value <= 0.01 THEN 0 ELSE least(2599, floor((ln(value) - ln(0.01::float8)) / ln(1.01::float8))) END,
    count(*), max(value)
  FROM touchstone.runs, LATERAL (VALUES ('total_ms', total_ms), ('first_token_ms', first_token_ms)) AS durations (kind, value)
  WHERE value IS NOT NULL GROUP BY 1, 2, 3;
  INSERT INTO touchstone.terms SELECT 'all=conversations', count(*) FROM touchstone.conversations HAVING count(*) > 0;

  -- Compressing texts with the older method takes a third of the time of copying.
  DO $body$
  DECLARE
    partition regclass;
  BEGIN
    ALTER TABLE touchstone.run_texts ALTER COLUMN contents SET COMPRESSION lz4, ALTER COLUMN words SET COMPRESSION lz4;
    FOR partition IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'touchstone.run_texts'::regclass LOOP
      EXECUTE format('ALTER TABLE %s ALTER COLUMN contents SET COMPRESSION lz4, ALTER COLUMN words SET COMPRESSION lz4',
        partition);
    END LOOP;
  EXCEPTION WHEN feature_not_supported THEN
    -- This server was built without it.
  END
  $body$;
`;

/**
 * When the runs of a conversation were created: a list of a range of dates also has conversations that continued after it, or began before
 * it, and finds them here instead of among all later runs. Removed runs leave the range as it is.
 */
const conversationTimes = `
  ALTER TABLE touchstone.conversations ADD COLUMN earliest_at bigint, ADD COLUMN latest_at bigint;
  UPDATE touchstone.conversations SET earliest_at = found.earliest_at, latest_at = found.latest_at
  FROM (SELECT conversation_id, min(created_at) AS earliest_at, max(created_at) AS latest_at FROM touchstone.runs
    GROUP BY conversation_id) AS found
  WHERE found.conversation_id = conversations.id;
  UPDATE touchstone.conversations SET earliest_at = created_at, latest_at = created_at WHERE earliest_at IS NULL;
  ALTER TABLE touchstone.conversations ALTER COLUMN earliest_at SET NOT NULL, ALTER COLUMN latest_at SET NOT NULL;
  CREATE INDEX ON touchstone.conversations USING gist (int8range(earliest_at, latest_at, '[]')) WHERE earliest_at < latest_at;
`;

/** Deleting an item looks for its reviews. */
const reviewsOfItems = 'CREATE INDEX ON touchstone.reviews (item_id)';

/** Two people may decide different questions of one item at the same time: each adds to what is decided. */
const decideByQuestion = `
  CREATE OR REPLACE FUNCTION touchstone.decide_review_item(of_queue uuid, of_item uuid, decided json, by_name text) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    number bigint;
  BEGIN
    SELECT last_change + 1 INTO number FROM touchstone.review_queues WHERE id = of_queue AND NOT is_removed FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE touchstone.review_items SET gold_by = by_name, gold_at = clock_timestamp(), change = number,
      gold = (SELECT json_agg(answer) FROM (
        SELECT value AS answer FROM json_array_elements(coalesce(gold, '[]'::json))
        WHERE value ->> 'rubricItemId' NOT IN (SELECT value ->> 'rubricItemId' FROM json_array_elements(decided))
        UNION ALL SELECT value FROM json_array_elements(decided)) AS merged)
    WHERE id = of_item AND queue_id = of_queue AND done >= needed AND NOT is_removed;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE touchstone.review_queues SET last_change = number WHERE id = of_queue;
    RETURN true;
  END
  $body$;
`;

/** What an answer in a review queue answers, because its rubric stays on the host that has the queue. */
const answeredQuestions = 'ALTER TABLE touchstone.feedback_history ADD COLUMN question text';

/**
 * A host that isn't heard of keeps what it has in reserve, because it may use that without the database. `mark` tells the data folder of a
 * host from copies of it. Before this, reserves ended at `expires_at`, and others may use those that have.
 */
const lastingReserves = `
  ALTER TABLE touchstone.credit_leases ADD COLUMN mark text;
  UPDATE touchstone.credit_leases SET ceiling = spent WHERE ceiling > spent AND expires_at <= now();
  ALTER TABLE touchstone.hosts ADD COLUMN removed_at timestamptz;
`;

/** All migrations, oldest first. `touchstone.migrations` has a row for each that was applied. Only append. */
export const migrations: readonly string[] = [
  firstTables,
  dayTables,
  sharedKeyTables,
  sharedReviewTables,
  conversationTimes,
  reviewsOfItems,
  reserveItemAtOnce,
  reviewDiscussions,
  decideByQuestion,
  answeredQuestions,
  lastingReserves,
  guardedTables,
  guardedFunctions,
  // Databases of an earlier version have its first form.
  reserveItemAtOnce + endRevisions,
];
