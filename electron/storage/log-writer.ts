import Database from 'better-sqlite3';
import { databaseFile } from './database.ts';
import { emptyLog } from './word-erasure.ts';

/** The log is written back when it has this many pages more than the database: rarely enough that hot pages are written once. */
const maxPages = 4000;

interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

/** Writes what is in the log back into the database, on a connection and in a thread of its own: it takes 5 to 20 ms. */
export interface LogWriter {
  /** Does so when there is enough of it. Writers go on meanwhile. */
  writeBack(): void;
  /** Writes all of it back and cuts it off; false while somebody reads or writes, who is not waited for. */
  empty(): boolean;
  close(): void;
}

export function createLogWriter(directory: string): LogWriter {
  const database = new Database(databaseFile(directory), { fileMustExist: true });
  database.pragma('synchronous = NORMAL');
  return {
    writeBack() {
      const [state] = database.pragma('wal_checkpoint(NOOP)') as LogState[];
      if (state !== undefined && state.log - state.checkpointed > maxPages) database.pragma('wal_checkpoint(PASSIVE)');
    },
    empty: () => emptyLog(database),
    close: () => void database.close(),
  };
}
