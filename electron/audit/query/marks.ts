import type Database from 'better-sqlite3';
import type { AuditSource } from '../index/audit-source.ts';

/** How far the index has come. */
export interface Marks {
  /** `texts`: the last run whose words were read; `revision`: the last change that was followed; `run`: the named run. 0 for none. */
  read(name: 'texts' | 'revision' | 'run'): number;
  write(name: 'texts' | 'revision', value: number): void;
  writeRun(sequence: number, id: string): void;
  /** When there is no run any more. */
  forgetRun(): void;
  /** Whether the index was made from this database, and from no later state of it: a copy may have been put in its place. */
  fit(source: AuditSource): boolean;
  /** Runs whose words are read when they have ended. */
  unendedTexts(): number[];
  awaitText(run: number): void;
  gotText(run: number): void;
}

export function createMarks(index: Database.Database): Marks {
  const select = index.prepare<[string], string>('SELECT value FROM marks WHERE name = ?').pluck();
  const upsert = index.prepare(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remove = index.prepare('DELETE FROM marks WHERE name = ?');
  const unended = index.prepare<[], number>('SELECT run FROM unended_texts').pluck();
  const insertUnended = index.prepare('INSERT OR IGNORE INTO unended_texts (run) VALUES (?)');
  const deleteUnended = index.prepare('DELETE FROM unended_texts WHERE run = ?');
  const read = (name: string) => Number(select.get(name) ?? 0);
  return {
    read,
    write: (name, value) => void upsert.run(name, String(value)),
    writeRun: (sequence, id) => {
      upsert.run('run', String(sequence));
      upsert.run('run-id', id);
    },
    forgetRun() {
      remove.run('run');
      remove.run('run-id');
    },
    fit(source) {
      const id = select.get('run-id');
      const lastRun = Math.max(source.lastRun(), source.lastRemovedRun());
      if (read('revision') > source.lastRevision() || read('texts') > lastRun) return false;
      if (id === undefined) return true;
      const found = source.runId(read('run'));
      // A run that was removed before the index could follow is named among what it has still to follow.
      return found === null ? source.hasChanged(read('run'), read('revision')) : found === id;
    },
    unendedTexts: () => unended.all(),
    awaitText: (run) => void insertUnended.run(run),
    gotText: (run) => void deleteUnended.run(run),
  };
}
