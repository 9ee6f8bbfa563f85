import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { TeamDatabase } from './connection.ts';
import type { CopiedRun } from './copied-run.ts';

/** How long a try waits for those who read, and everybody else behind it: at first, and at most. */
const firstLockMs = 200;
const maxLockMs = 5000;
/** How often the next month's partition is tried. */
const aheadMs = 3_600_000;

const isLocked = (failure: unknown): boolean => (failure as { code?: string }).code === '55P03';

/** The first day of the month in UTC. Null for the years of a wrong clock, which share one partition. */
function monthOf(date: Date): string | null {
  const year = date.getUTCFullYear();
  return year >= 2000 && year < 2100 ? `${date.toISOString().slice(0, 7)}-01` : null;
}

function nextMonth(): string | null {
  const now = new Date();
  return monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)));
}

/** The partitions of the months of runs. */
export class MonthPartitions {
  readonly #database: TeamDatabase;
  readonly #present = new Set<string | null>([null]);
  #aheadAt = -Infinity;

  constructor(database: TeamDatabase) {
    this.#database = database;
  }

  /**
   * Creates the missing ones. That waits until nobody reads, and then everybody waits for it: so it gives up soon, lets the others go on
   * and tries again. The next month's is created ahead, so that usually nothing waits for it.
   */
  async create(runs: readonly CopiedRun[]): Promise<void> {
    for (const month of new Set(runs.map(({ created_at: time }) => monthOf(new Date(time))))) {
      for (let lockMs = firstLockMs; !(await this.#create(month, lockMs)); lockMs = Math.min(maxLockMs, lockMs * 2))
        await delay(lockMs * 2, undefined, { ref: false });
    }
    if (performance.now() - this.#aheadAt < aheadMs) return;
    this.#aheadAt = performance.now();
    await this.#create(nextMonth(), firstLockMs);
  }

  /** Whether it is there. */
  async #create(month: string | null, lockMs: number): Promise<boolean> {
    if (this.#present.has(month) || (await this.#exists(month!))) {
      this.#present.add(month);
      return true;
    }
    try {
      await this.#database.transaction().execute(async (transaction) => {
        await sql`SELECT 1 FROM touchstone.state FOR UPDATE`.execute(transaction);
        await sql.raw(`SET LOCAL lock_timeout = ${lockMs}`).execute(transaction);
        await sql`SELECT touchstone.create_partition(${month}::date)`.execute(transaction);
      });
    } catch (failure) {
      if (isLocked(failure)) return false;
      throw failure;
    }
    this.#present.add(month);
    return true;
  }

  async #exists(month: string): Promise<boolean> {
    const name = `touchstone.runs_${month.slice(0, 7).replace('-', '_')}`;
    const { rows } = await sql<{ exists: boolean }>`SELECT to_regclass(${name}) IS NOT NULL AS exists`.execute(
      this.#database,
    );
    return rows[0]!.exists;
  }
}
