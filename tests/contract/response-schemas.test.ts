import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judgeError } from '../support/specification-judge.ts';
import { completionCall, minimalRequest, startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.provider.answerWith((call) => call.chatAnswer({ content: '{"a": "b"}' }));
});
afterAll(() => host.close());

const field = 'configuration.response_format.json_schema.schema';

function bodyWith(schema: unknown, request: object = minimalRequest): Record<string, unknown> {
  return {
    ...request,
    configuration: { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
  };
}

function nested(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 1; level < levels; level += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

const onDevice = { promptText: 'Hi', aiSystem: 'ServiceAi', model: 'hl-gpt-4o-mini' };

const invalid: readonly (readonly [name: string, body: Record<string, unknown>, issue: RegExp])[] = [
  ['larger than 100 KB', bodyWith({ description: 'é'.repeat(51_200) }), /^is larger than 100 KB$/],
  ['nested too deeply', bodyWith(nested(33)), /^at …?\/?.*\/properties\/a is nested deeper than 32 levels$/],
  [
    'with an unknown type',
    bodyWith({ properties: { a: { type: 'text' } } }),
    /^at \/properties\/a\/type must be one of/,
  ],
  ['with an invalid pattern', bodyWith({ items: { pattern: '(' } }), /^at \/items has the invalid regular expression/],
  ['with a reference to nothing', bodyWith({ $ref: '#/$defs/x' }), /^at \/\$ref refers to "#\/\$defs\/x"/],
  [
    'that the on-device grammar lacks',
    bodyWith({ type: 'object', properties: { a: { type: 'string', pattern: 'a' } } }, onDevice),
    /^at \/properties\/a "pattern" isn't supported by the on-device model$/,
  ],
  ['that never ends on the device', bodyWith({ $ref: '#' }, onDevice), /^"\$ref" refers to itself without an end$/],
  [
    'with a huge list on the device',
    bodyWith({ type: 'array', minItems: 1e9 }, onDevice),
    /^"minItems" must be at most 200$/,
  ],
];

describe.each(ways)('%s', (way) => {
  test.each(invalid)('rejects a schema %s with 400 and its path, without a run', async (_, body, issue) => {
    const calls = host.provider.calls.length;
    for (const path of ['/api/completions/sync', '/api/completions/sse', '/api/completions/stream']) {
      const answer = await host.send(way, completionCall(host, path, body));
      judgeError(answer, 400);
      const { error } = JSON.parse(answer.text) as { error: { details: unknown[] } };
      expect(error.details).toContainEqual({ field, issue: expect.stringMatching(issue) });
    }
    expect(host.provider.calls.length).toBe(calls);
  });

  test('a valid schema reaches the provider, and its answer comes back unchanged', async () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { type: 'string' } } };
    const answer = await host.send(way, completionCall(host, '/api/completions/sync', bodyWith(schema)));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text).choices[0].message.content).toBe('{"a": "b"}');
    expect(host.provider.calls.at(-1)?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    });
  });
});
