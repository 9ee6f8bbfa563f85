/**
 * API keys and credits that several hosts share. Hosts notice changes by `version`: a lock makes its order the order of the commits.
 * `spent` and `ceiling` count all credits that a host has ever used of a key, and those that it may use, so that writing them twice changes nothing.
 */
export const sharedKeyTables = `
  CREATE TABLE touchstone.api_keys (
    id uuid PRIMARY KEY,
    version bigint NOT NULL,
    name text NOT NULL,
    caller_id uuid NOT NULL,
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    scopes text NOT NULL,
    credit_limit bigint CHECK (credit_limit BETWEEN 0 AND 1000000000),
    requests_per_minute bigint CHECK (requests_per_minute BETWEEN 1 AND 1000000000),
    tokens_per_minute bigint CHECK (tokens_per_minute BETWEEN 1 AND 1000000000),
    record_level text NOT NULL CHECK (record_level IN ('all', 'metadata', 'none')),
    created_at bigint NOT NULL,
    revoked_at bigint
  );
  CREATE INDEX ON touchstone.api_keys (version);
  CREATE SEQUENCE touchstone.api_key_versions;

  CREATE TABLE touchstone.credit_leases (
    key_id uuid NOT NULL REFERENCES touchstone.api_keys (id) ON DELETE CASCADE,
    host_id uuid NOT NULL,
    spent bigint NOT NULL CHECK (spent >= 0),
    ceiling bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, host_id)
  );
  CREATE INDEX ON touchstone.credit_leases (host_id);

  -- With the rights of their owner, so that a host needs none for the sequence.
  CREATE FUNCTION touchstone.note_api_key() RETURNS trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      -- Nobody gives a key to another caller or makes a revoked one valid.
      IF (NEW.id, NEW.hash, NEW.caller_id) IS DISTINCT FROM (OLD.id, OLD.hash, OLD.caller_id) THEN
        RAISE EXCEPTION 'The ID, the hash and the caller of a key never change.';
      END IF;
      NEW.revoked_at := coalesce(OLD.revoked_at, NEW.revoked_at);
    END IF;
    PERFORM pg_advisory_xact_lock(7420515119);
    NEW.version := nextval('touchstone.api_key_versions');
    PERFORM pg_notify('touchstone_keys', '');
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER note_new_api_key BEFORE INSERT ON touchstone.api_keys
    FOR EACH ROW EXECUTE FUNCTION touchstone.note_api_key();
  CREATE TRIGGER note_changed_api_key BEFORE UPDATE ON touchstone.api_keys
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION touchstone.note_api_key();
`;

/**
 * Review queues that several hosts share. Everything that changes a queue locks its row first and gets the next number of its changes, so
 * hosts see them in one order and no item gets more reservations than reviews that it needs. `written_by` is the user of the database.
 */
