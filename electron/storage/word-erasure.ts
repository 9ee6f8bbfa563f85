import type Database from 'better-sqlite3';

/**
 * Pages that one step writes, in 1 to 3 ms. A word that nearly every row has is merged in one step, which takes some tens of milliseconds
 * with a million rows.
 */
const stepPages = 16;

/** FTS5 stores its records of removed rows at the end of its data table. */
const firstRemoval = '9007199254740992';

/**
 * Removes the words of deleted rows from an index's file. FTS5 only records that a row was deleted and drops its words when it merges them
 * with others, so this merges everything once. The file shows what is left to do, so the work continues after a restart.
 */
export interface WordErasure {
  /** Call it after rows were removed. */
  begin(): void;
  /** Does a small part of the work. Returns false when no removed word is left in the file or its log. */
  step(): boolean;
}

/**
 * For an FTS5 table with `contentless_delete`. The connection must overwrite deleted data (`secure_delete`). The table must not merge
 * automatically, which would add seconds to the transaction that deletes.
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
 * Writes the log back and truncates it, so that it has no overwritten data. Returns false, without waiting, while another connection reads
 * or writes.
 */
export function emptyLog(database: Database.Database): boolean {
  const timeout = database.pragma('busy_timeout', { simple: true }) as number;
  // Does most of the work without blocking writers.
  database.pragma('wal_checkpoint(PASSIVE)');
  database.pragma('busy_timeout = 0');
  try {
    return database.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0;
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}
