// @module-tag slow
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallerRequest } from '../support/http-clients.ts';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, minimalRequest, startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  // Whoever gets through to the provider was not refused.
  host.provider.answerWith((call) => call.chatAnswer({ content: 'must not be reached' }));
});
afterAll(() => host.close());

const paths = ['/api/completions', '/api/completions/sync', '/api/completions/stream', '/api/completions/sse'];
const secondKey = () => host.issueKey();

const badBodies: [name: string, body: unknown, fields: readonly string[]][] = [
  ['no promptText', { ...minimalRequest, promptText: undefined }, ['promptText']],
  ['an empty promptText', { ...minimalRequest, promptText: '' }, ['promptText']],
  ['a promptText that is null', { ...minimalRequest, promptText: null }, ['promptText']],
  ['a promptText that is a number', { ...minimalRequest, promptText: 7 }, ['promptText']],
  ['no aiSystem', { ...minimalRequest, aiSystem: undefined }, ['aiSystem']],
  ['an unknown aiSystem', { ...minimalRequest, aiSystem: 'openai' }, ['aiSystem']],
  ['no model', { ...minimalRequest, model: undefined }, ['model']],
  ['an empty model', { ...minimalRequest, model: '' }, ['model']],
  [
    'a model of another provider',
    { ...minimalRequest, aiSystem: 'OpenAi', model: 'claude-3-opus-20240229' },
    ['model'],
  ],
  ['an unknown model', { ...minimalRequest, aiSystem: 'ServiceAi', model: 'hl-gpt-4o-min' }, ['model']],
  ['a model of an unknown endpoint', { ...minimalRequest, model: 'nowhere/model' }, ['model']],
  ['a model that is a list', { ...minimalRequest, model: ['scripted/model'] }, ['model']],
  ['a systemMessage that is a number', { ...minimalRequest, systemMessage: 1 }, ['systemMessage']],
  ['replacements that are a list', { ...minimalRequest, replacements: ['a'] }, ['replacements']],
  ['a configuration that is a text', { ...minimalRequest, configuration: 'hot' }, ['configuration']],
  [
    'a temperature that is a text',
    { ...minimalRequest, configuration: { temperature: 'hot' } },
    ['configuration.temperature'],
  ],
  [
    'a temperature out of range',
    { ...minimalRequest, configuration: { temperature: 9 } },
    ['configuration.temperature'],
  ],
  ['a max_tokens of 0', { ...minimalRequest, configuration: { max_tokens: 0 } }, ['configuration.max_tokens']],
  [
    'a max_tokens that is not whole',
    { ...minimalRequest, configuration: { max_tokens: 1.5 } },
    ['configuration.max_tokens'],
  ],
  ['a configured model', { ...minimalRequest, configuration: { model: 'x' } }, ['configuration.model']],
  ['a configured input', { ...minimalRequest, configuration: { input: 'x' } }, ['configuration.input']],
  ['configured messages', { ...minimalRequest, configuration: { messages: [] } }, ['configuration.messages']],
  ['a configured stream', { ...minimalRequest, configuration: { stream: true } }, ['configuration.stream']],
  ['a configured store', { ...minimalRequest, configuration: { store: true } }, ['configuration.store']],
  ['a dataspace that is no uuid', { ...minimalRequest, dataspaceIds: ['x'] }, ['dataspaceIds[0]']],
  [
    'an unknown dataspace',
    { ...minimalRequest, dataspaceIds: ['11111111-1111-4111-8111-111111111111'] },
    ['dataspaceIds[0]'],
  ],
  ['metadata that is a text', { ...minimalRequest, metadata: 'x' }, ['metadata']],
  [
    'a conversation that is no uuid',
    { ...minimalRequest, metadata: { conversationId: 'x' } },
    ['metadata.conversationId'],
  ],
  ['an unknown field', { ...minimalRequest, prompttext: 'x' }, ['prompttext']],
  ['a field named constructor', { ...minimalRequest, constructor: 1 }, ['constructor']],
  ['a field named __proto__', { ...minimalRequest, ['__proto__']: { x: 1 } }, ['__proto__']],
  [
    'a replacement named __proto__',
    { ...minimalRequest, replacements: { ['__proto__']: 'x' } },
    ['replacements.__proto__'],
  ],
  [
    'metadata with __proto__ deep inside',
    { ...minimalRequest, metadata: { a: [{ ['__proto__']: 1 }] } },
    ['metadata.a[0].__proto__'],
  ],
  ['several mistakes', { aiSystem: 'x', model: 1, extra: 1 }, ['promptText', 'aiSystem', 'model', 'extra']],
  ['a list', [], []],
  ['a text', 'hello', []],
  ['a number', 1, []],
  ['null', null, []],
];

