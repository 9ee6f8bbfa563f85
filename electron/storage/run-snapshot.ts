import { renameSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createExportRows, type ExportRow, type ExportRows } from './export-rows.ts';

/** A file with whole runs that aren't in the database of this device, for one evidence pack. */
export interface RunSnapshot {
  /** Adds the next run of a conversation. Returns its number in the file. */
  add(conversation: number, row: ExportRow): number;
  addCallers(callers: readonly { readonly id: string; readonly name: string }[]): void;
  /** The file exists when this returns, as a whole. */
  finish(): void;
  discard(): void;
}

export function createRunSnapshot(file: string): RunSnapshot {
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  // It contains other people's texts.
  writeFileSync(partial, '', { mode: 0o600 });
  const database = new Database(partial);
  database.pragma('journal_mode = OFF');
  database.exec(`
    BEGIN;
    CREATE TABLE runs (sequence INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, row_json TEXT NOT NULL) STRICT;
    CREATE INDEX runs_of_conversation ON runs (conversation, sequence);
    CREATE TABLE callers (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT;
  `);
  const insert = database.prepare<[number, string]>('INSERT INTO runs (conversation, row_json) VALUES (?, ?)');
  const insertCaller = database.prepare<[string, string]>('INSERT INTO callers (id, name) VALUES (?, ?)');
  return {
    add: (conversation, row) => Number(insert.run(conversation, JSON.stringify(row)).lastInsertRowid),
    addCallers(callers) {
      for (const { id, name } of callers) insertCaller.run(id, name);
    },
    finish() {
      database.exec('COMMIT');
      database.close();
      renameSync(partial, file);
    },
    discard() {
      database.close();
      rmSync(partial, { force: true });
    },
  };
}

/** The runs of a snapshot. Names of prompts and the like are those of this device. */
export function openRunSnapshot(file: string, device: Database.Database): ExportRows & { close(): void } {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  const runs = database.prepare<[number], { sequence: number; row_json: string }>(
    'SELECT sequence, row_json FROM runs WHERE conversation = ? ORDER BY sequence',
  );
  const caller = database.prepare<[string], string>('SELECT name FROM callers WHERE id = ?').pluck();
  const { names, ...rows } = createExportRows(device);
  return {
    ...rows,
    runs: (conversation) =>
      runs.all(conversation).map(({ sequence, row_json: json }) => ({ ...(JSON.parse(json) as ExportRow), sequence })),
    names: { ...names, caller: (id) => caller.get(id) ?? names.caller(id) },
    close: () => database.close(),
  };
}
