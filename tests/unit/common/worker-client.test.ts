import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWorkerClient, startThread, type WorkerClient } from '../../../electron/common/worker-client.ts';
import { patience } from '../../support/patience.ts';
import type { TestMethods } from '../../support/serve-calls-process.ts';

const program = new URL('../../support/serve-calls-process.ts', import.meta.url);
let logFile: string;
let events: string[];
let crashes: Error[];
let client: WorkerClient<TestMethods>;

beforeEach(() => {
  logFile = join(mkdtempSync(join(tmpdir(), 'touchstone-worker-')), 'log');
  writeFileSync(logFile, '');
  events = [];
  crashes = [];
  client = createWorkerClient({
    name: 'The test worker',
    start: () => startThread(program, { data: { logFile }, maxHeapMegabytes: 32 }),
    onEvent: (event: string) => events.push(event),
    onCrash: (reason) => crashes.push(reason),
  });
});

afterEach(async () => {
  await client.terminate(new Error('The test is over.'));
  rmSync(join(logFile, '..'), { recursive: true });
});

const logged = () => readFileSync(logFile, 'utf8');

describe('a call', () => {
  test('starts the worker, which later calls share', async () => {
    expect(client.isRunning).toBe(false);
    const sums = await Promise.all([client.call('add', [1, 2]), client.call('add', [3, 4])]);
    const first = await client.call('threadId', null);
    expect([sums, client.isRunning, await client.call('threadId', null)]).toEqual([[3, 7], true, first]);
  });

  test('rejects with the AppError that its method throws', async () => {
    await expect(client.call('reject', null)).rejects.toMatchObject({
      name: 'AppError',
      code: 'conflict',
      message: 'Already there',
      details: [{ field: 'name', issue: 'is taken' }],
    });
  });

  test('rejects with the message, stack and code of another error', async () => {
    await expect(client.call('fail', null)).rejects.toMatchObject({
      message: 'The test worker failed: no space left',
      stack: expect.stringContaining('serve-calls-process'),
      code: 'ENOSPC',
    });
  });

  test('reports its progress before its result', async () => {
    const counts: number[] = [];
    expect(await client.call('count', { to: 3 }, { onProgress: (count) => counts.push(count) })).toBe(3);
    expect(counts).toEqual([1, 2, 3]);
  });
});

test('an event reaches the host without a waiting call', async () => {
  client.notify('sendEvent', 'hello');
  await vi.waitFor(() => expect(events).toEqual(['hello']), patience);
});

test('the error of a notification is dropped', async () => {
  client.notify('fail', null);
  expect(await client.call('add', [1, 1])).toBe(2);
});

describe('an abort', () => {
  test('before the call rejects without starting the worker', async () => {
    await expect(client.call('add', [1, 2], { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    expect(client.isRunning).toBe(false);
  });

  test('skips a call that the worker has not started', async () => {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const started = Promise.withResolvers<string>();
    const blocking = client.call('waitForGate', gate, { onProgress: started.resolve });
    await started.promise;
    const controller = new AbortController();
    const skipped = client.call('log', 'skipped', { signal: controller.signal });
    controller.abort(new Error('No longer needed'));
    await expect(skipped).rejects.toThrow('No longer needed');
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await blocking;
    await client.call('log', 'done');
    expect(logged()).toBe('done\n');
  });

  test('stops a running call at its next pause, and other calls succeed', async () => {
    const controller = new AbortController();
    const counts: number[] = [];
    const onProgress = (count: number) => counts.push(count) === 2 && controller.abort();
    const counted = client.call('count', { to: Infinity }, { signal: controller.signal, onProgress });
    await expect(counted).rejects.toThrow('aborted');
    expect(await client.call('add', [1, 2])).toBe(3);
  });

  test('waits for the result if the caller chooses that', async () => {
    const controller = new AbortController();
    const stopped = client.call('untilAborted', null, { signal: controller.signal, onAbort: 'wait' });
    await client.call('add', [1, 2]);
    controller.abort();
    expect(await stopped).toBe('stopped');
  });

  test('ends a blocked worker if the caller chooses that, and the next call starts another', async () => {
    const controller = new AbortController();
    const first = await client.call('threadId', null);
    const blocked = client.call('block', null, { signal: controller.signal, onAbort: 'terminate' });
    controller.abort();
    await expect(blocked).rejects.toThrow('aborted');
    expect(client.isRunning).toBe(false);
    expect(await client.call('threadId', null)).toBeGreaterThan(first);
    expect(crashes).toEqual([]);
  });
});

test('a call past its time limit ends the worker, and the next call starts another', async () => {
  await expect(client.call('block', null, { timeLimitMs: 20 })).rejects.toMatchObject({
    name: 'TimeoutError',
    message: 'The test worker took too long.',
  });
  expect(await client.call('add', [1, 2])).toBe(3);
});

describe('a crash', () => {
  test('rejects every active call, and the next call starts another worker', async () => {
    const calls = [client.call('untilAborted', null), client.call('crash', null)];
    for (const call of calls) await expect(call).rejects.toThrow('exit code 7');
    expect(crashes).toMatchObject([{ message: 'The worker thread ended with exit code 7.' }]);
    expect(await client.call('add', [1, 2])).toBe(3);
  });

  test('for lack of memory is named in the error', async () => {
    await expect(client.call('fillMemory', null)).rejects.toMatchObject({ code: 'ERR_WORKER_OUT_OF_MEMORY' });
  });

  test('of a program that cannot be loaded rejects with its error', async () => {
    const missing = createWorkerClient<TestMethods>({
      name: 'A missing worker',
      start: () => startThread(new URL('missing.ts', program)),
    });
    await expect(missing.call('add', [1, 2])).rejects.toThrow('missing.ts');
  });
});

test('terminate rejects active calls with its reason', async () => {
  const call = client.call('block', null);
  const rejected = expect(call).rejects.toThrow('Closing');
  await client.terminate(new Error('Closing'));
  await rejected;
  expect(crashes).toEqual([]);
});

describe('dispose', () => {
  test('lets the worker finish started calls and close its resources', async () => {
    const call = client.call('log', 'before');
    await client.dispose();
    await call;
    expect(logged()).toBe('before\ndisposed\n');
    expect([client.isRunning, crashes]).toEqual([false, []]);
  });

  test('rejects calls that can no longer complete, and later ones', async () => {
    const rejected = expect(client.call('count', { to: Infinity })).rejects.toThrow();
    await client.dispose();
    await rejected;
    await expect(client.call('add', [1, 2])).rejects.toThrow('The test worker is closed.');
    client.notify('log', 'late');
    expect(client.isRunning).toBe(false);
  });

  test('does nothing before the first call', async () => {
    await client.dispose();
    expect(logged()).toBe('');
  });
});
