import { expect, onTestFinished, test, vi } from 'vitest';
import { longJsonResponse } from '../../../electron/api/json-response.ts';
import { AwaitedList, LazyList } from '../../../electron/storage/list-page.ts';
import { fc } from '../../support/fast-check.ts';

/** Counts the turns of the event loop from now on. */
function countTurns(): { count(): number; stop(): void } {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  return { count: () => turns, stop: () => clearImmediate(next) };
}

/** Runs of 100,000 characters, with what was read of them and whether somebody said that no more is wanted. */
function longRuns(count: number) {
  const state = { read: 0, isEnded: false };
  function* runs() {
    try {
      for (; state.read < count; state.read += 1) yield { text: 'ü'.repeat(100_000), place: state.read };
    } finally {
      state.isEnded = true;
    }
  }
  return { state, list: new LazyList(runs) };
}

test('equals JSON.stringify of the same lists as arrays', async () => {
  const item = fc.record({ name: fc.string(), list: fc.array(fc.anything({ withNullPrototype: false })) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { maxLength: 5 }),
      fc.option(fc.string(), { nil: undefined }),
      async (items, rest) => {
        const inner = items.map(({ name, list }) => ({
          name,
          list: list.map((value) => JSON.stringify(value) ?? null),
          rest,
        }));
        const lazy = new LazyList(() =>
          inner.map((one) => ({ ...one, list: new LazyList(() => one.list.values()) })).values(),
        );
        const answer = longJsonResponse({ before: 1, rest, items: lazy, after: ['a', { b: null }] });
        const expected = JSON.stringify({ before: 1, rest, items: inner, after: ['a', { b: null }] });
        expect(await answer.text()).toBe(expected);
      },
    ),
  );
});

test('a long one has the same text in chunks', async () => {
  const { list } = longRuns(50);
  const answer = longJsonResponse({ id: 1, runs: list });
  const pieces: string[] = [];
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) pieces.push(piece);
  expect(pieces.length).toBeGreaterThan(10);
  expect(pieces.join('')).toBe(JSON.stringify({ id: 1, runs: [...longRuns(50).list] }));
});

test('long texts within an item are separate chunks', async () => {
  const long = 'ü'.repeat(1_100_000);
  const runs = [{ id: 1, input: { texts: [long, undefined, long] }, output: { content: long } }];
  const pieces: string[] = [];
  const { body } = longJsonResponse({ runs: new LazyList(() => runs.values()) });
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) pieces.push(piece);
  expect(pieces.join('')).toBe(JSON.stringify({ runs }));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2 * long.length);
});

test('no turn of the event loop writes more than a sixth of a text of 4 million characters', async () => {
  const turns = countTurns();
  onTestFinished(turns.stop);
  const long = 'a'.repeat(4_000_000);
  const writtenIn = new Map<number, number>();
  const stringify = JSON.stringify;
  const spy = vi.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
    const text = stringify(value);
    writtenIn.set(turns.count(), (writtenIn.get(turns.count()) ?? 0) + text.length);
    return text;
  });
  onTestFinished(() => void spy.mockRestore());
  await longJsonResponse({ replacements: { text: long } }).text();
  expect(Math.max(...writtenIn.values())).toBeLessThan(long.length / 6);
});

test('a text of surrogate pairs is the same wherever it is cut', async () => {
  for (const before of ['', 'a']) {
    const value = { text: before + '😀'.repeat(400_000) + '\ud83d' };
    expect(await longJsonResponse(value).text()).toBe(JSON.stringify(value));
  }
});

test('is generated only as far as it is read, and no further after its reader has left', async () => {
  const { list, state } = longRuns(1000);
  const reader = longJsonResponse({ runs: list }).body!.getReader();
  for (let piece = 0; piece < 5; piece += 1) await reader.read();
  expect(state.read).toBeLessThan(30);
  await reader.cancel();
  expect(state.isEnded).toBe(true);
});

test('reads a list of another computer only as far as it is read', async () => {
  const list = new AwaitedList(async function* () {
    yield* longRuns(50).list;
  });
  const expected = JSON.stringify({ runs: [...longRuns(50).list], none: [] });
  const none = new AwaitedList(async function* () {});
  expect(await longJsonResponse({ runs: list, none }).text()).toBe(expected);
  const { list: left, state } = longRuns(1000);
  const endless = new AwaitedList(async function* () {
    yield* left;
  });
  const reader = longJsonResponse({ runs: endless }).body!.getReader();
  for (let piece = 0; piece < 5; piece += 1) await reader.read();
  expect(state.read).toBeLessThan(30);
  await reader.cancel();
  await expect.poll(() => state.isEnded).toBe(true);
});

test('one that fails in the middle has no end', async () => {
  const failing = new LazyList(function* () {
    yield* longRuns(20).list;
    throw new Error('unreadable');
  });
  await expect(longJsonResponse({ runs: failing }).text()).rejects.toThrow('unreadable');
  const awaited = new AwaitedList(async function* () {
    yield* failing;
  });
  await expect(longJsonResponse({ runs: awaited }).text()).rejects.toThrow('unreadable');
});
