import { expect, it } from 'vitest';
import { eventQueue } from '../../../electron/api/stream-response.ts';

const join = (pending: string, next: string) => pending + next;

it('returns earlier and later values', async () => {
  const queue = eventQueue<string>({ signal: new AbortController().signal, merge: join });
  queue.push('a');
  const reader = queue[Symbol.asyncIterator]();
  const first = await reader.next();
  const second = reader.next();
  queue.push('b');
  expect([first.value, (await second).value]).toEqual(['a', 'b']);
});

it('merges unread values, so that a slow reader costs no memory', async () => {
  const queue = eventQueue<string>({ signal: new AbortController().signal, merge: join });
  for (const letter of 'abc') queue.push(letter);
  queue.end();
  expect(await Array.fromAsync(queue)).toEqual(['abc']);
});

it('ends a waiting reader when the signal aborts', async () => {
  const stop = new AbortController();
  const reading = Array.fromAsync(eventQueue<string>({ signal: stop.signal, merge: join }));
  stop.abort();
  expect(await reading).toEqual([]);
});
