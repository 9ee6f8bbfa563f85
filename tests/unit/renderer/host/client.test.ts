import { describe, expect, test } from 'vitest';
import { createClient, type WireFrame } from '../../../../renderer/host/client.ts';
import type { HostRequest } from '../../../../renderer/host/host-fetch.ts';
import { AppError } from '../../../../shared/app-error.ts';
import {
  createCompletion,
  createCompletionEvents,
  createCompletionStream,
} from '../../../../shared/contract/completions.ts';
import { removeProviderKey, setProviderKey } from '../../../../shared/contract/providers.ts';
import { listRuns, readRun } from '../../../../shared/contract/runs.ts';
import { encodeEvent } from '../../../../shared/event-stream.ts';
import { connectByPort } from '../../../support/port-pair.ts';

const run = { promptText: 'Hi', aiSystem: 'OpenAi', model: 'gpt-4o' } as const;
const id = '7a3f2a54-6a0f-4b58-9d6c-0d0d3e3f4a10';
const chunk = (content: string) => ({
  choice: { index: 0, message: { role: 'assistant', content } },
  messageId: id,
  runId: id,
});
const failure = { error: { code: 'provider_failed', message: 'It broke.', details: [], requestId: 'r9' } };

function answering(answer: () => Response) {
  const requests: HostRequest[] = [];
  const client = createClient(async (request) => {
    requests.push(request);
    return answer();
  });
  return { client, requests };
}

function streamOf(pieces: readonly Uint8Array[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

function streamed(contentType: string, pieces: readonly string[]): Response {
  const body = streamOf(pieces.map((piece) => new TextEncoder().encode(piece)));
  return new Response(body, { headers: { 'content-type': contentType } });
}

async function collect<Item>(parts: AsyncIterable<Item>): Promise<{ items: Item[]; error: unknown }> {
  const items: Item[] = [];
  try {
    for await (const part of parts) items.push(part);
    return { items, error: null };
  } catch (error) {
    return { items, error };
  }
}

describe('a call', () => {
  test('becomes the request that the endpoint describes', async () => {
    const { client, requests } = answering(() => Response.json({}));
    await client.call(readRun, { parameters: { id } });
    await client.call(listRuns, { query: { pageSize: 5, draftId: 'a&b', continuationToken: undefined } });
    await client.call(setProviderKey, { parameters: { aiSystem: 'OpenAi' }, body: { key: 'k' } });
    expect(requests).toEqual([
      { method: 'GET', path: `/window/runs/${id}`, headers: { accept: 'application/json' }, body: null },
      {
        method: 'GET',
        path: '/window/runs?pageSize=5&draftId=a%26b',
        headers: { accept: 'application/json' },
        body: null,
      },
      {
        method: 'PUT',
        path: '/window/providers/OpenAi/key',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: '{"key":"k"}',
      },
    ]);
  });

  test('escapes a parameter in its part of the path', async () => {
    const { client, requests } = answering(() => Response.json({}));
    await client.call(readRun, { parameters: { id: '../settings?x' } });
    expect(requests[0]?.path).toBe('/window/runs/..%2Fsettings%3Fx');
  });

  test('resolves with the response, and with undefined for an empty one', async () => {
    expect(await answering(() => Response.json({ data: [] })).client.call(listRuns)).toEqual({ data: [] });
    const { client } = answering(() => new Response(null, { status: 204 }));
    expect(await client.call(removeProviderKey, { parameters: { aiSystem: 'Groq' } })).toBeUndefined();
  });

  test('throws the error in the body', async () => {
    const body = {
      error: { code: 'rate_limited', message: 'Wait.', details: [{ field: 'model', issue: 'busy' }], requestId: 'r1' },
    };
    const { client } = answering(() => Response.json(body, { status: 429, headers: { 'retry-after': '7' } }));
    const error = await client.call(createCompletion, { body: run }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ ...body.error, retryAfterSeconds: 7 });
  });

  test('throws an AppError for a foreign response', async () => {
    const { client } = answering(() => new Response('<html>', { status: 502 }));
    await expect(client.call(listRuns)).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('502'),
    });
  });
});

