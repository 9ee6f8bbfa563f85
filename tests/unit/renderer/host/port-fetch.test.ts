import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { JsonResponse } from '../../../../electron/api/json-response.ts';
import { StreamedTexts } from '../../../../electron/api/stream-response.ts';
import type { HostRequest } from '../../../../renderer/host/host-fetch.ts';
import { AppError } from '../../../../shared/app-error.ts';
import { type HostFrame, initialCredit, maximumChunk, type WindowFrame } from '../../../../shared/port-frames.ts';
import { cleanMemory } from '../../../support/clean-memory.ts';
import { connectByPort } from '../../../support/port-pair.ts';

const request: HostRequest = { method: 'GET', path: '/', headers: {}, body: null };

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

/** An answer without an end; counts the pieces that were asked of it. */
function endlessAnswer(pieceBytes: number) {
  const state = { pieces: 0, isCancelled: false };
  const { promise: whenCancelled, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.pieces += 1;
        controller.enqueue(new Uint8Array(pieceBytes));
      },
      cancel() {
        state.isCancelled = true;
        resolve();
      },
    },
    { highWaterMark: 0 },
  );
  return { state, whenCancelled, response: new Response(body) };
}

describe('a request over the port', () => {
  test("arrives unchanged, as the window's", async () => {
    using pair = connectByPort(async (received, context) =>
      Response.json({
        method: received.method,
        path: new URL(received.url).pathname + new URL(received.url).search,
        type: received.headers.get('content-type'),
        body: await received.text(),
        access: context.access,
      }),
    );
    const headers = { 'content-type': 'application/json' };
    const response = await pair.hostFetch({ method: 'POST', path: '/a/b?c=d%20e', headers, body: '{"ü":1}' });
    expect(await response.json()).toEqual({
      method: 'POST',
      path: '/a/b?c=d%20e',
      type: 'application/json',
      body: '{"ü":1}',
      access: 'window',
    });
  });

  test('returns status, headers and every byte, also of a body larger than any frame', async () => {
    const bytes = new Uint8Array(3 * initialCredit + 17).map((_, index) => index % 251);
    using pair = connectByPort(async () => new Response(bytes, { status: 203, headers: { 'x-one': '1' } }));
    const response = await pair.hostFetch(request);
    expect({ status: response.status, one: response.headers.get('x-one') }).toEqual({ status: 203, one: '1' });
    expect(Buffer.compare(await response.bytes(), bytes)).toBe(0);
  });

  test('returns a JSON response, and texts as they are streamed', async () => {
    const parts = ['eins ', '', 'zwei ü', 'drei '.repeat(initialCredit)];
    const texts = {
      next: async () => ({ text: parts.shift()!, isDone: parts.length === 0 }),
      offerTo: () => undefined,
      end: async () => undefined,
    };
    const streamed = new StreamedTexts(texts, { 'x-one': '1' });
    const whole = new JsonResponse({ value: 'ü'.repeat(initialCredit) }, { status: 201, headers: { 'x-two': '2' } });
    const expected = parts.join('');
    using pair = connectByPort(async ({ url }) => (url.endsWith('/whole') ? whole : streamed));
    const [first, second] = [await pair.hostFetch({ ...request, path: '/whole' }), await pair.hostFetch(request)];
    expect([first.status, first.headers.get('content-type'), first.headers.get('x-two')]).toEqual([
      201,
      'application/json',
      '2',
    ]);
    expect(await first.json()).toEqual({ value: 'ü'.repeat(initialCredit) });
    expect([second.status, second.headers.get('x-one'), await second.text()]).toEqual([200, '1', expected]);
  });

  test('returns a JSON response whose headers were read', async () => {
    const read = new JsonResponse({ a: 1 }, { headers: { 'x-one': '1' } });
    expect(read.headers.get('x-one')).toBe('1');
    using pair = connectByPort(async () => read);
    const response = await pair.hostFetch(request);
    expect([response.headers.get('x-one'), await response.text()]).toEqual(['1', '{"a":1}']);
  });

  test('returns a response without a body', async () => {
    using pair = connectByPort(async () => new Response(null, { status: 204 }));
    const response = await pair.hostFetch(request);
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 204, text: '' });
  });

  test('shares the port with others, each with its own response', async () => {
    using pair = connectByPort(async (received) => new Response(new URL(received.url).pathname));
    const paths = Array.from({ length: 50 }, (_, index) => `/${index}`);
    const answers = await Promise.all(paths.map(async (path) => (await pair.hostFetch({ ...request, path })).text()));
    expect(answers).toEqual(paths);
  });

  test('sends only its own bytes, not the whole buffer', async () => {
    const part = Buffer.from(new ArrayBuffer(8192), 10, 5).fill('x');
    using pair = connectByPort(
      async () => new Response(new ReadableStream({ start: (c) => (c.enqueue(part), c.close()) })),
    );
    await (await pair.hostFetch(request)).text();
    const chunks = pair.frames.flatMap((frame) => (frame.type === 'chunks' ? frame.chunks : []));
    expect(chunks.map(({ bytes }) => [bytes.byteLength, bytes.buffer.byteLength])).toEqual([[5, 5]]);
  });
});

