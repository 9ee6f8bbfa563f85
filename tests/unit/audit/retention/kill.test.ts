// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openTestStorage, temporaryDirectory } from '../../storage/test-storage.ts';
import { recordAged } from './test-retention.ts';
import { nodeOptions } from '../../../support/node-options.ts';
import { longTest } from '../../../support/patience.ts';

const oldRuns = 1500;
const youngRuns = 20;

/** Lets the process apply the retention for so many slices, then takes its life; true when it came to its end before. */
async function applyAndKill(directory: string, slices: number): Promise<boolean> {
  const script = fileURLToPath(new URL('retention-process.ts', import.meta.url));
  const child = spawn(process.execPath, [...nodeOptions, script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let printed = 0;
  let isDone = false;
  for await (const line of createInterface({ input: child.stdout })) {
    isDone ||= line === 'done';
    printed += 1;
    if (printed === slices) child.kill('SIGKILL');
  }
  await closed;
  return isDone;
}

describe.each(['delete', 'anonymise'] as const)('to %s', (mode) => {
  test('continues after kill -9, with a consistent database at every moment', longTest, async () => {
    const directory = temporaryDirectory();
    const first = openTestStorage({ directory });
    const key = first.apiKeys.issue({ name: 'Key' });
    await Promise.all(
      Array.from({ length: oldRuns }, (_, index) =>
        recordAged(first, 31 + index, { apiKeyId: key.id, callerId: key.callerId }),
      ),
    );
    await Promise.all(Array.from({ length: youngRuns }, () => recordAged(first, 2)));
    first.settings.update({ retention: { mode, days: 30 } });
    await first.close();

    const count = (database: Database.Database, sql: string) => database.prepare(sql).pluck().get() as number;
    const left: number[] = [];
    for (let isDone = false, slices = 1; !isDone; slices += 3) {
      isDone = await applyAndKill(directory, slices);
      const database = new Database(first.databaseFile);
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(database.pragma('foreign_key_check')).toEqual([]);
      const runs = count(database, 'SELECT count(*) FROM runs');
      expect(count(database, 'SELECT count(*) FROM run_texts')).toBe(runs);
      expect(count(database, 'SELECT count(*) FROM conversations')).toBe(runs);
      expect(count(database, 'SELECT count(*) FROM credit_entries')).toBe(oldRuns);
      const blanked = count(database, 'SELECT count(*) FROM runs WHERE is_anonymous = 1');
      expect(count(database, "SELECT count(*) FROM run_texts WHERE prompt_text = ''")).toBe(blanked);
      const changed = count(database, 'SELECT count(DISTINCT run) FROM run_changes');
      expect(changed).toBe(oldRuns + youngRuns - runs + blanked);
      left.push(oldRuns - changed);
      database.close();
      const storage = openTestStorage({ directory });
      expect(storage.runs.count()).toBe(runs);
      await storage.close();
    }
    expect(left.length).toBeGreaterThan(3);
    expect(left.at(-1)).toBe(0);
  });
});
