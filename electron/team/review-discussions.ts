/**
 * Discussions, and requests for one more review: `second` says who asked, and `needed` includes that review. Whoever may review may also do
 * both, without new SQL of the owner.
 */
export const reviewDiscussions = `
  ALTER TABLE touchstone.review_items ADD COLUMN second json;
  CREATE INDEX ON touchstone.review_items (queue_id) WHERE second IS NOT NULL;

  CREATE TABLE touchstone.review_comments (
    id uuid PRIMARY KEY,
    queue_id uuid NOT NULL REFERENCES touchstone.review_queues (id) ON DELETE CASCADE,
    item_id uuid NOT NULL REFERENCES touchstone.review_items (id) ON DELETE CASCADE,
    reviewer_id uuid NOT NULL REFERENCES touchstone.reviewers (id),
    body text NOT NULL,
    created_at timestamptz NOT NULL,
    change bigint NOT NULL,
    written_by name NOT NULL DEFAULT session_user,
    UNIQUE (queue_id, change)
  );
  CREATE INDEX ON touchstone.review_comments (item_id);

  -- False if the item has all its reviews or such a request, or the reviewer neither holds it nor may decide.
  CREATE FUNCTION touchstone.request_second_review(of_queue uuid, of_item uuid, by_reviewer uuid, request json, may_decide boolean,
    most integer) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    number bigint;
  BEGIN
    SELECT last_change + 1 INTO number FROM touchstone.review_queues WHERE id = of_queue AND NOT is_removed FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF NOT may_decide AND NOT EXISTS (SELECT 1 FROM touchstone.review_reservations
      WHERE queue_id = of_queue AND reviewer_id = by_reviewer AND item_id = of_item AND expires_at > clock_timestamp()) THEN
      RETURN false;
    END IF;
    UPDATE touchstone.review_items SET second = request, needed = needed + 1, change = number
    WHERE id = of_item AND queue_id = of_queue AND second IS NULL AND done < needed AND needed < most AND NOT is_removed;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE touchstone.review_queues SET last_change = number WHERE id = of_queue;
    RETURN true;
  END
  $body$;

  -- False until the item has all its reviews. A comment that is sent twice is stored once.
  CREATE FUNCTION touchstone.add_review_comment(of_queue uuid, of_item uuid, by_reviewer uuid, comment_id uuid, comment_text text)
  RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    number bigint;
  BEGIN
    SELECT last_change + 1 INTO number FROM touchstone.review_queues WHERE id = of_queue AND NOT is_removed FOR UPDATE;
    IF NOT FOUND THEN RETURN false; END IF;
    IF EXISTS (SELECT 1 FROM touchstone.review_comments WHERE id = comment_id) THEN RETURN true; END IF;
    IF NOT EXISTS (SELECT 1 FROM touchstone.review_items
      WHERE id = of_item AND queue_id = of_queue AND done >= needed AND NOT is_removed) THEN
      RETURN false;
    END IF;
    INSERT INTO touchstone.review_comments (id, queue_id, item_id, reviewer_id, body, created_at, change)
    VALUES (comment_id, of_queue, of_item, by_reviewer, comment_text, clock_timestamp(), number);
    UPDATE touchstone.review_queues SET last_change = number WHERE id = of_queue;
    RETURN true;
  END
  $body$;

  -- The texts of deleted and anonymised runs go, too, with what people wrote about them.
  CREATE OR REPLACE FUNCTION touchstone.remove_review_items(of_queue uuid, removed uuid[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $body$
  DECLARE
    number bigint;
  BEGIN
    UPDATE touchstone.review_queues SET last_change = last_change + 1 WHERE id = of_queue RETURNING last_change INTO number;
    UPDATE touchstone.review_items SET is_removed = true, done = 0, gold = NULL, gold_by = NULL, gold_at = NULL, change = number,
      needed = needed - CASE WHEN second IS NULL THEN 0 ELSE 1 END, second = NULL,
      item = (item::jsonb || '{"content": null}')::json
    WHERE queue_id = of_queue AND id = ANY(removed) AND NOT is_removed;
    DELETE FROM touchstone.reviews WHERE queue_id = of_queue AND item_id = ANY(removed);
    DELETE FROM touchstone.review_comments WHERE queue_id = of_queue AND item_id = ANY(removed);
    DELETE FROM touchstone.review_reservations WHERE queue_id = of_queue AND item_id = ANY(removed);
  END
  $body$;

  REVOKE ALL ON FUNCTION touchstone.request_second_review, touchstone.add_review_comment FROM PUBLIC;
  DO $body$
  DECLARE
    role text;
  BEGIN
    FOR role IN
      SELECT DISTINCT granted.grantee::regrole::text FROM pg_proc, aclexplode(proacl) AS granted
      WHERE pg_proc.oid = 'touchstone.add_review(uuid, uuid, uuid, uuid, text, json, text)'::regprocedure
        AND granted.privilege_type = 'EXECUTE' AND granted.grantee <> 0
    LOOP
      EXECUTE 'GRANT EXECUTE ON FUNCTION touchstone.request_second_review, touchstone.add_review_comment TO ' || role;
      EXECUTE 'GRANT SELECT ON touchstone.review_comments TO ' || role;
    END LOOP;
  END
  $body$;
`;