describe('chunks that come within a few milliseconds', () => {
  /** A response for each path, whose body the test writes. */
  function writtenAnswers() {
    const bodies = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
    const fetch = async ({ url }: Request) =>
      new Response(new ReadableStream({ start: (controller) => void bodies.set(new URL(url).pathname, controller) }));
    const write = (path: string, text: string) => bodies.get(path)!.enqueue(Buffer.from(text));
    return { fetch, write, end: (path: string) => bodies.get(path)!.close() };
  }

  const sentTexts = (frames: readonly (WindowFrame | HostFrame)[]) =>
    frames.flatMap((frame) =>
      frame.type === 'chunks'
        ? [frame.chunks.map(({ id, bytes }) => `${id} ${Buffer.from(bytes).toString()}`).join(', ')]
        : frame.type === 'end'
          ? [`${frame.id} ended`]
          : [],
    );

  /** Moves the clock of the host only: the port between the ends is real. */
  async function wait(milliseconds: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (milliseconds > 0) vi.advanceTimersByTime(milliseconds);
  }

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('are one message with one chunk for each response, and the first is sent at once', async () => {
    const answers = writtenAnswers();
    using pair = connectByPort(answers.fetch);
    const [one, other] = await Promise.all(['/1', '/2'].map((path) => pair.hostFetch({ ...request, path })));
    answers.write('/1', 'a');
    await wait(3);
    for (const text of ['b', 'c', 'd']) {
      answers.write('/1', text);
      answers.write('/2', text.toUpperCase());
      await wait(1);
    }
    await wait(0);
    expect(sentTexts(pair.frames)).toEqual(['1 a']);
    await wait(2);
    expect(sentTexts(pair.frames)).toEqual(['1 a', '1 bcd, 2 BCD']);
    await wait(8);
    answers.write('/2', 'E');
    await wait(0);
    expect(sentTexts(pair.frames)).toEqual(['1 a', '1 bcd, 2 BCD', '2 E']);
    answers.write('/1', 'e');
    answers.end('/1');
    answers.end('/2');
    expect(await Promise.all([one!.text(), other!.text()])).toEqual(['abcde', 'BCDE']);
    // An end doesn't overtake what was gathered.
    expect(sentTexts(pair.frames).slice(3)).toContain('1 e');
  });

  test('are not sent when their request was cancelled meanwhile', async () => {
    const answers = writtenAnswers();
    using pair = connectByPort(answers.fetch);
    const [one] = await Promise.all(['/1', '/2'].map((path) => pair.hostFetch({ ...request, path })));
    for (const path of ['/2', '/1', '/2']) {
      answers.write(path, 'x');
      await wait(0);
    }
    const cancelled = pair.nextFrame(({ type }) => type === 'cancel');
    await one!.body!.cancel();
    await cancelled;
    await wait(10);
    expect(sentTexts(pair.frames)).toEqual(['2 x', '2 x']);
  });

  test('are sent at once when they are long', async () => {
    const answers = writtenAnswers();
    using pair = connectByPort(answers.fetch);
    await pair.hostFetch({ ...request, path: '/1' });
    const lengths = [1, 10, maximumChunk - 5, maximumChunk];
    for (const length of lengths) {
      answers.write('/1', 'x'.repeat(length));
      await wait(0);
    }
    const sent = pair.frames.flatMap((frame) => (frame.type === 'chunks' ? frame.chunks : []));
    expect(sent.map(({ bytes }) => bytes.byteLength)).toEqual([1, 10, maximumChunk - 5, maximumChunk]);
  });
});

describe('flow control', () => {
  test("a reader that doesn't read stops the host at the limit", async () => {
    const endless = endlessAnswer(1024);
    using pair = connectByPort(async () => endless.response);
    const spent = pair.nextFrame((frame) => frame.type === 'chunks' && endless.state.pieces === initialCredit / 1024);
    const response = await pair.hostFetch(request);
    await spent;
    // A second exchange that runs to its end shows that the first one has had every chance to go on.
    await (await pair.hostFetch({ ...request, path: '/second' })).body?.cancel();
    expect(endless.state.pieces).toBe(initialCredit / 1024);
    await response.body?.cancel();
  });

  test('a reader that continues gets more, and never more than its queue allows', async () => {
    const endless = endlessAnswer(32 * 1024);
    using pair = connectByPort(async () => endless.response);
    const reader = (await pair.hostFetch(request)).body!.getReader();
    let read = 0;
    let maxAhead = 0;
    while (read < 20 * initialCredit) {
      const { value } = await reader.read();
      read += value!.byteLength;
      maxAhead = Math.max(maxAhead, endless.state.pieces * 32 * 1024 - read);
    }
    expect(maxAhead).toBeLessThanOrEqual(initialCredit);
    await reader.cancel();
  });
});

