import { expect, test, vi } from 'vitest';
import { createProviderExchanges } from '../../../electron/provider-exchanges/create-provider-exchanges.ts';
import { newestExchangeRuns } from '../../../shared/contract/provider-exchanges.ts';
import { sampleOutcome, sampleRun } from '../storage/sample-run.ts';
import { openTestStorage } from '../storage/test-storage.ts';

const log = (message: string): void => {
  throw new Error(message);
};

test('of more runs than keep their exchanges, only the newest are written', async () => {
  const storage = openTestStorage();
  const { exchanges: store, settings, runs } = storage;
  const written: string[] = [];
  const observed = {
    ...store,
    write(slice: Parameters<typeof store.write>[0]) {
      written.push(...slice.map(({ runId }) => runId));
      store.write(slice);
    },
  };
  const exchanges = createProviderExchanges({ store: observed, settings, log });
  const stored = Array.from({ length: newestExchangeRuns + 2 }, (_, index) => sampleRun({ createdAt: index }));
  for (const run of stored) runs.begin(run);
  await Promise.all(stored.map(({ runId }) => runs.finish(runId, sampleOutcome())));
  const ids = stored.map(({ runId }) => runId);
  for (const id of ids) {
    const exchange = exchanges.open()!;
    exchange.beginOnDevice('model', {});
    exchange.store(id);
  }
  expect(exchanges.read(ids[1]!)).toEqual([]);
  expect(exchanges.read(ids[2]!)).toHaveLength(1);
  await exchanges.close();
  expect(written).toEqual(ids.slice(2));
  expect(store.read(ids.at(-1)!)).not.toBeNull();
});

test('turning the setting off drops what is not written yet', async () => {
  const { exchanges: store, settings } = openTestStorage();
  const exchanges = createProviderExchanges({ store, settings, log });
  const exchange = exchanges.open()!;
  exchange.beginOnDevice('model', {});
  exchange.store('00000000-0000-4000-8000-000000000000');
  settings.update({ providerExchanges: { keep: 'none' } });
  expect(exchanges.read('00000000-0000-4000-8000-000000000000')).toEqual([]);
  await exchanges.close();
});

test('what newer runs will supersede in a moment is not written meanwhile, and the last of them is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
  const { exchanges: store, settings } = openTestStorage();
  const written: string[] = [];
  const write: typeof store.write = (slice) => void written.push(...slice.map(({ runId }) => runId));
  const exchanges = createProviderExchanges({ store: { ...store, write }, settings, log });
  const storeRuns = (name: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      const exchange = exchanges.open()!;
      exchange.beginOnDevice('model', {});
      exchange.store(`${name}-${index}`);
    }
  };
  try {
    storeRuns('few', 1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(written).toEqual(['few-0']);
    for (let second = 0; second < 5; second += 1) {
      storeRuns(`second-${second}`, newestExchangeRuns / 4);
      expect(written).toEqual(['few-0']);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(written).toHaveLength(1 + newestExchangeRuns);
    expect(written).not.toContain('second-0-0');
    expect(written.at(-1)).toBe(`second-4-${newestExchangeRuns / 4 - 1}`);
    storeRuns('burst', newestExchangeRuns / 4);
    await vi.advanceTimersByTimeAsync(2000);
    expect(written.at(-1)).toBe(`burst-${newestExchangeRuns / 4 - 1}`);
  } finally {
    vi.useRealTimers();
  }
  await exchanges.close();
});
