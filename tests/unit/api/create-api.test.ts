import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createApi } from '../../../electron/api/create-api.ts';
import { implement } from '../../../electron/api/api.ts';
import { createRateLimits } from '../../../electron/credits/rate-limits.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../../../electron/storage/storage.ts';
import { AppError } from '../../../shared/app-error.ts';
import { defineEndpoint, type Access, type Method } from '../../../shared/contract/endpoint.ts';

const keys: Record<string, AuthenticatedKey> = {
  'run-key': {
    id: '1',
    callerId: 'caller',
    scopes: ['run'],
    creditLimit: null,
    creditsUsed: 0,
    creditsElsewhere: 0,
    isShared: false,
    requestsPerMinute: null,
    tokensPerMinute: null,
    recordLevel: 'all',
  },
};
const apiKeys = { authenticate: (key: string) => keys[key] ?? null } as Partial<ApiKeyStore> as ApiKeyStore;

function endpoint(method: Method, path: string, access: Access) {
  return defineEndpoint({
    id: `${method}${path}`,
    method,
    path,
    access,
    tag: 'Test',
    summary: 'Test',
    response: z.unknown(),
  });
}

const body = z.strictObject({
  name: z.string().min(1).max(5),
  tags: z
    .array(z.object({ size: z.int().max(9) }))
    .max(1)
    .optional(),
});
const failures: unknown[] = [];
/** Called when a thing is made. */
let handled: () => void = () => {};
let flushes = 0;
const api = createApi({
  rateLimits: createRateLimits(),
  apiKeys,
  windowCallerId: 'window',
  flush: () => void (flushes += 1),
  reportFailure: (_, error) => failures.push(error),
  handlers: [
    implement({ ...endpoint('post', '/things', 'run'), body }, ({ body: thing, caller }) => {
      handled();
      return { thing, by: caller.callerId };
    }),
    implement(endpoint('get', '/things', 'audit'), () => []),
    implement(endpoint('get', '/open', 'public'), () => ({ ok: true })),
    implement(
      { ...endpoint('get', '/named/{id}', 'public'), parameters: z.object({ id: z.string() }) },
      ({ parameters }) => ({
        id: parameters.id,
      }),
    ),
    implement(endpoint('get', '/window/secrets', 'window'), () => ({ ok: true })),
    implement(endpoint('get', '/broken', 'run'), () => {
      throw new Error('/home/somebody/file.ts went wrong');
    }),
    implement(endpoint('get', '/full', 'run'), () => {
      throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
    }),
    implement(endpoint('get', '/gone', 'run'), () => {
      throw new AppError('rate_limited', 'Wait.', { retryAfterSeconds: 7 });
    }),
  ],
});

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  access?: 'network' | 'window';
}

async function send(path: string, { method = 'GET', headers = {}, body: text, access = 'network' }: Sent = {}) {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  });
  const response = await api.fetch(request, { access });
  const answer = (await response.json()) as {
    error?: { code: string; message: string; details: unknown[]; requestId: string };
  };
  return { status: response.status, headers: response.headers, answer };
}

const withKey = { authorization: 'Bearer run-key' };
const json = { ...withKey, 'content-type': 'application/json' };

describe('a path', () => {
  it.each(['/open', '/%6fpen', '/open?page=1', '/open#part'])('is found as %s', async (path) => {
    expect((await send(path)).status).toBe(200);
  });

  it.each(['/open/', '//open', '/Open', '/things/{id}', '/things/%7Bid%7D/', '/%zz'])('is not %s', async (path) => {
    expect((await send(path, { headers: withKey })).status).toBe(404);
  });

  it('with a parameter has its value, also if that looks like the parameter', async () => {
    for (const id of ['7', '%7Bid%7D']) {
      const { answer } = await send(`/named/${id}`);
      expect(answer).toEqual({ id: decodeURIComponent(id) });
    }
  });

  it('with a parameter has the value of each call, however many there are', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `id-${index}`);
    for (const id of [...ids, ...ids.slice(-2), ids[0]!, 'x'.repeat(300), 'x'.repeat(300)])
      expect((await send(`/named/${id}?page=${id}`)).answer).toEqual({ id });
    expect((await send('/named/id-299', { method: 'POST', body: '' })).status).toBe(405);
    expect((await send('/named/id-299/')).status).toBe(404);
    const head = await api.fetch(new Request('http://127.0.0.1/named/id-299', { method: 'HEAD' }), {
      access: 'network',
    });
    expect([head.status, head.body]).toEqual([405, null]);
    expect((await send('/named/id-299')).answer).toEqual({ id: 'id-299' });
  });

  it('answers HEAD without a body', async () => {
    const response = await api.fetch(new Request('http://127.0.0.1/open', { method: 'HEAD' }), { access: 'network' });
    expect([response.status, response.body]).toEqual([405, null]);
  });
});

