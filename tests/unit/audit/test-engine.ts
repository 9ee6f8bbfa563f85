import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { AuditEngine } from '../../../electron/audit/index/audit-engine.ts';
import { databaseFile } from '../../../electron/storage/database.ts';
import type { AuditFilter } from '../../../shared/contract/audit.ts';

/** The engine on a data folder, in the test's own thread, complete. */
export function openEngine(directory: string): AuditEngine {
  const database = new Database(databaseFile(directory), { readonly: true });
  const engine = new AuditEngine(database, directory);
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    engine.close();
    database.close();
  };
  onTestFinished(close);
  while (engine.follow());
  return Object.assign(engine, { close });
}

/** Every conversation that a walk gives, with which of its runs match. */
export function walkAll(engine: AuditEngine, filter: AuditFilter, pageSize = 100): string[] {
  const found: string[] = [];
  let position = null;
  do {
    const { conversations, long, next } = engine.report({ filter, pageSize, position, hasFeedback: false });
    if (long !== null) throw new Error(`The texts of a page of ${pageSize} are too long to be read at once.`);
    found.push(
      ...conversations.map(({ id, runs }) => `${id} ${runs.map(({ matched }) => (matched ? '+' : '-')).join('')}`),
    );
    position = next;
  } while (position !== null);
  return found;
}