describe('aborting', () => {
  test('an aborted signal reaches the handler and ends the response', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    using pair = connectByPort(async (received) => {
      void aborted(received.signal).then(resolve);
      return endlessAnswer(10).response;
    });
    const controller = new AbortController();
    const response = await pair.hostFetch({ ...request, signal: controller.signal });
    const text = response.text();
    controller.abort();
    await expect(text).rejects.toMatchObject({ name: 'AbortError' });
    await promise;
  });

  test('the abort reaches a handler that keeps only the signal, after any garbage collection', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    using pair = connectByPort((received) => {
      received.signal.addEventListener('abort', () => resolve());
      return new Promise<Response>(() => undefined);
    });
    const controller = new AbortController();
    const arrived = pair.nextFrame(({ type }) => type === 'request');
    const answer = pair.hostFetch({ ...request, signal: controller.signal });
    await arrived;
    await cleanMemory();
    controller.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    await promise;
  });

  test('a signal aborted before the head rejects the request and reaches the handler', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    using pair = connectByPort(async (received) => {
      await aborted(received.signal);
      resolve();
      throw received.signal.reason;
    });
    const controller = new AbortController();
    const answer = pair.hostFetch({ ...request, signal: controller.signal });
    controller.abort();
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    await promise;
  });

  test('a reader that leaves ends the work at the host, and no frame follows', async () => {
    const endless = endlessAnswer(10);
    using pair = connectByPort(async () => endless.response);
    const response = await pair.hostFetch(request);
    await response.body!.cancel();
    await endless.whenCancelled;
    const cancelled = pair.frames.findIndex(({ type }) => type === 'cancel');
    expect(pair.frames.slice(cancelled + 1).map(({ type }) => type)).not.toContain('end');
  });

  test('a reader that leaves ends streamed texts, also while they wait', async () => {
    const { promise, resolve } = Promise.withResolvers<{ text: string; isDone: boolean }>();
    const ended = vi.fn<() => void>();
    const texts = {
      next: () => promise,
      offerTo: () => undefined,
      async end() {
        ended();
        resolve({ text: 'late', isDone: true });
      },
    };
    using pair = connectByPort(async ({ url }) =>
      url.endsWith('/second') ? new Response(null) : new StreamedTexts(texts, {}),
    );
    const response = await pair.hostFetch(request);
    await response.body!.cancel();
    // Another exchange shows that the host has read the cancel frame.
    await (await pair.hostFetch({ ...request, path: '/second' })).text();
    expect(ended).toHaveBeenCalled();
    expect(pair.frames.map(({ type }) => type)).not.toContain('chunks');
  });

  test('bytes from before the abort can still be read', async () => {
    using pair = connectByPort(async () => {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('kept')) });
      return new Response(body);
    });
    const controller = new AbortController();
    const arrived = pair.nextFrame(({ type }) => type === 'chunks');
    const response = await pair.hostFetch({ ...request, signal: controller.signal });
    await arrived;
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    controller.abort();
    await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' });
    expect(Buffer.from(value!).toString()).toBe('kept');
  });

  test('closing the page aborts all of its requests', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const pair = connectByPort(async (received) => {
      void aborted(received.signal).then(resolve);
      return endlessAnswer(10).response;
    });
    await pair.hostFetch(request);
    pair.closeWindow();
    await promise;
  });

  test('the end of the host fails active requests and later ones', async () => {
    const { promise: isRequested, resolve } = Promise.withResolvers<void>();
    using pair = connectByPort(() => {
      resolve();
      return new Promise<Response>(() => undefined);
    });
    const active = pair.hostFetch(request);
    await isRequested;
    pair.closeHost();
    await expect(active).rejects.toBeInstanceOf(AppError);
    await expect(pair.hostFetch(request)).rejects.toMatchObject({ code: 'internal' });
  });

  test('no listener stays on a signal that outlives its requests', async () => {
    using pair = connectByPort(async () => new Response('done'));
    const { signal } = new AbortController();
    const listeners = new Set<unknown>();
    const original = { add: signal.addEventListener, remove: signal.removeEventListener };
    signal.addEventListener = (...call: Parameters<typeof original.add>) => {
      listeners.add(call[1]);
      original.add.apply(signal, call);
    };
    signal.removeEventListener = (...call: Parameters<typeof original.remove>) => {
      listeners.delete(call[1]);
      original.remove.apply(signal, call);
    };
    await (await pair.hostFetch({ ...request, signal })).text();
    expect(listeners.size).toBe(0);
  });
});

describe('a failure of the host', () => {
  test('before the head rejects the request', async () => {
    using pair = connectByPort(async () => {
      throw new AppError('conflict', 'Busy.', { requestId: 'r1' });
    });
    await expect(pair.hostFetch(request)).rejects.toMatchObject({
      code: 'conflict',
      message: 'Busy.',
      requestId: 'r1',
    });
  });

  test('in the middle of a body fails the reader, without details', async () => {
    using pair = connectByPort(async () => {
      const body = new ReadableStream({
        pull: (controller) => controller.error(new Error('secret /home/someone')),
      });
      return new Response(body);
    });
    const response = await pair.hostFetch(request);
    await expect(response.text()).rejects.toMatchObject({
      code: 'internal',
      message: expect.not.stringContaining('secret'),
    });
  });
});
