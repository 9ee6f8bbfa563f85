import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { JsonResponse } from '../../../electron/api/json-response.ts';
import { streamResponse } from '../../../electron/api/stream-response.ts';
import { type NodeResponse, writeResponse } from '../../../electron/server/write-response.ts';

function collectResponse() {
  const written: Buffer[] = [];
  const write = (bytes: Uint8Array | string = ''): boolean => written.push(Buffer.from(bytes as string)) > 0;
  const on = (): void => undefined;
  const outgoing: NodeResponse = {
    ...{ headersSent: false, writableEnded: false, writableLength: 0 },
    ...{ writeHead: (status) => write(`${status} `), flushHeaders: on, write, end: write, on, off: on },
  };
  return { outgoing, text: () => Buffer.concat(written).toString() };
}

test('a long text is encoded in a turn of its own, and not for a caller that has left', async () => {
  const value = { answer: '“quoted”'.repeat(40_000) };
  const expected = `200 ${JSON.stringify(value)}`;
  const { outgoing, text } = collectResponse();
  const written = writeResponse(new JsonResponse(value), outgoing, {
    hasBody: true,
    signal: new AbortController().signal,
  });
  await Promise.resolve();
  expect(text()).toBe('');
  await nextTurn();
  await written;
  expect(text()).toBe(expected);

  const left = new AbortController();
  const other = collectResponse();
  const unwritten = writeResponse(new JsonResponse(value), other.outgoing, { hasBody: true, signal: left.signal });
  left.abort();
  await unwritten;
  expect(other.text()).toBe('');
});

test.each([
  ['event-stream', ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n', 'data: 4\n\n']],
  ['json-array', ['[1', ',\n2', ',\n3', ',\n4', ']']],
] as const)(
  'a part of %s that comes while the caller waits is written at once, and not to one that reads too slowly',
  async (kind, expected) => {
    const written: string[] = [];
    const drains: (() => void)[] = [];
    let isFull = false;
    const outgoing: NodeResponse = {
      ...{ headersSent: false, writableEnded: false, writableLength: 0 },
      ...{ writeHead: () => undefined, flushHeaders: () => undefined, off: () => undefined },
      write: (text) => written.push(String(text)) > 0 && !isFull,
      end: () => written.push('end'),
      on: (event, listener) => event === 'drain' && drains.push(listener),
    };
    let progress = 0;
    let take!: (part: unknown) => boolean;
    const { source, push } = gatedSource();
    const response = streamResponse(source, {
      ...{ kind, headers: {}, requestId: 'r', signal: new AbortController().signal },
      ...{ stop: () => undefined, reportFailure: () => undefined },
      onReader: (given) => (take = given),
    });
    const left = new AbortController();
    const writing = writeResponse(response, outgoing, {
      hasBody: true,
      signal: left.signal,
      progress: { bufferedBytes: 0, noteProgress: () => (progress += 1) },
    });
    // The first part decides how the others begin.
    expect(take(0)).toBe(false);
    await push(1);
    expect([take(2), written]).toEqual([true, expected.slice(0, 2)]);
    expect(take('x'.repeat(5000))).toBe(false);
    isFull = true;
    expect([take(3), take(4), written.length, progress]).toEqual([true, false, 3, 0]);
    await push(4);
    expect(written.length).toBe(3);
    isFull = false;
    for (const drain of drains) drain();
    await push(null);
    await writing;
    expect([written.filter(Boolean), progress]).toEqual([[...expected, 'end'], 1]);
    left.abort();
    expect(take(5)).toBe(false);
  },
);

/** A source whose parts the test gives, each in time for what follows from it. Null ends it. */
function gatedSource() {
  let gate = Promise.withResolvers<number | null>();
  async function* parts(): AsyncGenerator<number, void, void> {
    for (;;) {
      const part = await gate.promise;
      if (part === null) return;
      gate = Promise.withResolvers();
      yield part;
    }
  }
  const push = async (part: number | null) => {
    gate.resolve(part);
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  };
  return { source: parts(), push };
}
