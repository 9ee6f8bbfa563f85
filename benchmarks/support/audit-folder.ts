import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AuditEngine } from '../../electron/audit/index/audit-engine.ts';
import { databaseFile, openDatabase } from '../../electron/storage/database.ts';
import { fillDatabase, generateRuns } from './audit-generator.ts';

/** Fills a data folder with generated runs, unless it is filled. An existing one is only updated. */
export function prepareAuditFolder(directory: string, count: number): void {
  mkdirSync(directory, { recursive: true });
  const mark = join(directory, 'filled');
  if (existsSync(mark)) {
    openDatabase(directory).close();
    return;
  }
  const startedAt = performance.now();
  fillDatabase(directory, generateRuns(count));
  writeFileSync(mark, String(count));
  console.log(`${count} runs made in ${Math.round(performance.now() - startedAt)} ms`);
}

/** Completes the index of a data folder, which otherwise lags behind the recorded runs. */
export function completeAuditIndex(directory: string): void {
  const database = new Database(databaseFile(directory), { readonly: true });
  const engine = new AuditEngine(database, directory);
  while (engine.follow());
  engine.close();
  database.close();
}
