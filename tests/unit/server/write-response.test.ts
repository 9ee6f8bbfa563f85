import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { JsonResponse } from '../../../electron/api/json-response.ts';
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
