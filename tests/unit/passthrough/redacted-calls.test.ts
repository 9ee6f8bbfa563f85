import { expect, test } from 'vitest';
import { readPassedRequest } from '../../../electron/passthrough/read-call.ts';
import type { CallApi } from '../../../electron/passthrough/read-request.ts';
import { readPassedResponse } from '../../../electron/passthrough/recorded-response.ts';

const address = 'ada@example.org';
const rules = [{ kind: 'email' } as const];

/** What is written of a request. */
function recorded(api: CallApi, body: string | object, pathModel: string | null = null): string {
  const program = { client: null, appHeaders: {} };
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const request = readPassedRequest({ api, pathModel, encoding: '', body: bytes, scope: 'key', rules, program });
  const { model, systemMessage, messages, configuration, files } = request;
  return JSON.stringify({ model, systemMessage, messages, configuration, files });
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
const called = (id: string, name: string) => [{ id, function: { name, arguments: '' } }];

test.each<[string, CallApi, string | object, string?]>([
  ['the name of a model', 'openai-chat', { model: address, messages: [] }],
  ['the model in a path', 'gemini-content', { contents: [] }, address],
  ['the model in the path of a request that cannot be read', 'gemini-content', 'no JSON', address],
  ['the name of a called tool', 'openai-chat', { messages: [{ role: 'assistant', tool_calls: called('c', address) }] }],
  ['the id of a call', 'openai-chat', { messages: [{ role: 'assistant', tool_calls: called(address, 'f') }] }],
  ['the id of a result', 'openai-chat', { messages: [{ role: 'tool', tool_call_id: address, content: 'a' }] }],
  [
    'a media type',
    'anthropic-messages',
    user({ type: 'image', source: { type: 'base64', media_type: address, data: 'aGFs' } }),
  ],
  [
    'two parts of a text',
    'openai-chat',
    user({ type: 'text', text: 'Ask ada@exam' }, { type: 'text', text: 'ple.org' }),
  ],
  ['what is cut elsewhere', 'openai-chat', user({ type: 'memo', memo: `${'x'.repeat(1966)} ${address}` })],
  [
    'an address that is cut elsewhere',
    'gemini-content',
    { contents: [{ parts: [{ fileData: { fileUri: `${'x'.repeat(1990)} ${address}` } }] }] },
  ],
])('redaction hides a secret in %s', (_what, api, body, pathModel) => {
  const text = recorded(api, body, pathModel ?? null);
  expect(text).not.toMatch(/ada@exam/);
  expect(text).toContain('[e-mail]');
});

test('parts without anything to hide stay parts', () => {
  expect(recorded('openai-chat', user({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }))).toContain(
    '[{"type":"text","text":"a"},{"type":"text","text":"b"}]',
  );
});

function response(body: object, isRedacted = true) {
  const bytes = Buffer.from(JSON.stringify(body));
  const form = { api: 'openai-chat', isStream: false, isCut: false, isJudged: false, encoding: '' } as const;
  return readPassedResponse({
    ...form,
    body: bytes,
    rules: isRedacted ? rules : [],
    arrivals: { atMs: [1], ends: [1] },
  });
}

test.each<[string, object]>([
  ['the name of a tool', { choices: [{ message: { tool_calls: called('c', address) } }] }],
  ['the id of a call', { choices: [{ message: { tool_calls: called(address, 'f') } }] }],
  ['its own id', { id: address, choices: [] }],
])('redaction hides what a response has in %s', (_what, body) => {
  expect(JSON.stringify(response(body))).not.toContain(address);
});

test('of the usage, which is metadata, numbers and words are recorded', () => {
  const usage = {
    prompt_tokens: 1,
    service_tier: 'default',
    [address]: 1,
    note: `Ask ${address}`,
    details: { a: [address, 2] },
  };
  expect(response({ usage, choices: [] }, false).rawUsage).toEqual({
    prompt_tokens: 1,
    service_tier: 'default',
    note: null,
    details: { a: [null, 2] },
  });
});