const badTemplates: [template: string, line: number, column: number][] = [
  ['Hi {{name', 1, 4],
  ['One\nTwo {{#if a}}x', 2, 5],
  ['{{#each items}}\n{{/if}}', 2, 4],
  ['a\n\n  {{> partial}}', 3, 3],
  ['{{shout name}}', 1, 3],
  ['\r\n{{}}', 2, 1],
  ['{{first name}} and {{last name}}', 1, 3],
];

const post = (body: CallerRequest['body'], headers: Record<string, string>, path: string): CallerRequest => ({
  method: 'POST',
  path,
  headers: { authorization: `Bearer ${host.key}`, 'content-type': 'application/json', ...headers },
  ...(body === undefined ? {} : { body }),
});

describe.each(ways)('%s', (way) => {
  test.each(badBodies)('rejects %s with 400 on every completion endpoint', async (_, body, fields) => {
    for (const path of paths) {
      const error = judgeError(await host.send(way, post(JSON.stringify(body), {}, path)), 400);
      expect(error.code).toBe('invalid_request');
      expect(error.details.map(({ field }) => field)).toEqual(expect.arrayContaining([...fields]));
      for (const field of fields.slice(0, 1)) expect(error.message).toContain(field.split('[')[0]);
    }
  });

  test.each(badTemplates)(
    'rejects the template %j with 400 at line %i, column %i',
    async (promptText, line, column) => {
      for (const path of paths) {
        const error = judgeError(await host.send(way, completionCall(host, path, { promptText })), 400);
        expect(error.details[0]).toEqual({ field: 'promptText', issue: expect.any(String), line, column });
        expect(error.message).toMatch(new RegExp(`line ${line}, column ${column}`));
      }
    },
  );

  test('suggests the nearest names for an unknown model', async () => {
    const body = { aiSystem: 'ServiceAi', model: 'hl-gpt-4o-min' };
    const error = judgeError(await host.send(way, completionCall(host, '/api/completions/sync', body)), 400);
    expect(JSON.stringify(error)).toContain('hl-gpt-4o-mini');
  });

  test.each(['maybe', '', '1', 'TRUE', 'true&stream=true', 'false&stream=true'])(
    'rejects stream=%s with 400',
    async (value) => {
      const error = judgeError(await host.send(way, completionCall(host, `/api/completions?stream=${value}`)), 400);
      expect(error.details.map(({ field }) => field)).toEqual(['stream']);
    },
  );

  test.each(['{', '{"a":1,}', "{'a':1}", 'undefined', '{}{}', '\u0000'])(
    'rejects the body %j with 400: invalid JSON',
    async (text) => {
      for (const path of paths) {
        expect(judgeError(await host.send(way, post(text, {}, path)), 400).message).toMatch(/JSON/);
      }
    },
  );

  test('rejects a body without content with 400', async () => {
    for (const path of paths) judgeError(await host.send(way, post('', {}, path)), 400);
  });

  test('accepts a body of 4 MB and rejects one more byte with 413', async () => {
    const bodyOf = (bytes: number) => {
      const empty = JSON.stringify({ ...minimalRequest, promptText: '' }).length;
      return JSON.stringify({ ...minimalRequest, promptText: 'x'.repeat(bytes - empty) });
    };
    const limit = 4 * 1_048_576;
    const taken = await host.send(way, post(bodyOf(limit), {}, '/api/completions/sync'));
    const rejected = await host.send(way, post(bodyOf(limit + 1), {}, '/api/completions/sync'));
    expect(taken.status).toBe(200);
    judgeError(rejected, 413);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/jsonp',
    'nonsense',
    undefined,
  ])('rejects the media type %s with 415', async (type) => {
    for (const path of paths) {
      // A buffer: for a text a Request would name a media type by itself.
      const request = post(Buffer.from(JSON.stringify(minimalRequest)), {}, path);
      const { 'content-type': _, ...headers } = request.headers ?? {};
      judgeError(
        await host.send(way, { ...request, headers: { ...headers, ...(type && { 'content-type': type }) } }),
        415,
      );
    }
  });

  test.each([
    ['another charset', 'content-type', 'application/json; charset=utf-16'],
    ['another charset in quotes', 'content-type', 'application/json;charset="latin1"'],
    ['a compression', 'content-encoding', 'gzip'],
  ])('rejects a body with the encoding %s with 415', async (_, name, value) => {
    const request = completionCall(host, '/api/completions/sync', {}, { [name]: value });
    judgeError(await host.send(way, request), 415);
  });

  test('rejects a body that is not UTF-8 with 400, however it is sent', async () => {
    const [before, after] = JSON.stringify({ ...minimalRequest, promptText: 'SPLIT' }).split('SPLIT') as [
      string,
      string,
    ];
    const body = Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28]), Buffer.from(after)]);
    const whole = await host.send(way, post(body, {}, '/api/completions/sync'));
    expect(judgeError(whole, 400).message).toMatch(/UTF-8/);
    const inPieces = await host.send(way, post(Readable.from([body.subarray(0, 5), body.subarray(5)]), {}, paths[1]!));
    expect(judgeError(inPieces, 400).message).toMatch(/UTF-8/);
  });

  test('accepts a media type with a charset and in any letter case', async () => {
    const request = completionCall(
      host,
      '/api/completions/sync',
      {},
      { 'content-type': 'Application/JSON; charset=UTF-8' },
    );
    expect((await host.send(way, request)).status).toBe(200);
  });

  const wrongKeys: [name: string, headers: () => Record<string, string>][] = [
    ['no key', () => ({})],
    ['an empty bearer', () => ({ authorization: 'Bearer ' })],
    ['an empty header', () => ({ 'x-hl-api-key': '' })],
    ['an unknown key', () => ({ authorization: 'Bearer ts_unknown' })],
    ['a key without Bearer', () => ({ authorization: host.key })],
    ['a key as Basic', () => ({ authorization: `Basic ${host.key}` })],
    ['a changed key', () => ({ 'x-hl-api-key': `${host.key}x` })],
    ['a key in other letter case', () => ({ 'x-hl-api-key': host.key.toUpperCase() })],
    ['two keys that contradict', () => ({ authorization: `Bearer ${host.key}`, 'x-hl-api-key': secondKey() })],
    ['one good key and one unknown', () => ({ authorization: `Bearer ${host.key}`, 'x-hl-api-key': 'ts_unknown' })],
    ['a good key beside an unusable authorization', () => ({ authorization: 'Digest x', 'x-hl-api-key': host.key })],
  ];

  test.each(wrongKeys)('rejects %s with 401', async (_, headers) => {
    for (const path of paths) {
      const request = { method: 'POST', path, body: JSON.stringify(minimalRequest) };
      const answer = await host.send(way, {
        ...request,
        headers: { 'content-type': 'application/json', ...headers() },
      });
      expect(judgeError(answer, 401).code).toBe('unauthorized');
      expect(answer.text).not.toContain(host.key);
    }
  });

  test('rejects a revoked key with 401 at once', async () => {
    const { id, key } = host.host.storage.apiKeys.issue({ name: 'Short-lived' });
    const request = completionCall({ key }, '/api/completions/sync');
    const before = await host.send(way, request);
    host.host.storage.apiKeys.revoke(id);
    expect([before.status, judgeError(await host.send(way, request), 401).code]).toEqual([200, 'unauthorized']);
  });

  test('rejects a key without the scope with 403', async () => {
    const key = host.issueKey({ scopes: ['audit', 'manage'] });
    for (const path of paths) {
      expect(judgeError(await host.send(way, completionCall({ key }, path)), 403).code).toBe('forbidden');
    }
  });

  test("rejects another caller's conversation with 403, a second workspace with 409", async () => {
    const [conversationId, workspaceId] = [crypto.randomUUID(), crypto.randomUUID()];
    const request = (key: string, metadata: object) => completionCall({ key }, '/api/completions/sync', { metadata });
    await host.send(way, request(host.key, { conversationId, workspaceId }));
    judgeError(await host.send(way, request(secondKey(), { conversationId })), 403);
    judgeError(await host.send(way, request(host.key, { conversationId, workspaceId: crypto.randomUUID() })), 409);
  });

  test('an unknown address is 404, with a key and without', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/completion',
      '/api/completions/',
      '/api/completions/other',
      '/API/completions',
    ]) {
      judgeError(await host.send(way, { path }), 404);
      judgeError(await host.send(way, completionCall(host, path)), 404);
    }
  });

  test('window endpoints are 404 for every key', async () => {
    for (const path of ['/window/settings', '/window/api-keys', '/window/providers', '/window/runs']) {
      judgeError(await host.send(way, { path, headers: { authorization: `Bearer ${host.key}` } }), 404);
    }
  });

  test('another method is 405 and lists the methods of the address', async () => {
    // A `Request` in memory cannot be a TRACE.
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', ...(way === 'in memory' ? [] : ['TRACE'])]) {
      judgeError(await host.send(way, { method, path: paths[0]! }), 401);
      for (const path of paths) {
        const answer = await host.send(way, { method, path, headers: { authorization: `Bearer ${host.key}` } });
        judgeError(answer, 405);
        expect(answer.headers['allow']).toBe('POST');
      }
    }
  });

  test('checks in this order: 404, 401, 405, 403, 415, 413, 400', async () => {
    const audit = host.issueKey({ scopes: ['audit'] });
    const everythingWrong = { 'content-type': 'text/plain' };
    const large = 'x'.repeat(4 * 1_048_576 + 1);
    const send = async (method: string, path: string, headers: Record<string, string>, body = large) =>
      (await host.send(way, { method, path, headers, ...(method === 'GET' ? {} : { body }) })).status;
    expect([
      await send('GET', '/nowhere', everythingWrong),
      await send('GET', '/api/completions', everythingWrong),
      await send('GET', '/api/completions', { ...everythingWrong, 'x-hl-api-key': audit }),
      await send('POST', '/api/completions?stream=maybe', { ...everythingWrong, 'x-hl-api-key': audit }, '{'),
      await send('POST', '/api/completions?stream=maybe', { ...everythingWrong, 'x-hl-api-key': host.key }),
      await send('POST', '/api/completions', { 'content-type': 'application/json', 'x-hl-api-key': host.key }),
      await send('POST', '/api/completions', { 'content-type': 'application/json', 'x-hl-api-key': host.key }, '{'),
    ]).toEqual([404, 401, 405, 403, 415, 413, 400]);
  });

  test('a service model that is not installed is 503 and says how to install it', async () => {
    const body = { aiSystem: 'ServiceAi', model: 'hl-gpt-4o-mini' };
    for (const path of paths) {
      const answer = await host.send(way, completionCall(host, path, body));
      expect(judgeError(answer, 503).code).toBe('model_not_installed');
    }
  });

  test('a provider without a key is 503 and says where to set it', async () => {
    const body = { aiSystem: 'OpenAi', model: 'gpt-4o' };
    for (const path of paths) {
      const error = judgeError(await host.send(way, completionCall(host, path, body)), 503);
      expect([error.code, error.message]).toEqual(['provider_not_configured', expect.stringContaining('Settings')]);
    }
  });
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
