import { describe, expect, it } from 'vitest';
import { createMutex } from '../../../electron/common/mutex.ts';

const { signal } = new AbortController();

describe('a mutex', () => {
  it('is acquired in the order of the calls', async () => {
    const queue = createMutex(() => {});
    const order: number[] = [];
    const release = await queue.take({ signal });
    const others = [1, 2, 3].map(async (number) => {
      const next = await queue.take({ signal });
      order.push(number);
      next();
    });
    expect(queue.waiting).toBe(3);
    release();
    await Promise.all(others);
    expect(order).toEqual([1, 2, 3]);
    expect(queue.waiting).toBe(0);
    (await queue.take({ signal }))();
  });

  it('skips a caller that aborts while it waits', async () => {
    const changes: number[] = [];
    const queue = createMutex(() => changes.push(queue.waiting));
    const release = await queue.take({ signal });
    const controller = new AbortController();
    const leaving = queue.take({ signal: controller.signal });
    const staying = queue.take({ signal });
    const reason = new Error('left');
    controller.abort(reason);
    await expect(leaving).rejects.toBe(reason);
    release();
    await staying;
    expect(changes).toEqual([1, 2, 1, 0]);
  });

  it('rejects a signal that was already aborted', async () => {
    const queue = createMutex(() => {});
    await expect(queue.take({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    await queue.take({ signal });
  });
});
