import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openTestStorage, temporaryDirectory } from './test-storage.ts';

const kills = 8;

/** Lets the process record until it has printed so many ids, then takes its life. Returns what it had printed. */
async function recordAndKill(directory: string, runs: number): Promise<string[]> {
  const script = fileURLToPath(new URL('recording-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  const printed: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(line);
    if (printed.length === runs) child.kill('SIGKILL');
  }
  await closed;
  // The last line may have been cut in the middle.
  return printed.filter((id) => id.length === 36);
}

test(
  'no answered run is missing after kill -9, again and again, and the database is whole',
  { timeout: 120_000 },
  async () => {
    const directory = temporaryDirectory();
    const answered: string[] = [];
    for (let round = 0; round < kills; round += 1) {
      answered.push(...(await recordAndKill(directory, 20 + 97 * round)));
      const database = new Database(join(directory, 'touchstone.sqlite'));
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      expect(database.pragma('foreign_key_check')).toEqual([]);
      database.close();
    }
    const storage = openTestStorage({ directory });
    const lost = answered.filter((id) => {
      const run = storage.runs.read(id);
      return run?.status !== 'Completed' || run.output.content !== id;
    });
    expect(answered.length).toBeGreaterThanOrEqual(kills * 20);
    expect(lost).toEqual([]);
    expect(storage.runs.list({ pageSize: 100, continuationToken: undefined, draftId: undefined }).data).toSatisfy(
      (runs: { status: string }[]) => runs.every(({ status }) => status !== 'Running'),
    );
  },
);
