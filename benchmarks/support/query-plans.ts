import Database from 'better-sqlite3';

/**
 * Small tables that are read whole, once, when the index is opened; `removed_runs` has one row; a `CONSTANT ROW` is no table, and
 * `chain` is what the statement itself has found: the messages of one run.
 */
const readWhole = new Set(['blocks', 'unended_texts', 'feedback', 'removed_runs', 'CONSTANT', 'chain']);

export interface Plan {
  readonly sql: string;
  readonly steps: readonly string[];
  readonly isScan: boolean;
}

function isScan(step: string): boolean {
  const [, table, rest] = /^SCAN (\w+)(.*)$/.exec(step) ?? [];
  if (table === undefined || readWhole.has(table)) return false;
  // FTS5 reports whether it follows a match (`M`), and whether within bounds of the rowid (`<`, `>`).
  return !/VIRTUAL TABLE INDEX \d+:.*M/.test(rest ?? '');
}

/** Collects every statement that is prepared while `work` runs, returns SQLite's plans of those that read, and closes. */
export function plansOf(work: () => { close(): void }): Plan[] {
  const prepared = new Map<string, Database.Database>();
  const original = Database.prototype.prepare;
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    prepared.set(sql, this);
    return original.call(this, sql);
  } as typeof original;
  let worked: { close(): void };
  try {
    worked = work();
  } finally {
    Database.prototype.prepare = original;
  }
  const plans = [...prepared]
    .filter(([sql]) => /^\s*select/i.test(sql))
    .map(([sql, database]) => {
      const inputs = [...sql.matchAll(/\?/g)].map(() => null);
      const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...inputs) as { detail: string }[];
      const steps = rows.map(({ detail }) => detail);
      return { sql, steps, isScan: steps.some(isScan) };
    });
  worked.close();
  return plans;
}
