import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../renderer/host/client.ts';
import {
  createReplay,
  followReplays,
  readReplayResults,
  type ReplayInput,
  type ReplayPair,
} from '../../shared/contract/audit-replay.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;
let client: Client;
beforeAll(async () => {
  host = await startTestHost();
  client = windowClient(host.host);
  host.host.storage.providerCache.setBaseAddress('Anthropic', host.provider.baseAddress);
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(null));

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A call with a step of tools in Anthropic's format. */
const anthropicCall = {
  model: 'claude-opus-4-5',
  max_tokens: 50,
  stop_sequences: ['END'],
  thinking: { type: 'disabled' },
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object', properties: {} } }],
  system: 'Be {{brief}}.',
  messages: [
    { role: 'user', content: 'Look at {{the}} sky' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'It is blue' }] },
  ],
};

/** Sends a call through Touchstone; resolves with its run. */
async function recorded(path: string, body: object): Promise<string> {
  const { headers, status } = await host.send('HTTP/1.1', {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-own', 'x-touchstone-key': host.key },
    body: JSON.stringify(body),
  });
  expect(status).toBe(200);
  return String(headers['x-touchstone-run-id']);
}

async function replay(runId: string, target: ReplayInput['target']): Promise<ReplayPair> {
  const { id } = await client.call(createReplay, { body: { selection: { runIds: [runId] }, target } });
  const { parts } = await client.stream(followReplays);
  for await (const { data } of parts) if (data.find((one) => one.id === id)?.state === 'completed') break;
  return (await client.call(readReplayResults, { parameters: { id }, query: {} })).data[0]!;
}

const groq = { aiSystem: 'Groq', model: 'openai/gpt-oss-20b' } as const;

describe('a replay of a recorded call', () => {
  test("sends the steps of its tools to another provider, with the parameters under that provider's names", async () => {
    host.provider.answerWith((call) =>
      call.json(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'Blue.' }],
        usage: { input_tokens: 1, output_tokens: 1 },
        stop_reason: 'end_turn',
      }),
    );
    const runId = await recorded('/anthropic/v1/messages', anthropicCall);
    host.provider.answerWith((call) => call.chatStream(['Blue.']));
    const pair = await replay(runId, groq);
    expect(pair).toMatchObject({
      state: 'completed',
      failure: null,
      replayed: { content: 'Blue.', model: groq.model },
    });
    const { body } = host.provider.calls.at(-1)!;
    expect(body).toMatchObject({
      model: 'openai/gpt-oss-20b',
      stop: ['END'],
      parallel_tool_calls: false,
      tool_choice: 'auto',
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
      messages: [
        { role: 'system', content: 'Be {{brief}}.' },
        { role: 'user', content: 'Look at {{the}} sky' },
        { role: 'assistant', tool_calls: [{ id: 'toolu_1', function: { name: 'look', arguments: '{"at":"sky"}' } }] },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'It is blue' },
      ],
    });
    expect(body).not.toHaveProperty('thinking');
  });

  test('sends its files again', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'A dot.' }));
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }];
    const runId = await recorded('/openai/scripted/v1/chat/completions', { model: 'scripted', messages });
    await expect.poll(() => host.host.storage.files.has(fileOf(runId))).toBe(true);
    host.provider.answerWith((call) => call.chatStream(['A dot.']));
    expect(await replay(runId, {})).toMatchObject({ failure: null, replayed: { content: 'A dot.' } });
    expect(JSON.stringify(host.provider.calls.at(-1)!.body)).toContain(png);
  });

  test('keeps the prompt of a call with steps of tools, and says so', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const messages = [
      { role: 'user', content: 'Look' },
      { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'Blue' },
    ];
    const runId = await recorded('/openai/scripted/v1/chat/completions', { model: 'scripted', messages });
    const pair = await replay(runId, { ...groq, promptText: 'Another' });
    expect(pair.failure).toContain('calls and results of tools');
  });
});

function fileOf(runId: string): string {
  const run = host.host.storage.runs.read(runId)!;
  const part = run.input.messages.flatMap(({ content }) => content).find(({ type }) => type === 'file');
  return part?.type === 'file' ? part.fileId : '';
}
