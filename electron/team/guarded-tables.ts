/**
 * What users with rights on the tables could do by statements of their own, and hosts never do. Without `pg_temp` at the end, functions
 * look there for types first: a user's own type `text` would run its check with the rights of their owner.
 */
export const guardedTables = `
  DO $body$
  DECLARE
    definer regprocedure;
  BEGIN
    FOR definer IN SELECT oid FROM pg_proc WHERE pronamespace = 'touchstone'::regnamespace AND prosecdef LOOP
      EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', definer);
    END LOOP;
  END
  $body$;

  CREATE OR REPLACE FUNCTION touchstone.create_partition(month date) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
  DECLARE
    first bigint := extract(epoch FROM date_trunc('month', month::timestamp)) * 1000;
    after bigint := extract(epoch FROM date_trunc('month', month::timestamp) + interval '1 month') * 1000;
    suffix text := to_char(month, 'YYYY_MM');
  BEGIN
    IF extract(year FROM month) NOT BETWEEN 2000 AND 2099 THEN
      RAISE EXCEPTION 'Runs of other years share one partition.';
    END IF;
    IF to_regclass('touchstone.runs_' || suffix) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE touchstone.%I PARTITION OF touchstone.runs FOR VALUES FROM (%s) TO (%s)',
      'runs_' || suffix, first, after);
    EXECUTE format('CREATE TABLE touchstone.%I PARTITION OF touchstone.run_texts FOR VALUES FROM (%s) TO (%s)',
      'run_texts_' || suffix, first, after);
  END
  $body$;

  CREATE FUNCTION touchstone.guard_state() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    -- A batch has a thousand runs, and those that were active before.
    IF NEW.token_secret <> OLD.token_secret OR NEW.last_sequence NOT BETWEEN OLD.last_sequence AND OLD.last_sequence + 100000 THEN
      RAISE EXCEPTION 'The order of the runs only continues, and the secret never changes.';
    END IF;
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER guard_state BEFORE UPDATE ON touchstone.state FOR EACH ROW EXECUTE FUNCTION touchstone.guard_state();

  CREATE FUNCTION touchstone.guard_feedback() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    -- Of an anonymised run, the comment goes.
    IF to_jsonb(NEW) - 'score_text' - 'workspace_id' <> to_jsonb(OLD) - 'score_text' - 'workspace_id' THEN
      RAISE EXCEPTION 'Feedback is only added.';
    END IF;
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER guard_feedback BEFORE UPDATE ON touchstone.feedback_history
    FOR EACH ROW EXECUTE FUNCTION touchstone.guard_feedback();

  CREATE FUNCTION touchstone.guard_credits() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    IF NEW.spent < OLD.spent OR (NEW.key_id, NEW.host_id) <> (OLD.key_id, OLD.host_id) THEN
      RAISE EXCEPTION 'Credits that were used stay used.';
    END IF;
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER guard_credits BEFORE UPDATE ON touchstone.credit_leases
    FOR EACH ROW EXECUTE FUNCTION touchstone.guard_credits();

  CREATE FUNCTION touchstone.guard_queue() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    IF NEW.id <> OLD.id OR NEW.last_change NOT BETWEEN OLD.last_change AND OLD.last_change + 1 OR (OLD.is_removed AND NOT NEW.is_removed) THEN
      RAISE EXCEPTION 'The changes of a queue only continue, and a removed queue stays removed.';
    END IF;
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER guard_queue BEFORE UPDATE ON touchstone.review_queues
    FOR EACH ROW EXECUTE FUNCTION touchstone.guard_queue();

  CREATE FUNCTION touchstone.guard_item() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    IF NEW.done <> 0 OR NEW.is_removed OR num_nonnulls(NEW.gold, NEW.gold_by, NEW.gold_at, NEW.second) > 0 THEN
      RAISE EXCEPTION 'A new item of a queue has no reviews and no decision.';
    END IF;
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER guard_item BEFORE INSERT ON touchstone.review_items FOR EACH ROW EXECUTE FUNCTION touchstone.guard_item();

  CREATE FUNCTION touchstone.guard_reservation() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
  BEGIN
    IF NEW.expires_at > clock_timestamp() + interval '1441 minutes' THEN
      RAISE EXCEPTION 'An item is reserved for a day at most.';
    END IF;
    RETURN NEW;
  END
  $body$;
  CREATE TRIGGER guard_reservation BEFORE INSERT OR UPDATE ON touchstone.review_reservations
    FOR EACH ROW EXECUTE FUNCTION touchstone.guard_reservation();
`;

/**
 * Triggers run without this right, but creating one needs it: on a temporary table of a user, `note_api_key` would run the checks of the
 * user's own types with the rights of its owner.
 */
export const guardedFunctions = 'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA touchstone FROM PUBLIC';