describe('a stream', () => {
  const events = [encodeEvent(chunk('Grü')), encodeEvent(chunk('ße'))].join('');

  test('yields its parts, however the bytes are split', async () => {
    const bytes = new TextEncoder().encode(events);
    const body = () => streamOf([...bytes].map((byte) => Uint8Array.of(byte)));
    const { client, requests } = answering(
      () => new Response(body(), { headers: { 'content-type': 'text/event-stream' } }),
    );
    const answer = await client.stream(createCompletionEvents, { body: run });
    expect(await collect(answer.parts)).toEqual({ items: [chunk('Grü'), chunk('ße')], error: null });
    expect(requests[0]?.headers['accept']).toBe('text/event-stream');
  });

  test('reads a JSON array the same way', async () => {
    const { client } = answering(() =>
      streamed('application/json', ['[', JSON.stringify(chunk('a')), ',{', `${JSON.stringify(chunk('b')).slice(1)}]`]),
    );
    const answer = await client.stream(createCompletionStream, { body: run });
    expect(await collect(answer.parts)).toEqual({ items: [chunk('a'), chunk('b')], error: null });
  });

  test('requests the chosen format from the main endpoint', async () => {
    const { client, requests } = answering(() => streamed('application/json', ['[]']));
    await client.stream(createCompletion, { body: run, query: { stream: 'true' }, kind: 'json-array' });
    expect(requests[0]).toMatchObject({
      path: '/api/completions?stream=true',
      headers: { accept: 'application/json' },
    });
  });

  test('throws the same AppError before the first byte and in the last part', async () => {
    const before = answering(() => Response.json(failure, { status: 502 }));
    const first = await before.client.stream(createCompletionEvents, { body: run }).catch((reason: unknown) => reason);
    const after = answering(() => streamed('text/event-stream', [encodeEvent(chunk('a')), encodeEvent(failure)]));
    const last = await collect((await after.client.stream(createCompletionEvents, { body: run })).parts);
    expect(last.items).toEqual([chunk('a')]);
    expect([first, last.error]).toEqual([expect.any(AppError), expect.any(AppError)]);
    expect([first, last.error]).toMatchObject([failure.error, failure.error]);
  });

  test.each([
    ['events that break off', 'text/event-stream', [encodeEvent(chunk('a')), 'data: {"cho']],
    ['events that are no JSON', 'text/event-stream', [encodeEvent(chunk('a')), 'data: nonsense\n\n']],
    ['an array that breaks off', 'application/json', [`[${JSON.stringify(chunk('a'))},`]],
  ])('yields the partial response and throws for %s', async (_name, type, pieces) => {
    const { client } = answering(() => streamed(type, pieces));
    const { items, error } = await collect((await client.stream(createCompletionEvents, { body: run })).parts);
    expect({ items, code: (error as AppError).code }).toEqual({ items: [chunk('a')], code: 'internal' });
  });

  test('ends the work at the host when its reader leaves the loop', async () => {
    const { promise: whenCancelled, resolve } = Promise.withResolvers<void>();
    using pair = connectByPort(async () => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(events)),
        cancel: () => resolve(),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const answer = await createClient(pair.hostFetch).stream(createCompletionEvents, { body: run });
    for await (const part of answer.parts) {
      expect(part).toEqual(chunk('Grü'));
      break;
    }
    await whenCancelled;
  });
});

describe('the wire', () => {
  test('shows the request, the head and every frame with its text and bytes', async () => {
    const seen: unknown[] = [];
    const frames: WireFrame[] = [];
    const { client } = answering(() => streamed('text/event-stream', [encodeEvent(chunk('ü')), encodeEvent(failure)]));
    const answer = await client.stream(createCompletionEvents, {
      body: run,
      wire: {
        onRequest: (request) => seen.push(request),
        onHead: ({ status }) => seen.push(status),
        onFrame: (frame) => frames.push(frame),
      },
    });
    await collect(answer.parts);
    expect(seen).toEqual([expect.objectContaining({ method: 'POST', path: '/api/completions/sse' }), 200]);
    expect(frames.map(({ text, bytes }) => [text, bytes])).toEqual(
      [chunk('ü'), failure].map((value) => [encodeEvent(value), Buffer.byteLength(encodeEvent(value))]),
    );
    expect(frames.every(({ at }, index) => at >= (frames[index - 1]?.at ?? 0))).toBe(true);
  });

  test('shows the body of a plain response and of a rejection as one frame', async () => {
    const frames: string[] = [];
    const wire = { onFrame: ({ text }: WireFrame) => frames.push(text) };
    await answering(() => Response.json({ data: [] })).client.call(listRuns, { wire });
    const refusing = answering(() => Response.json(failure, { status: 502 })).client;
    await refusing.stream(createCompletionEvents, { body: run, wire }).catch(() => undefined);
    expect(frames).toEqual([JSON.stringify({ data: [] }), JSON.stringify(failure)]);
  });
});
