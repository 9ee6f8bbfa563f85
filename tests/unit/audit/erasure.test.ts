// @module-tag slow
import { expect, test, vi } from 'vitest';
import type { RetentionMode } from '../../../electron/storage/retention-store.ts';
import type { Storage } from '../../../electron/storage/storage.ts';
import { wordsInFiles } from '../../support/words-in-files.ts';
import { openEngine } from './test-engine.ts';
import { openRetention, recordAged } from './retention/test-retention.ts';

const signal = new AbortController().signal;
const patience = { timeout: 60_000, interval: 100 };

/** Words of which none begins as another one does: only such a word stands whole in the index. */
const removed = ['quagmirenine', 'xylophoneseven', 'zeppelinfour'];
const stored = ['jackdawthree', 'kettledrumfive', 'umbrellaeight'];

/** A run with a word in its system message, one in its prompt, and one in a header. */
function recordWith(storage: Storage, days: number, [system, prompt, header]: readonly string[]) {
  return recordAged(storage, days, {
    systemMessage: `Heed ${system} first`,
    promptText: `What is ${prompt} for?`,
    renderedPrompt: `What is ${prompt} for?`,
    appHeaders: { team: header! },
  });
}

async function found(storage: Storage, words: readonly string[]): Promise<number[]> {
  const totals = words.map((text) =>
    storage.audit.search({ filter: { text }, sort: 'newest', limit: 1 }, { signal }).then(({ total }) => total),
  );
  return Promise.all(totals);
}

// With so many others the runs are written to the index for good, with what their headers say; the newest are in memory alone.
test.each<[RetentionMode, number]>([
  ['delete', 0],
  ['anonymise', 16_500],
])('after %s no file contains words of old runs, while the host runs, with %i other runs', async (mode, others) => {
  const { storage, retention } = openRetention();
  await recordWith(storage, 50, removed);
  await recordWith(storage, 1, stored);
  await Promise.all(Array.from({ length: others }, () => recordAged(storage, 2)));
  expect(await found(storage, ['quagmirenine', 'kettledrumfive'])).toEqual([1, 1]);
  const all = [...removed, ...stored];
  expect(await wordsInFiles(storage.directory, all)).toEqual(all);

  storage.settings.update({ retention: { mode, days: 30 } });
  await retention.apply();
  await vi.waitFor(async () => expect(await wordsInFiles(storage.directory, all)).toEqual(stored), patience);
  expect(await found(storage, ['quagmirenine', 'kettledrumfive'])).toEqual([0, 1]);
});

test('an interrupted erasure continues at the next start', async () => {
  const { storage, retention } = openRetention();
  const texts = (days: number, [first]: readonly string[]) =>
    Array.from({ length: 400 }, (_, number) => {
      const words = Array.from({ length: 60 }, (_word, position) => `${first}${number}x${position}`);
      return recordAged(storage, days, { renderedPrompt: `${first} ${words.join(' ')}` });
    });
  await Promise.all([...texts(50, removed), ...texts(1, stored)]);
  expect(await found(storage, [removed[0]!, stored[0]!])).toEqual([400, 400]);
  // Without its end, of which the audit is told: it follows when it is asked.
  while (storage.retention.apply('delete', Date.UTC(2026, 10, 1), 200) > 0);
  await retention.close();
  await storage.close();

  const interrupted = openEngine(storage.directory);
  expect(interrupted.erase()).toBe(true);
  interrupted.close();
  const stems = [removed[0]!, stored[0]!];
  expect(await wordsInFiles(storage.directory, stems)).toEqual(stems);
  const next = openEngine(storage.directory);
  let steps = 0;
  while (next.erase()) steps += 1;
  expect(steps).toBeGreaterThan(1);
  expect(await wordsInFiles(storage.directory, stems)).toEqual([stored[0]]);
  expect(next.search({ filter: { text: stored[0]! }, sort: 'newest', limit: 1, last: null }).total).toBe(400);
});
