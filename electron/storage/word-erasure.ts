import type Database from 'better-sqlite3';

/**
 * Pages that one step writes: 1 to 3 ms. A word that nearly every row has is merged as a whole, which takes some tens of
 * milliseconds among a million rows.
 */
const stepPages = 16;

/** FTS5 stores its records of removed rows after all others in its data table. */
const firstRemoval = '9007199254740992';

/**
 * Takes the words of removed rows out of an index's file. FTS5 only notes that a row was removed and drops its words when it merges
 * them with others, so everything is merged once. The file itself shows what is left to do, so the work
 * continues after a restart.
 */
export interface WordErasure {
  /** Tells that something was removed. */
  begin(): void;
  /** Does a little of it; false when nothing of what was removed is left, in the file or in its log. */
  step(): boolean;
}

/**
 * For a table of FTS5 with `contentless_delete`. The connection must overwrite what it deletes (`secure_delete`). The table
 * must not merge automatically after removals: that would add seconds to the transaction that removes.
 */
export function createWordErasure(database: Database.Database, table: string): WordErasure {
  const configured = database.prepare(`SELECT 1 FROM ${table}_config WHERE k = 'deletemerge' AND v = 0`);
  if (configured.get() === undefined) {
    database.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('deletemerge', 0)`);
  }
  const hasRemovals = database.prepare(`SELECT 1 FROM ${table}_data WHERE id >= ${firstRemoval} LIMIT 1`);
  const merge = database.prepare<[number]>(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', ?)`);
  const totalChanges = database.prepare<[], number>('SELECT total_changes()').pluck();
  let isMerging = false;
  // A host that was killed may have left the log.
  let isDue = true;

  /** A negative number starts a merge of everything. A positive one continues it, and changes a single row when there is nothing to merge. */
  function mergeSome(): void {
    const before = totalChanges.get()!;
    merge.run(isMerging ? stepPages : -stepPages);
    isMerging = totalChanges.get()! - before >= 2;
  }

  return {
    begin() {
      isDue = true;
    },
    step() {
      if (!isDue) return false;
      if (hasRemovals.get() === undefined) isDue = !emptyLog(database);
      else mergeSome();
      return isDue;
    },
  };
}

/**
 * Writes the log back and cuts it off, so that nothing that was overwritten is left in it. False while somebody else reads or writes:
 * they are not waited for.
 */
export function emptyLog(database: Database.Database): boolean {
  const timeout = database.pragma('busy_timeout', { simple: true }) as number;
  // Most of it is done without keeping others from writing.
  database.pragma('wal_checkpoint(PASSIVE)');
  database.pragma('busy_timeout = 0');
  try {
    return database.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}
