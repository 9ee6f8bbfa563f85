import type Database from 'better-sqlite3';
import type { LogFormat, LogImport, LogReport } from '../../shared/contract/log-imports.ts';
import type { NewRun, RunOutcome } from './run-rows.ts';
import { createRunRemoval } from './retention-store.ts';

/** What an import was told at its start. */
export interface ImportPlan {
  readonly fileName: string;
  readonly callerId: string;
  readonly apiKeyId: string | null;
  /** The format that the caller chose; null if it is detected. */
  readonly format: LogFormat | null;
  readonly columns: Readonly<Record<string, string | null>>;
  /** Of the file; 0 for traces that programs send. */
  readonly bytes: number;
}

/** How far an import got. It is stored together with the runs. */
export interface ImportProgress {
  /** Entries of the file that were read. */
  readonly position: number;
  readonly bytes: number;
  readonly imported: number;
  readonly report: LogReport;
  readonly failure: string | null;
}

export type ImportState = LogImport['state'];

export interface StoredImport {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly format: LogFormat;
  readonly state: ImportState;
  readonly plan: ImportPlan;
  readonly progress: ImportProgress;
  readonly createdAt: number;
}

interface EndedRun {
  readonly run: NewRun;
  readonly outcome: RunOutcome;
}

/** A run with its outcome, whose import is set when it is stored. */
export interface ImportedCall extends EndedRun {
  /** The ID that earlier versions gave the run. */
  readonly earlierId: string;
}

/** Imported logs and their runs. */
export interface ImportStore {
  create(batch: Omit<StoredImport, 'sequence'>): StoredImport;
  /** Oldest first. */
  list(): StoredImport[];
  setState(batch: number, state: ImportState, progress: ImportProgress): void;
  /**
   * Stores runs that aren't stored yet, and the progress, in one transaction. `progressOf` gets the number of stored runs. Throws if the
   * disk fails; then nothing is stored.
   */
  append(batch: number, calls: readonly ImportedCall[], progressOf: (stored: number) => ImportProgress): ImportProgress;
  /** Removes at most `limit` runs in one transaction. Returns false if none are left. */
  removeRuns(batch: number, limit: number): boolean;
  /** Removes an import without runs. */
  remove(batch: number): void;
}

interface ImportRow {
  sequence: number;
  id: string;
  name: string;
  format: string;
  state: ImportState;
  plan_json: string;
  progress_json: string;
  created_at: number;
}

function importOf({ plan_json, progress_json, created_at, format, ...row }: ImportRow): StoredImport {
  return {
    ...row,
    format: format as LogFormat,
    plan: JSON.parse(plan_json) as ImportPlan,
    progress: JSON.parse(progress_json) as ImportProgress,
    createdAt: created_at,
  };
}

export interface ImportStoreOptions {
  /** Writes ended runs, and calls `also` in the same transaction. */
  readonly record: (runs: readonly EndedRun[], also: () => void) => void;
  readonly flush: () => void;
  /** Called after runs were removed. */
  readonly onRemove: () => void;
}

function importStatements(database: Database.Database) {
  return {
    insert: database.prepare<[Omit<ImportRow, 'sequence'>], ImportRow>(
      `INSERT INTO import_batches (id, name, format, state, plan_json, progress_json, created_at)
       VALUES (@id, @name, @format, @state, @plan_json, @progress_json, @created_at) RETURNING *`,
    ),
    list: database.prepare<[], ImportRow>('SELECT * FROM import_batches ORDER BY sequence'),
    setState: database.prepare<[string, string, number]>(
      'UPDATE import_batches SET state = ?, progress_json = ? WHERE sequence = ?',
    ),
    setProgress: database.prepare<[string, number]>('UPDATE import_batches SET progress_json = ? WHERE sequence = ?'),
    isStored: database.prepare<[string, string], 1>('SELECT 1 FROM runs WHERE id IN (?, ?)').pluck(),
    someRuns: database.prepare<[number, number], { sequence: number; conversation: number }>(
      'SELECT sequence, conversation FROM runs WHERE import_batch = ? ORDER BY sequence LIMIT ?',
    ),
    remove: database.prepare<[number]>('DELETE FROM import_batches WHERE sequence = ?'),
  };
}

export function createImportStore(
  database: Database.Database,
  { record, flush, onRemove }: ImportStoreOptions,
): ImportStore {
  const statements = importStatements(database);
  const removal = createRunRemoval(database);
  const removeSlice = database.transaction((batch: number, limit: number) => {
    const runs = statements.someRuns.all(batch, limit);
    removal.remove(runs);
    return runs.length === limit;
  });

  return {
    create: ({ plan, progress, createdAt, ...batch }) =>
      importOf(
        statements.insert.get({
          ...batch,
          plan_json: JSON.stringify(plan),
          progress_json: JSON.stringify(progress),
          created_at: createdAt,
        })!,
      ),
    list: () => statements.list.all().map(importOf),
    setState: (batch, state, progress) => void statements.setState.run(state, JSON.stringify(progress), batch),
    append(batch, calls, progressOf) {
      flush();
      const fresh = calls
        .filter(({ run, earlierId }) => statements.isStored.get(run.runId, earlierId) === undefined)
        .map(({ run, outcome }) => ({ run: { ...run, importBatch: batch }, outcome }));
      const progress = progressOf(fresh.length);
      record(fresh, () => void statements.setProgress.run(JSON.stringify(progress), batch));
      return progress;
    },
    removeRuns(batch, limit) {
      try {
        return removeSlice.immediate(batch, limit);
      } finally {
        onRemove();
      }
    },
    remove: (batch) => void statements.remove.run(batch),
  };
}
