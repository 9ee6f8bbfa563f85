/**
 * How often each version of a prompt ran and how it did, kept up by whatever changes runs and feedback: counting the runs
 * when someone looks would take as long as there are runs, on the thread that answers. Runs without a version pay nothing.
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
