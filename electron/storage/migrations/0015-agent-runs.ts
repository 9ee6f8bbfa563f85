/**
 * Which agent made a run. Beside the runs, so that recording any other run costs nothing; written when a turn is accepted, which may be a
 * moment before its run is.
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
