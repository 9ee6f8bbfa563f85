/** A worker with methods that succeed, fail, crash, block, pause and report, for the tests of the worker client. */
import { appendFileSync } from 'node:fs';
import { threadId, workerData } from 'node:worker_threads';
import { type CallContext, serveCalls } from '../../electron/common/worker-server.ts';
import { AppError } from '../../shared/app-error.ts';

const { logFile } = workerData as { readonly logFile: string };

const methods = {
  add: ([first, second]: readonly [number, number]) => first + second,
  threadId: () => threadId,
  log: (line: string) => appendFileSync(logFile, `${line}\n`),
  reject: () => {
    throw new AppError('conflict', 'Already there', { details: [{ field: 'name', issue: 'is taken' }] });
  },
  fail: () => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  },
  crash: () => {
    process.exit(7);
  },
  block: () => {
    for (;;);
  },
  /** Reports that it has started, then blocks the worker until another thread notifies the gate. */
  waitForGate(gate: Int32Array, { onProgress }: CallContext<'started'>): void {
    onProgress('started');
    Atomics.wait(gate, 0, 0);
  },
  fillMemory: () => {
    const lists: number[][] = [];
    for (;;) lists.push(Array.from({ length: 10_000 }, Math.random));
  },
  async count({ to }: { readonly to: number }, { pause, onProgress }: CallContext<number>): Promise<number> {
    for (let count = 1; count <= to; count += 1) {
      onProgress(count);
      await pause();
    }
    return to;
  },
  async untilAborted(_input: null, { signal }: CallContext): Promise<string> {
    while (!signal.aborted) await new Promise(setImmediate);
    return 'stopped';
  },
  sendEvent: (event: string) => sendEvent(event),
};

export type TestMethods = typeof methods;

const sendEvent = serveCalls<string>(methods, { onDispose: () => appendFileSync(logFile, 'disposed\n') });
