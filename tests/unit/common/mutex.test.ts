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

  it('lets a caller with a lower concurrency start when few enough hold it, and those behind wait', async () => {
    const queue = createMutex(() => {}, { concurrency: 3 });
    const first = await queue.take({ signal });
    const second = await queue.take({ signal });
    const order: string[] = [];
    const low = queue.take({ signal, concurrency: 2 }).then((release) => (order.push('low'), release));
    const leaving = new AbortController();
    const lowest = queue.take({ signal: leaving.signal, concurrency: 1 });
    const behind = queue.take({ signal }).then((release) => (order.push('behind'), release));
    first();
    await low;
    expect([order, queue.waiting]).toEqual([['low'], 2]);
    leaving.abort(new Error('left'));
    await expect(lowest).rejects.toThrow('left');
    await behind;
    expect(order).toEqual(['low', 'behind']);
    second();
  });

  it('rejects a signal that was already aborted', async () => {
    const queue = createMutex(() => {});
    await expect(queue.take({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    await queue.take({ signal });
  });
});
