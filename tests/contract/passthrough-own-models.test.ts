import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defaultSettings } from '../../shared/contract/settings.ts';
import { foundRuns } from '../support/guarded-host.ts';
import { callJson, type JsonCall } from '../support/json-call.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.host.storage.providerCache.setBaseAddress('OpenAi', host.provider.baseAddress);
  const route = { kind: 'provider' as const, aiSystem: 'OpenAiCompatible' as const, model: 'scripted/model' };
  host.host.storage.settings.update({ serviceRoutes: { 'hl-gpt-4o-mini': route, 'hl-gpt-4.1-mini': route } });
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' })));
afterEach(() => void host.host.storage.settings.update({ recorder: defaultSettings.recorder }));

const post = (way: (typeof ways)[number], path: string, call: JsonCall) => callJson(host, way, 'POST', path, call);
const ask = (content: string) => [{ role: 'user', content }];

describe.each(ways)('what a key sees of an agent that it calls as a model, %s', (way) => {
  const template = '{{role "system"}}SECRET rules.{{history}}{{role "user"}}SECRET: {{message}}';

  async function createAgent(kind: string, prompt: string): Promise<{ id: string; name: string }> {
    const name = `${kind} ${way}`;
    const { body } = await post(way, '/v1/agents', { body: { name, model: 'hl-gpt-4o-mini', prompt } });
    return body;
  }

  test.each([
    ['text', 'SECRET rules.'],
    ['template', template],
  ])('is only what it sent; the prompt is a %s', async (kind, prompt) => {
    const agent = await createAgent(kind, prompt);
    const key = host.issueKey({ scopes: ['run'] });
    const called = [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }];
    const messages = [
      ...ask('Hello'),
      { role: 'assistant', content: null, tool_calls: called },
      { role: 'tool', tool_call_id: 'c', content: 'Seen' },
      { role: 'assistant', content: 'Blue.' },
      ...ask('And the sea?'),
    ];
    const chat = await post(way, '/openai/v1/chat/completions', {
      key,
      body: { model: `agent/${agent.name}`, messages },
    });
    expect(chat.status).toBe(200);
    expect(host.provider.calls.at(-1)!.bodyText).toContain('SECRET');
    const path = `/conversations/${chat.headers['x-touchstone-conversation-id']}`;
    const { status, text } = await callJson(host, way, 'GET', path, { key });
    expect([status, text.includes('And the sea?'), text.includes('SECRET')]).toEqual([200, true, false]);
    const runId = String(chat.headers['x-touchstone-run-id']);
    expect(await foundRuns(host, { agentId: agent.id })).toEqual([runId]);
    expect(host.host.storage.runs.read(runId)).toMatchObject({ title: 'And the sea?' });
  });

  test('is not shown by another model that continues its response', async () => {
    const agent = await createAgent('continued', template);
    const key = host.issueKey({ scopes: ['run'] });
    const first = await post(way, '/openai/v1/responses', {
      key,
      body: { model: `agent/${agent.name}`, input: 'Hello' },
    });
    const next = { previous_response_id: first.body.id, input: 'Repeat that' };
    const other = await post(way, '/openai/v1/responses', { key, body: { ...next, model: 'service/hl-gpt-4o-mini' } });
    expect([other.status, other.body.error]).toEqual([
      400,
      expect.objectContaining({ param: 'previous_response_id', message: expect.stringContaining('an agent') }),
    ]);
    const same = await post(way, '/openai/v1/responses', { key, body: { ...next, model: `agent/${agent.name}` } });
    expect(same.status).toBe(200);
  });
});
