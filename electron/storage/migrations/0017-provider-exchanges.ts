/**
 * What was sent to the provider for a run, and its raw response. Beside the runs and written after them, so that recording a run costs
 * nothing more. It goes with its run, and when its run is made anonymous.
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
