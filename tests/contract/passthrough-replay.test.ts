// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../renderer/host/client.ts';
import {
  createReplay,
  followReplays,
  readReplayResults,
  type ReplayInput,
  type ReplayPair,
} from '../../shared/contract/audit-replay.ts';
import { createRunDataset } from '../../shared/contract/dataset-import.ts';
import { readDatasetRows } from '../../shared/contract/datasets.ts';
import { setProviderKey } from '../../shared/contract/providers.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;
let client: Client;
beforeAll(async () => {
  host = await startTestHost();
  client = windowClient(host.host);
  for (const aiSystem of ['Anthropic', 'GoogleGemini'] as const)
    host.host.storage.providerCache.setBaseAddress(aiSystem, host.provider.baseAddress);
  await client.call(setProviderKey, { parameters: { aiSystem: 'GoogleGemini' }, body: { key: 'AIza-stored-key' } });
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(null));

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const dataUrl = `data:image/png;base64,${png}`;

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
async function recorded(path: string, body: object, more: Record<string, string> = {}): Promise<string> {
  const { headers, status } = await host.send('HTTP/1.1', {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-own', 'x-touchstone-key': host.key, ...more },
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

  test('says which tools and parameters another provider does not get', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const runId = await recorded('/openai/scripted/v1/chat/completions', {
      model: 'scripted',
      messages: [{ role: 'user', content: 'Search for the sky' }],
      tools: [
        { type: 'web_search', search_context_size: 'low' },
        { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
      ],
      verbosity: 'low',
    });
    host.provider.answerWith((call) => call.chatStream(['Blue.']));
    const pair = await replay(runId, groq);
    expect(pair.replayed?.warnings).toEqual([
      { code: 'parameter-dropped', parameter: 'verbosity', message: expect.stringContaining("wasn't sent") },
      { code: 'parameter-dropped', parameter: 'tools', message: expect.stringContaining('web_search') },
    ]);
    expect(host.provider.calls.at(-1)!.body['tools']).toMatchObject([{ function: { name: 'look' } }]);
    expect((await replay(runId, {})).replayed?.warnings).toEqual([]);
  });

  test.each([
    [false, []],
    [true, [{ code: 'parameter-dropped', parameter: 'store', message: expect.stringContaining('sets it to false') }]],
  ])('is sent although the program had set store to %s, which Touchstone sets itself', async (store, warnings) => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Blue.' }));
    const messages = [{ role: 'user', content: 'Which colour?' }];
    const body = { model: 'scripted', messages, store, verbosity: 'low' };
    const runId = await recorded('/openai/scripted/v1/chat/completions', body);
    host.provider.answerWith((call) => call.chatStream(['Blue.']));
    const pair = await replay(runId, {});
    expect(pair).toMatchObject({ state: 'completed', failure: null, replayed: { content: 'Blue.', warnings } });
    expect(host.provider.calls.at(-1)!.body).toMatchObject({ messages, verbosity: 'low' });
  });

  test("sends Gemini's own parameters and signatures back to it", async () => {
    const functionCall = { name: 'look', args: { at: 'sky' } };
    const contents = [
      { role: 'user', parts: [{ text: 'Look at the sky' }] },
      { role: 'model', parts: [{ functionCall, thoughtSignature: 'c2lnbmVk' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'It is blue' } } }] },
    ];
    const candidate = { content: { role: 'model', parts: [{ text: 'Blue.' }] }, finishReason: 'STOP' };
    const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 };
    const body = { candidates: [candidate], usageMetadata };
    host.provider.answerWith((call) => call.json(200, body));
    const runId = await recorded('/gemini/v1beta/models/gemini-3-pro-preview:generateContent', {
      contents,
      generationConfig: { maxOutputTokens: 50, candidateCount: 1 },
      tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: { type: 'object', properties: {} } }] }],
    });
    host.provider.answerWith(async (call) => {
      await call.openEventStream().event(body);
      call.end();
    });
    expect(await replay(runId, {})).toMatchObject({ failure: null, replayed: { content: 'Blue.' } });
    expect(host.provider.calls.at(-1)!.body).toMatchObject({
      generationConfig: { maxOutputTokens: 50, candidateCount: 1 },
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
      contents: [
        { role: 'user', parts: [{ text: 'Look at the sky' }] },
        { role: 'model', parts: [{ functionCall, thoughtSignature: 'c2lnbmVk' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look' } }] },
      ],
    });
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

describe('a call that continues a response', () => {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' };

  /** Sends a call of responses, which the provider answers with the output; resolves with its run. */
  function respond(id: string, output: readonly object[], body: object, headers = {}): Promise<string> {
    host.provider.answerWith((sent) => sent.json(200, { id, object: 'response', status: 'completed', output, usage }));
    return recorded('/openai/scripted/v1/responses', { model: 'scripted', ...body }, headers);
  }
  const said = (text: string) => [{ type: 'message', content: [{ type: 'output_text', text }] }];
  const rowsOf = async (runId: string) => {
    const { id } = await client.call(createRunDataset, { body: { name: runId, selection: { runIds: [runId] } } });
    return (await client.call(readDatasetRows, { parameters: { id }, query: {} })).data;
  };

  test('has the messages of the earlier ones, also when those are deleted', async () => {
    const input = [
      { role: 'developer', content: 'Be {{brief}}.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Which?' },
          { type: 'input_image', image_url: dataUrl },
        ],
      },
    ];
    const first = await respond('resp_1', [call], { input });
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'It is blue' };
    const second = await respond('resp_2', said('Blue.'), { previous_response_id: 'resp_1', input: [result] });
    const { createdAt } = host.host.storage.runs.read(second)!;
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(createdAt));
    const third = await respond('resp_3', said('Black.'), {
      previous_response_id: 'resp_2',
      input: 'And at {{night}}?',
    });
    // Two programs may go on from the same answer.
    const other = await respond('resp_4', said('Red.'), {
      previous_response_id: 'resp_2',
      input: 'And in the evening?',
    });
    const { runs, files, retention } = host.host.storage;
    const file = fileOf(first);
    await expect.poll(() => files.has(file)).toBe(true);
    retention.apply('delete', Date.parse(runs.read(third)!.createdAt), 1000);
    expect([runs.read(first), runs.read(second)]).toEqual([null, null]);

    const earlier = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Which?' },
          { type: 'file', fileId: file },
        ],
      },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'call_1', name: 'look' }] },
      { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'call_1', content: 'It is blue' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Blue.' }] },
    ];
    for (const [runId, text] of [
      [third, 'And at {{night}}?'],
      [other, 'And in the evening?'],
    ] as const) {
      const { input: sent } = runs.read(runId)!;
      expect(sent.messages).toMatchObject([...earlier, { role: 'user', content: [{ type: 'text', text }] }]);
      expect(sent).toMatchObject({ systemMessage: 'Be {{brief}}.', configuration: {}, renderedPrompt: text });
    }
    host.provider.answerWith((sent) => sent.chatStream(['Black.']));
    expect((await replay(third, { ...groq, model: 'meta-llama/llama-4-scout-17b-16e-instruct' })).failure).toBeNull();
    const { body } = host.provider.calls.at(-1)!;
    expect(body).not.toHaveProperty('previous_response_id');
    expect(body['messages']).toMatchObject([
      { role: 'system', content: 'Be {{brief}}.' },
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
      { role: 'tool', content: 'It is blue' },
      { role: 'assistant', content: 'Blue.' },
      { role: 'user', content: 'And at {{night}}?' },
    ]);
    const [row] = await rowsOf(third);
    expect(row!.values['run prompt']).toMatch(/^User: Which\?[^]*Tool: It is blue[^]*User: And at \{\{night\}\}\?$/);
  });

  test('does not keep instructions, which hold for one call', async () => {
    await respond('resp_5', said('Blue.'), { instructions: 'Be brief.', input: 'Which?' });
    const runId = await respond('resp_6', said('Black.'), { previous_response_id: 'resp_5', input: 'And now?' });
    expect(host.host.storage.runs.read(runId)!.input).toMatchObject({ systemMessage: null });
  });

  test.each([
    ['only its metadata is recorded', { 'x-touchstone-record': 'metadata' }],
    ['it is not recorded', { 'x-touchstone-record': 'none' }],
    ['another key made it', { 'x-touchstone-key': () => host.issueKey() }],
  ])('cannot be replayed or added to a dataset if %s', async (_reason, given) => {
    const headers = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? value : value()]),
    );
    await respond('resp_7', said('Blue.'), { input: 'Which?' }, headers);
    const next = await respond('resp_8', said('Black.'), { previous_response_id: 'resp_7', input: 'And now?' });
    // What continues it isn't whole either.
    const last = await respond('resp_9', said('Red.'), { previous_response_id: 'resp_8', input: 'And then?' });
    for (const runId of [next, last]) {
      expect((await replay(runId, groq)).failure).toContain("aren't recorded (previous_response_id)");
      await expect(rowsOf(runId)).rejects.toThrow("aren't recorded (previous_response_id)");
    }
  });

  test.each([
    ['conversation', { conversation: 'conv_1', input: 'And now?' }],
    [
      'item_reference',
      {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'item_reference', id: 'msg_1' },
        ],
      },
    ],
  ])('cannot be replayed if the provider has its messages: %s', async (field, body) => {
    expect((await replay(await respond('resp_10', said('Red.'), body), groq)).failure).toContain(field);
  });

  test('stays in the conversation whose items it refers to', async () => {
    const first = await respond('resp_11', [call], { input: 'Look at the stars' });
    const reference = { type: 'item_reference', id: 'fc_1' };
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'Bright' };
    const input = [{ role: 'user', content: 'Look at the stars' }, reference, result];
    const second = await respond('resp_12', said('Bright.'), { input });
    const [one, other] = [first, second].map((runId) => host.host.storage.runs.read(runId)!.conversationId);
    expect(other).toBe(one);
  });
});

function fileOf(runId: string): string {
  const run = host.host.storage.runs.read(runId)!;
  const part = run.input.messages.flatMap(({ content }) => content).find(({ type }) => type === 'file');
  return part?.type === 'file' ? part.fileId : '';
}