describe('the order of rejections', () => {
  it.each([
    ['an unknown path is 404 even without a key', '/nothing', {}, 404],
    ['a known path without a key is 401', '/things', { method: 'DELETE' }, 401],
    ['a method that the path does not take is 405', '/things', { method: 'DELETE', headers: withKey }, 405],
    ['a key without the scope is 403', '/things', { headers: withKey }, 403],
    [
      'another media type is 415',
      '/things',
      { method: 'POST', headers: { ...withKey, 'content-type': 'text/plain' }, body: '{' },
      415,
    ],
    ['broken JSON is 400', '/things', { method: 'POST', headers: json, body: '{' }, 400],
    ['a window path is unknown to the network', '/window/secrets', { headers: withKey }, 404],
    ['a window path answers the window', '/window/secrets', { access: 'window' as const }, 200],
    ['a public path needs no key', '/open', {}, 200],
    ['a public path is 405 for another method', '/open', { method: 'POST', body: '' }, 405],
  ])('%s', async (_, path, sent: Sent, status) => {
    expect((await send(path, sent)).status).toBe(status);
  });

  it('lists the methods of a path in Allow', async () => {
    const { headers } = await send('/things', { method: 'PUT', headers: withKey });
    expect(headers.get('allow')).toBe('POST, GET');
  });
});

it.each([
  ['a request that may read runs', '/window/secrets', { access: 'window' as const }, 1],
  ['a request for a run', '/things', { method: 'POST', headers: json, body: '{"name":"one"}' }, 0],
])('whether runs that have ended are written first: %s', async (_, path, sent: Sent, count) => {
  const before = flushes;
  expect((await send(path, sent)).status).toBe(200);
  expect(flushes - before).toBe(count);
});

describe('keys', () => {
  it.each([
    ['the bearer form', { authorization: 'Bearer run-key' }, 'caller'],
    ['the custom header', { 'x-hl-api-key': 'run-key' }, 'caller'],
    ['the same key in both', { authorization: 'bearer run-key', 'x-hl-api-key': 'run-key' }, 'caller'],
  ])('are accepted as %s', async (_, headers, by) => {
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{"name":"a"}' };
    expect((await send('/things', sent)).answer).toEqual({ thing: { name: 'a' }, by });
  });

  it.each([
    ['two different keys', { authorization: 'Bearer run-key', 'x-hl-api-key': 'other' }],
    ['an unknown key', { authorization: 'Bearer other' }],
    ['another scheme', { authorization: 'Basic run-key' }],
    ['an empty key', { 'x-hl-api-key': '' }],
  ])('are rejected as %s', async (_, headers) => {
    const { status, answer } = await send('/things', { method: 'POST', headers });
    expect({ status, code: answer.error?.code }).toEqual({ status: 401, code: 'unauthorized' });
  });
});

describe('whoever brings a valid key', () => {
  const isKnown = (headers: Record<string, string>, target = '/openai/v1/models') => api.isKnown({ target, headers });

  it.each([
    ['the bearer form', { authorization: 'Bearer run-key' }],
    ['the custom header', { 'x-hl-api-key': ' run-key ' }],
    ['the custom header beside the key of a provider', { authorization: 'Bearer sk', 'x-hl-api-key': 'run-key' }],
    ['its own header beside the key of a provider', { 'x-api-key': 'sk', 'x-touchstone-key': 'run-key' }],
    ["a provider's header", { authorization: 'Basic sk', 'x-api-key': 'run-key' }],
    ["a provider's second header", { 'x-api-key': 'sk', 'x-goog-api-key': 'run-key' }],
  ])('is known by %s', (_, headers) => expect(isKnown(headers)).toBe(true));

  it("is known by Gemini's query, but not by another", () => {
    expect(isKnown({}, '/gemini/v1beta/models?key=run-key')).toBe(true);
    expect(isKnown({}, '/openai/v1/models?key=run-key')).toBe(false);
  });

  it('is a stranger without one', () => {
    expect(isKnown({})).toBe(false);
    expect(isKnown({ authorization: 'Bearer sk', 'x-hl-api-key': 'other', 'x-api-key': '' })).toBe(false);
  });
});

