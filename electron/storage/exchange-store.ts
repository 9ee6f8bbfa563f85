import type Database from 'better-sqlite3';

export interface StoredExchange {
  readonly runId: string;
  readonly json: string;
}

/** Provider exchanges of runs, as JSON. */
export interface ExchangeStore {
  /** Writes all in one transaction. Skips runs that were deleted or anonymised meanwhile. */
  write(exchanges: readonly StoredExchange[]): void;
  read(runId: string): string | null;
  /** Deletes at most `limit` of all but the newest `keep`, oldest first, and returns how many. */
  prune(keep: number, limit: number): number;
}

export function createExchangeStore(database: Database.Database): ExchangeStore {
  const insert = database.prepare<[StoredExchange]>(
    `INSERT OR REPLACE INTO provider_exchanges (run_id, exchanges_json)
     SELECT id, @json FROM runs WHERE id = @runId AND is_anonymous = 0`,
  );
  const read = database
    .prepare<[string], string>('SELECT exchanges_json FROM provider_exchanges WHERE run_id = ?')
    .pluck();
  // By sequence, because counting would read a thousand pages after every run.
  const prune = database.prepare<[{ keep: number; limit: number }]>(
    `DELETE FROM provider_exchanges WHERE sequence IN (
       SELECT sequence FROM provider_exchanges
       WHERE sequence <= (SELECT max(sequence) FROM provider_exchanges) - @keep
       ORDER BY sequence LIMIT @limit
     )`,
  );
  return {
    write: database.transaction((exchanges: readonly StoredExchange[]) => {
      for (const exchange of exchanges) insert.run(exchange);
    }),
    read: (runId) => read.get(runId) ?? null,
    prune: (keep, limit) => prune.run({ keep, limit }).changes,
  };
}
