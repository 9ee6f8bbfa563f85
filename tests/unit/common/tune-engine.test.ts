// @module-tag slow
import { execFileSync } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { nodeOptions } from '../../support/node-options.ts';
import { patience } from '../../support/patience.ts';

const program = `
  import { setTimeout as delay } from 'node:timers/promises';
  import { getHeapStatistics } from 'node:v8';
  import { tuneEngine } from ${JSON.stringify(new URL('../../../electron/common/tune-engine.ts', import.meta.url))};

  const work = () => void Array.from({ length: 1_000_000 }, (_, index) => ({ index, next: [index] }));
  const megabytes = () => Math.round(getHeapStatistics().total_heap_size / 2 ** 20);
  const end = Date.now() + 60_000;
  async function workAndWait() {
    work();
    const full = megabytes();
    while (megabytes() > full / 2 && Date.now() < end) await delay(200);
    return { full, idle: megabytes() };
  }
  tuneEngine({ startAfterMs: 10, idleAfterMs: 1_000, maxStartWorkMs: Number(process.env.MAX_START_WORK_MS) });
  await delay(20);
  console.log(JSON.stringify({ uses: [await workAndWait(), await workAndWait()] }));
`;

function run(flags: readonly string[], code: string, maxStartWorkMs: number): string {
  return execFileSync(process.execPath, [...nodeOptions, ...flags, '--input-type=module', '--eval', code], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    env: { ...process.env, MAX_START_WORK_MS: String(maxStartWorkMs) },
  });
}

test.each([
  ['', 60_000],
  [', also of one that worked too much for a collection after its start', 0],
])('an idle process returns what its work needed, and V8 does not do so by itself%s', (_, maxStartWorkMs) => {
  const flags = ['--gc-memory-reducer-start-delay-ms=100', '--trace-memory-reducer'];
  const printed = run(flags, program, maxStartWorkMs);
  const result = printed.split('\n').find((line) => line.startsWith('{'))!;
  const { uses } = JSON.parse(result) as { uses: { full: number; idle: number }[] };
  for (const { full, idle } of uses) {
    expect(full).toBeGreaterThan(60);
    expect(idle).toBeLessThan(full / 2);
  }
  // V8 looked, and neither started nor waits for another time.
  expect(printed).toContain('Memory reducer: ');
  expect(printed).not.toMatch(/Memory reducer: (started|waiting)/);
});

const startProgram = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { tuneEngine } from ${JSON.stringify(new URL('../../../electron/common/tune-engine.ts', import.meta.url))};

  // As in Electron's main process.
  performance.eventLoopUtilization = () => ({ idle: 0, active: 0, utilization: 0 });
  let collections = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries())
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections += 1;
  }).observe({ entryTypes: ['gc'] });
  // The collections of an idle host begin when that of the start has ended or is left out.
  globalThis.setInterval = () => {
    setTimeout(() => {
      console.log(collections);
      process.exit();
    }, 100);
    return { unref() {} };
  };
  tuneEngine({ startAfterMs: 10, maxStartWorkMs: Number(process.env.MAX_START_WORK_MS) });
  setTimeout(() => {}, 60_000);
`;

test('the collection after the start is left out when the host has worked', () => {
  expect(Number(run([], startProgram, 60_000))).toBeGreaterThan(0);
  expect(Number(run([], startProgram, 0))).toBe(0);
});

const threadProgram = `
  import { isMainThread, parentPort, Worker } from 'node:worker_threads';
  import { getHeapStatistics } from 'node:v8';
  import { tuneEngine } from ${JSON.stringify(new URL('../../../electron/common/tune-engine.ts', import.meta.url))};

  const limit = Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
  if (isMainThread) {
    tuneEngine();
    const thread = new Worker(new URL(process.argv[1]));
    thread.once('message', (ofThread) => console.log(JSON.stringify({ ofHost: limit, ofThread })));
  } else parentPort.postMessage(limit);
`;

test('a thread has 8 MB for new objects, whatever the host has', () => {
  const address = `data:text/javascript,${encodeURIComponent(threadProgram)}`;
  const start = `import(process.argv[1])`;
  const parameters = [...nodeOptions, '--max-semi-space-size=64', '--eval', start, address];
  const printed = execFileSync(process.execPath, parameters, {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  });
  const { ofHost, ofThread } = JSON.parse(printed) as { ofHost: number; ofThread: number };
  // The limit has three times that room.
  expect(ofHost - ofThread).toBe(3 * (64 - 8));
});

const workerProgram = `
  const { getHeapStatistics } = require('node:v8');
  const start = setInterval;
  globalThis.setInterval = (run, everyMs) => start(run, Math.min(everyMs, 500));
  const megabytes = () => getHeapStatistics().total_heap_size / 2 ** 20;
  import(${JSON.stringify(new URL('../../../electron/common/worker-server.ts', import.meta.url))}).then(({ serveCalls }) => serveCalls({
    // Measured in the same turn: on a busy machine the thread is idle, and collects, before the next call arrives.
    work: () => {
      const made = Array.from({ length: 1_000_000 }, (_, index) => ({ index, next: [index] }));
      return made.length && megabytes();
    },
    megabytes,
  }));
`;

test('an idle thread returns what its work needed', async () => {
  const worker = new Worker(workerProgram, { eval: true });
  onTestFinished(() => void worker.terminate());
  const messages = on(worker, 'message');
  const call = async (method: string): Promise<number> => {
    worker.postMessage({ id: 1, method, input: null });
    const { value } = (await messages.next()) as { value: [{ result: number }] };
    return value[0].result;
  };
  const full = await call('work');
  expect(full).toBeGreaterThan(60);
  await vi.waitFor(async () => expect(await call('megabytes')).toBeLessThan(full / 2), { ...patience, interval: 200 });
});