describe('bad bodies', () => {
  it.each([
    ['a missing field', '{}', [{ field: 'name', issue: 'is required' }]],
    ['an unknown field', '{"name":"a","extra":1}', [{ field: 'extra', issue: 'is not a known field' }]],
    ['a wrong type', '{"name":1}', [{ field: 'name', issue: 'must be of type string' }]],
    [
      'a wrong type deep inside',
      '{"name":"a","tags":[{"size":1.5}]}',
      [{ field: 'tags[0].size', issue: 'must be a whole number' }],
    ],
    ['a text that is too long', '{"name":"abcdef"}', [{ field: 'name', issue: 'must have at most 5 characters' }]],
    ['an empty text', '{"name":""}', [{ field: 'name', issue: 'must not be empty' }]],
    [
      'a number that is too large',
      '{"name":"a","tags":[{"size":10}]}',
      [{ field: 'tags[0].size', issue: 'must be at most 9' }],
    ],
    [
      'a list that is too long',
      '{"name":"a","tags":[{"size":1},{"size":2}]}',
      [{ field: 'tags', issue: 'must have at most 1 items' }],
    ],
    ['no object at all', '[]', [{ field: '', issue: 'must be of type object' }]],
  ])('contain the position of %s', async (_, text, details) => {
    const { status, answer } = await send('/things', { method: 'POST', headers: json, body: text });
    expect({ status, details: answer.error?.details }).toEqual({ status: 400, details });
  });

  it('are rejected if they are nested too deep to be stored', async () => {
    const text = `{"name":${'['.repeat(60_000)}${']'.repeat(60_000)}}`;
    const { status, answer } = await send('/things', { method: 'POST', headers: json, body: text });
    expect({ status, message: answer.error?.message }).toEqual({
      status: 400,
      message: 'The request body is nested more than 500 levels deep.',
    });
  });

  const many = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index));

  it.each([
    ['field names', `{${many(20_001, (index) => `"a${index}":1`).join(',')}}`, '20,000 field names'],
    ['field names, two-byte', `{${many(20_001, (index) => `"你${index}":1`).join(',')}}`, '20,000 field names'],
    ['field names of many objects', `[${many(20_001, (index) => `{"a${index}":1}`).join(',')}]`, '20,000 field names'],
    ['lists', `[${'[],'.repeat(250_001)}[]]`, '250,000 lists and objects'],
    ['objects', `[${'{},'.repeat(250_001)}{}]`, '250,000 lists and objects'],
  ])('are rejected with more %s than can be parsed quickly', async (_, sent, limit) => {
    const parse = vi.spyOn(JSON, 'parse');
    const { status, answer } = await send('/things', { method: 'POST', headers: json, body: sent });
    expect({
      status,
      message: answer.error?.message,
      parsed: parse.mock.calls.filter(([text]) => text === sent),
    }).toEqual({
      status: 400,
      message: `The request body has more than ${limit}. Send less in one request.`,
      parsed: [],
    });
    parse.mockRestore();
  });

  it('may repeat field names and have many values, quotes and escapes', async () => {
    const tags = Array.from({ length: 30_000 }, (_, index) => ({ size: index % 9, n: `a\\":"${index}` }));
    const sent = JSON.stringify({ name: 'a', tags });
    const { answer } = await send('/things', { method: 'POST', headers: json, body: sent });
    expect(answer.error?.details).toEqual([{ field: 'tags', issue: 'must have at most 1 items' }]);
  });

  it('that are long let other requests run between reading, parsing and handling them', async () => {
    let turn = 0;
    let ticking = setImmediate(function tick() {
      turn += 1;
      ticking = setImmediate(tick);
    });
    const sent = JSON.stringify({ name: 'x'.repeat(1_000_000) });
    const turns: number[] = [];
    const parse = vi.spyOn(JSON, 'parse').mockImplementationOnce(() => {
      turns.push(turn);
      return { name: 'a' };
    });
    const decode = vi.spyOn(TextDecoder.prototype, 'decode').mockImplementationOnce(() => {
      turns.push(turn);
      return sent;
    });
    handled = () => turns.push(turn);
    const { status } = await send('/things', { method: 'POST', headers: json, body: sent });
    clearImmediate(ticking);
    parse.mockRestore();
    decode.mockRestore();
    expect([status, new Set(turns).size]).toEqual([200, 3]);
  });

  it('over 4 MB are 413, with and without a length', async () => {
    const tooMuch = 'x'.repeat(4 * 1_048_576 + 1);
    const announced = await send('/things', {
      method: 'POST',
      headers: { ...json, 'content-length': '4194305' },
      body: '{}',
    });
    const counted = await send('/things', { method: 'POST', headers: json, body: tooMuch });
    expect([announced.status, counted.status]).toEqual([413, 413]);
  });
});

describe('errors', () => {
  it('of the service have only a request id and reveal nothing', async () => {
    const { status, headers, answer } = await send('/broken', { headers: withKey });
    expect({
      status,
      code: answer.error?.code,
      leaked: JSON.stringify(answer).includes('somebody'),
      reported: failures.length,
    }).toEqual({
      status: 500,
      code: 'internal',
      leaked: false,
      reported: 1,
    });
    expect(headers.get('x-request-id')).toBe(answer.error?.requestId);
  });

  it('of the disk contain the fix, and are logged', async () => {
    const before = failures.length;
    const { status, answer } = await send('/full', { headers: withKey });
    expect({ status, message: answer.error?.message, reported: failures.length - before }).toEqual({
      status: 500,
      message: expect.stringContaining('The disk is full. Free some space'),
      reported: 1,
    });
  });

  it('of a provider contain the time to wait', async () => {
    const { status, headers } = await send('/gone', { headers: withKey });
    expect({ status, wait: headers.get('retry-after') }).toEqual({ status: 429, wait: '7' });
  });
});
