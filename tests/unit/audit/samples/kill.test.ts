// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createSamples } from '../../../../electron/audit/samples/create-samples.ts';
import { openTestStorage, temporaryDirectory } from '../../storage/test-storage.ts';
import { sampleOutcome, sampleRun } from '../../storage/sample-run.ts';
import { nodeOptions } from '../../../support/node-options.ts';
import { longTest } from '../../../support/patience.ts';

/** Lets the process load and remove until it has printed so many lines, then takes its life. */
async function changeAndKill(directory: string, lines: number): Promise<void> {
  const script = fileURLToPath(new URL('sample-process.ts', import.meta.url));
  const child = spawn(process.execPath, [...nodeOptions, script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(child, 'close');
  let printed = 0;
  for await (const _ of createInterface({ input: child.stdout })) {
    printed += 1;
    if (printed === lines) child.kill('SIGKILL');
  }
  await closed;
}

test('an interrupted loading or removal leaves no partial data', longTest, async () => {
  const directory = temporaryDirectory();
  const first = openTestStorage({ directory });
  const own = sampleRun();
  first.runs.begin(own);
  await first.runs.finish(own.runId, sampleOutcome());
  await first.close();
  for (const lines of [1, 2, 7, 30, 61, 75, 93, 120]) {
    await changeAndKill(directory, lines);
    const storage = openTestStorage({ directory });
    const samples = await createSamples({ store: storage.samples, runs: storage.runs });
    const { isLoaded, conversations, runs } = samples.state();
    expect(isLoaded ? conversations : 0).toBe(conversations);
    expect([0, 300]).toContain(conversations);
    expect(storage.runs.count()).toBe(runs + 1);
    expect(storage.runs.read(own.runId)?.status).toBe('Completed');
    await storage.close();
    const database = new Database(storage.databaseFile);
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(database.pragma('foreign_key_check')).toEqual([]);
    expect(database.prepare('SELECT count(*) FROM runs').pluck().get()).toBe(runs + 1);
    expect(database.prepare('SELECT count(*) FROM conversations').pluck().get()).toBe(conversations + 1);
    expect(database.prepare('SELECT count(*) FROM run_texts').pluck().get()).toBe(runs + 1);
    database.close();
  }
});
