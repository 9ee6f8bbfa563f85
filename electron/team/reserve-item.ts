/** A reservation of someone else from whom a review is still to come. Who changes an own review takes no other reviewer's place. */
const isToCome = `other.reviewer_id <> for_reviewer AND other.expires_at > moment
            AND NOT EXISTS (SELECT 1 FROM touchstone.reviews AS own WHERE own.item_id = other.item_id
              AND own.reviewer_id = other.reviewer_id AND own.is_current AND own.kind = 'review')`;

/** Replaces the function of `shared-tables.ts`, which looked at one item after the other while it had the queue's lock. */
export const reserveItemAtOnce = `
  -- Null when nothing is left, and an object without an item if the reviewer can't have the one that is asked for.
  CREATE OR REPLACE FUNCTION touchstone.reserve_review_item(of_queue uuid, for_reviewer uuid, asked uuid, minutes integer) RETURNS json
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
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
      start := coalesce(start, 0);
      -- Forward from the last reviewed item. Mostly one of the next ones is free.
      SELECT next.id INTO chosen FROM (
        SELECT id, position, done, needed FROM touchstone.review_items
        WHERE queue_id = of_queue AND done < needed AND NOT is_removed AND position >= start ORDER BY position LIMIT 100
      ) AS next
      WHERE NOT EXISTS (SELECT 1 FROM touchstone.reviews
          WHERE item_id = next.id AND reviewer_id = for_reviewer AND is_current)
        AND done + (SELECT count(*) FROM touchstone.review_reservations AS other
          WHERE other.item_id = next.id AND ${isToCome}) < needed
      ORDER BY position LIMIT 1;
      IF chosen IS NULL THEN
        -- Otherwise all are compared at once: one after the other would take ten times as long, and others wait meanwhile.
        SELECT item.id INTO chosen FROM touchstone.review_items AS item LEFT JOIN (
          SELECT other.item_id, count(*) AS reserved FROM touchstone.review_reservations AS other
          WHERE other.queue_id = of_queue AND ${isToCome} GROUP BY other.item_id
        ) AS others ON others.item_id = item.id
        WHERE item.queue_id = of_queue AND item.done + coalesce(others.reserved, 0) < item.needed AND NOT item.is_removed
          AND NOT EXISTS (SELECT 1 FROM touchstone.reviews WHERE reviews.queue_id = of_queue
            AND reviews.item_id = item.id AND reviewer_id = for_reviewer AND is_current)
        ORDER BY item.position < start, item.position LIMIT 1;
      END IF;
      IF chosen IS NULL THEN RETURN NULL; END IF;
    ELSE
      SELECT * INTO candidate FROM touchstone.review_items WHERE id = chosen AND queue_id = of_queue;
      IF NOT FOUND OR candidate.is_removed THEN RETURN '{}'; END IF;
      SELECT count(*) INTO held FROM touchstone.review_reservations AS other
      WHERE other.item_id = chosen AND ${isToCome};
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
`;

/** Nobody changes an own review after the others could be seen. */
export const endRevisions = `
  CREATE FUNCTION touchstone.end_reservations() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    DELETE FROM touchstone.review_reservations WHERE item_id = NEW.id;
    RETURN NULL;
  END
  $body$;
  REVOKE EXECUTE ON FUNCTION touchstone.end_reservations FROM PUBLIC;
  CREATE TRIGGER end_reservations AFTER UPDATE OF done, gold ON touchstone.review_items
    FOR EACH ROW WHEN (NEW.done >= NEW.needed OR NEW.gold IS NOT NULL) EXECUTE FUNCTION touchstone.end_reservations();
`;