export const sharedReviewTables = `
  CREATE TABLE touchstone.reviewers (
    id uuid PRIMARY KEY,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    pin_hash text,
    caller_id uuid UNIQUE,
    is_removed boolean NOT NULL DEFAULT false
  );

  CREATE TABLE touchstone.review_queues (
    id uuid PRIMARY KEY,
    queue json NOT NULL,
    last_change bigint NOT NULL DEFAULT 0,
    is_ready boolean NOT NULL DEFAULT false,
    is_removed boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE touchstone.review_items (
    id uuid PRIMARY KEY,
    queue_id uuid NOT NULL REFERENCES touchstone.review_queues (id) ON DELETE CASCADE,
    position integer NOT NULL,
    item json NOT NULL,
    needed integer NOT NULL,
    done integer NOT NULL DEFAULT 0,
    is_removed boolean NOT NULL DEFAULT false,
    gold json,
    gold_by text,
    gold_at timestamptz,
    change bigint NOT NULL DEFAULT 0,
    UNIQUE (queue_id, position)
  );
  CREATE INDEX ON touchstone.review_items (queue_id, position) WHERE done < needed AND NOT is_removed;
  CREATE INDEX ON touchstone.review_items (queue_id, change) WHERE change > 0;

  CREATE TABLE touchstone.review_reservations (
    queue_id uuid NOT NULL REFERENCES touchstone.review_queues (id) ON DELETE CASCADE,
    reviewer_id uuid NOT NULL REFERENCES touchstone.reviewers (id),
    item_id uuid NOT NULL REFERENCES touchstone.review_items (id) ON DELETE CASCADE,
    started_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (queue_id, reviewer_id)
  );
  CREATE INDEX ON touchstone.review_reservations (item_id);

  CREATE TABLE touchstone.reviews (
    id uuid PRIMARY KEY,
    queue_id uuid NOT NULL REFERENCES touchstone.review_queues (id) ON DELETE CASCADE,
    item_id uuid NOT NULL REFERENCES touchstone.review_items (id) ON DELETE CASCADE,
    reviewer_id uuid NOT NULL REFERENCES touchstone.reviewers (id),
    kind text NOT NULL CHECK (kind IN ('review', 'skip')),
    answers json NOT NULL,
    note text,
    seconds double precision NOT NULL,
    created_at timestamptz NOT NULL,
    replaces uuid,
    is_current boolean NOT NULL,
    change bigint NOT NULL,
    written_by name NOT NULL DEFAULT session_user,
    UNIQUE (queue_id, change)
  );
  CREATE UNIQUE INDEX ON touchstone.reviews (item_id, reviewer_id) WHERE is_current;
  CREATE INDEX ON touchstone.reviews (queue_id, reviewer_id, change);

  -- Null when nothing is left, and an object without an item if the reviewer can't have the one that is asked for.
  CREATE FUNCTION touchstone.reserve_review_item(of_queue uuid, for_reviewer uuid, asked uuid, minutes integer) RETURNS json
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    moment timestamptz;
    chosen uuid := asked;
    start integer;
    candidate touchstone.review_items;
    held integer;
    own boolean;
  BEGIN
    PERFORM 1 FROM touchstone.review_queues WHERE id = of_queue AND is_ready AND NOT is_removed FOR UPDATE;
    IF NOT FOUND THEN RETURN '{}'; END IF;
    moment := clock_timestamp();
    IF chosen IS NULL THEN
      SELECT item_id INTO chosen FROM touchstone.review_reservations
      WHERE queue_id = of_queue AND reviewer_id = for_reviewer AND expires_at > moment;
    END IF;
    IF chosen IS NULL THEN
      SELECT position + 1 INTO start FROM touchstone.reviews JOIN touchstone.review_items ON review_items.id = item_id
      WHERE reviews.queue_id = of_queue AND reviewer_id = for_reviewer ORDER BY reviews.change DESC LIMIT 1;
      -- Forward from the last reviewed item, then those before it.
      FOR candidate IN
        (SELECT * FROM touchstone.review_items WHERE queue_id = of_queue AND done < needed AND NOT is_removed
          AND position >= coalesce(start, 0) ORDER BY position)
        UNION ALL
        (SELECT * FROM touchstone.review_items WHERE queue_id = of_queue AND done < needed AND NOT is_removed
          AND position < coalesce(start, 0) ORDER BY position)
      LOOP
        SELECT count(*) INTO held FROM touchstone.review_reservations
        WHERE item_id = candidate.id AND reviewer_id <> for_reviewer AND expires_at > moment;
        CONTINUE WHEN candidate.done + held >= candidate.needed;
        CONTINUE WHEN EXISTS (SELECT 1 FROM touchstone.reviews
          WHERE item_id = candidate.id AND reviewer_id = for_reviewer AND is_current);
        chosen := candidate.id;
        EXIT;
      END LOOP;
      IF chosen IS NULL THEN RETURN NULL; END IF;
    ELSE
      SELECT * INTO candidate FROM touchstone.review_items WHERE id = chosen AND queue_id = of_queue;
      IF NOT FOUND OR candidate.is_removed THEN RETURN '{}'; END IF;
      SELECT count(*) INTO held FROM touchstone.review_reservations
      WHERE item_id = chosen AND reviewer_id <> for_reviewer AND expires_at > moment;
      own := EXISTS (SELECT 1 FROM touchstone.reviews
        WHERE item_id = chosen AND reviewer_id = for_reviewer AND is_current AND kind = 'review');
      -- A review can be changed as long as nobody has seen it, or there is no other one.
      IF own AND (candidate.gold IS NOT NULL OR (candidate.done >= candidate.needed AND candidate.done > 1)) THEN
        RETURN '{}';
      END IF;
      IF NOT own AND candidate.done + held >= candidate.needed THEN RETURN '{}'; END IF;
    END IF;
    INSERT INTO touchstone.review_reservations AS r (queue_id, reviewer_id, item_id, started_at, expires_at)
    VALUES (of_queue, for_reviewer, chosen, moment, moment + minutes * interval '1 minute')
    ON CONFLICT (queue_id, reviewer_id) DO UPDATE SET item_id = excluded.item_id, expires_at = excluded.expires_at,
      started_at = CASE WHEN r.item_id = excluded.item_id AND r.expires_at > moment THEN r.started_at ELSE moment END;
    RETURN json_build_object('itemId', chosen);
  END
  $body$;

  -- False without a valid reservation. A review that is sent twice is stored once.
  CREATE FUNCTION touchstone.add_review(of_queue uuid, of_item uuid, by_reviewer uuid, review_id uuid, review_kind text,
    review_answers json, review_note text) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    moment timestamptz;
    began timestamptz;
    earlier uuid;
    number bigint;
  BEGIN
    PERFORM 1 FROM touchstone.review_queues WHERE id = of_queue AND NOT is_removed FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT 1 FROM touchstone.reviews WHERE id = review_id) THEN RETURN true; END IF;
    moment := clock_timestamp();
    DELETE FROM touchstone.review_reservations
    WHERE queue_id = of_queue AND reviewer_id = by_reviewer AND item_id = of_item AND expires_at > moment
    RETURNING started_at INTO began;
    IF began IS NULL THEN RETURN false; END IF;
    UPDATE touchstone.reviews SET is_current = false WHERE item_id = of_item AND reviewer_id = by_reviewer AND is_current
    RETURNING id INTO earlier;
    UPDATE touchstone.review_queues SET last_change = last_change + 1 WHERE id = of_queue RETURNING last_change INTO number;
    INSERT INTO touchstone.reviews (id, queue_id, item_id, reviewer_id, kind, answers, note, seconds, created_at, replaces,
      is_current, change)
    VALUES (review_id, of_queue, of_item, by_reviewer, review_kind, review_answers, review_note,
      extract(epoch FROM moment - began), moment, earlier, true, number);
    UPDATE touchstone.review_items SET done = (SELECT count(*) FROM touchstone.reviews
      WHERE item_id = of_item AND is_current AND kind = 'review') WHERE id = of_item;
    RETURN true;
  END
  $body$;

  -- False until the item has all its reviews.
  CREATE FUNCTION touchstone.decide_review_item(of_queue uuid, of_item uuid, decided json, by_name text) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    number bigint;
  BEGIN
    PERFORM 1 FROM touchstone.review_queues WHERE id = of_queue AND NOT is_removed FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    SELECT last_change + 1 INTO number FROM touchstone.review_queues WHERE id = of_queue;
    UPDATE touchstone.review_items SET gold = decided, gold_by = by_name, gold_at = clock_timestamp(), change = number
    WHERE id = of_item AND queue_id = of_queue AND done >= needed AND NOT is_removed;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE touchstone.review_queues SET last_change = number WHERE id = of_queue;
    RETURN true;
  END
  $body$;

  -- The texts of deleted and anonymised runs go, too, with what people wrote about them.
  CREATE FUNCTION touchstone.remove_review_items(of_queue uuid, removed uuid[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    number bigint;
  BEGIN
    UPDATE touchstone.review_queues SET last_change = last_change + 1 WHERE id = of_queue RETURNING last_change INTO number;
    UPDATE touchstone.review_items SET is_removed = true, done = 0, gold = NULL, gold_by = NULL, gold_at = NULL, change = number,
      item = (item::jsonb || '{"content": null}')::json
    WHERE queue_id = of_queue AND id = ANY(removed) AND NOT is_removed;
    DELETE FROM touchstone.reviews WHERE queue_id = of_queue AND item_id = ANY(removed);
    DELETE FROM touchstone.review_reservations WHERE queue_id = of_queue AND item_id = ANY(removed);
  END
  $body$;
  REVOKE ALL ON FUNCTION touchstone.reserve_review_item, touchstone.add_review, touchstone.decide_review_item,
    touchstone.remove_review_items FROM PUBLIC;
`;
