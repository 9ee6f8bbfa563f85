import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, type ModelMessage, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../renderer/host/client.ts';
import { createReplay, followReplays, readReplayResults } from '../../shared/contract/audit-replay.ts';
import { missingMessages } from '../../shared/continued-field.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

/** Calls of OpenAI's responses that name items of earlier ones instead of sending them again. */

let host: TestHost;
let client: Client;
beforeAll(async () => {
  host = await startTestHost();
  client = windowClient(host.host);
  host.host.storage.providerCache.setBaseAddress('OpenAi', host.provider.baseAddress);
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(null));

const usage = {
  input_tokens: 1,
  output_tokens: 1,
  total_tokens: 2,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

const reasoning = (id: string) => ({ type: 'reasoning', id, summary: [] });
const said = (id: string, text: string) => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const called = (id: string, callId: string) => ({
  type: 'function_call',
  id,
  call_id: callId,
  name: 'look',
  arguments: '{}',
  status: 'completed',
});
const searched = (id: string) => ({
  type: 'web_search_call',
  id,
  status: 'completed',
  action: { type: 'search', query: 'sky' },
});

function responseOf(id: string, output: readonly object[]) {
  return { id, object: 'response', created_at: 1, status: 'completed', model: 'gpt-5', output, usage };
}

/** Streams a response as OpenAI does. */
async function stream(call: ScriptedCall, id: string, output: readonly ReturnType<typeof said>[]): Promise<void> {
  call.openEventStream();
  let number = 0;
  const send = (type: string, fields: object) => call.event({ type, sequence_number: number++, ...fields }, type);
  await send('response.created', { response: responseOf(id, []) });
  for (const [index, item] of output.entries()) {
    await send('response.output_item.added', { output_index: index, item: { ...item, content: [] } });
    const text = item.content?.[0]?.text;
    if (text !== undefined)
      for (const delta of [text.slice(0, 2), text.slice(2)])
        await send('response.output_text.delta', { item_id: item.id, output_index: index, content_index: 0, delta });
    await send('response.output_item.done', { output_index: index, item });
  }
  await send('response.completed', { response: responseOf(id, output) });
  call.end();
}

/** Answers the next calls, each with the next output. */
function answer(...outputs: readonly [id: string, output: readonly object[]][]): void {
  const left = [...outputs];
  host.provider.answerWith((call) => {
    const [id, output] = left.shift()!;
    return call.body['stream'] === true
      ? stream(call, id, output as ReturnType<typeof said>[])
      : call.json(200, responseOf(id, output));
  });
}

const openAiHeaders = (key = host.key) => ({ 'x-touchstone-key': key });
const baseURL = () => `${host.listener.address}/openai/v1`;
const vercel = () =>
  createOpenAI({ baseURL: baseURL(), apiKey: 'sk-own', headers: openAiHeaders() }).responses('gpt-5');
const official = (key?: string, path = '/openai/v1') =>
  new OpenAI({
    baseURL: host.listener.address + path,
    apiKey: 'sk-own',
    defaultHeaders: openAiHeaders(key),
    maxRetries: 0,
  });

function newestRun(): RunDetail {
  const { storage } = host.host;
  const [newest] = storage.runs.list({ pageSize: 1, continuationToken: undefined, draftId: undefined }).data;
  return storage.runs.read(newest!.runId)!;
}

/** The messages that another provider gets in a replay of the newest run. */
async function replayed(): Promise<{ failure: string | null; messages: unknown }> {
  host.provider.answerWith((call) => call.chatStream(['Replayed.']));
  const target = { aiSystem: 'Groq', model: 'openai/gpt-oss-20b' } as const;
  const { id } = await client.call(createReplay, { body: { selection: { runIds: [newestRun().runId] }, target } });
  const { parts } = await client.stream(followReplays);
  for await (const { data } of parts) if (data.find((one) => one.id === id)?.state === 'completed') break;
  const { failure } = (await client.call(readReplayResults, { parameters: { id }, query: {} })).data[0]!;
  return { failure, messages: failure === null ? host.provider.calls.at(-1)!.body['messages'] : null };
}

const typesSent = () => (host.provider.calls.at(-1)!.body['input'] as { type?: string }[]).map(({ type }) => type);
const text = (content: string) => ({ type: 'text', text: content });

describe('the Vercel AI SDK, whose calls refer to items of earlier answers', () => {
  const tools = {
    look: tool({
      description: 'Looks',
      inputSchema: jsonSchema({ type: 'object', properties: {} }),
      execute: () => 'blue',
    }),
  };

  test('has all messages on record, and is replayed with them', async () => {
    answer(
      ['resp_a1', [reasoning('rs_a1'), searched('ws_a1'), said('msg_a1', 'I look.'), called('fc_a1', 'call_a1')]],
      ['resp_a2', [reasoning('rs_a2'), said('msg_a2', 'It is blue.')]],
    );
    const messages: ModelMessage[] = [{ role: 'user', content: 'Which colour is the sky?' }];
    const first = await generateText({ model: vercel(), messages, tools, stopWhen: ({ steps }) => steps.length === 2 });
    answer(['resp_a3', [said('msg_a3', 'Black.')]]);
    messages.push(...first.steps.flatMap((step) => step.response.messages), {
      role: 'user',
      content: 'And at {{night}}?',
    });
    await generateText({ model: vercel(), messages, tools });
    expect(typesSent()).toContain('item_reference');

    const run = newestRun();
    expect(missingMessages(run)).toBeNull();
    expect(run.input.configuration).not.toHaveProperty('item_reference');
    expect(run.input.messages).toMatchObject([
      { role: 'user', content: [text('Which colour is the sky?')] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: expect.stringMatching(/^\n\[web_search_call\] .*"sky".*\nI look\.$/) },
          { type: 'toolCall', id: 'call_a1', name: 'look' },
        ],
      },
      { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'call_a1', content: 'blue' }] },
      { role: 'assistant', content: [text('It is blue.')] },
      { role: 'user', content: [text('And at {{night}}?')] },
    ]);
    const { failure, messages: sent } = await replayed();
    expect(failure).toBeNull();
    expect(sent).toMatchObject([
      { role: 'user', content: 'Which colour is the sky?' },
      { role: 'assistant', tool_calls: [{ id: 'call_a1' }] },
      { role: 'tool', content: 'blue' },
      { role: 'assistant', content: 'It is blue.' },
      { role: 'user', content: 'And at {{night}}?' },
    ]);
  });

  test('has the same of a streamed answer', async () => {
    answer(['resp_b1', [reasoning('rs_b1') as never, said('msg_b1', 'One.'), said('msg_b2', 'Two.')]]);
    const messages: ModelMessage[] = [{ role: 'user', content: 'Count' }];
    const streamed = streamText({ model: vercel(), messages });
    await streamed.consumeStream();
    answer(['resp_b2', [said('msg_b3', 'Three.')]]);
    messages.push(...(await streamed.response).messages, { role: 'user', content: 'Go on' });
    await generateText({ model: vercel(), messages });
    expect(typesSent()).toEqual([undefined, 'item_reference', 'item_reference', 'item_reference', undefined]);
    expect(newestRun().input.messages).toEqual([
      { role: 'user', content: [text('Count')] },
      { role: 'assistant', content: [text('One.Two.')] },
      { role: 'user', content: [text('Go on')] },
    ]);
    expect((await replayed()).failure).toBeNull();
  });
});

describe('the openai package', () => {
  test('refers to a single item, also if a rule hides something before it', async () => {
    const { settings } = host.host.storage;
    const { recorder } = settings.read();
    settings.update({ recorder: { ...recorder, redaction: [{ kind: 'email' }] } });
    answer(['resp_c1', [said('msg_c1', 'Ask ann@example.org!\n'), said('msg_c2', 'Or ben@example.org.')]]);
    await official().responses.create({ model: 'gpt-5', input: 'Whom?' });
    answer(['resp_c2', [said('msg_c3', 'Yes.')]]);
    const input = [
      { type: 'item_reference' as const, id: 'msg_c2' },
      { role: 'user' as const, content: 'Sure?' },
    ];
    await official().responses.create({ model: 'gpt-5', input });
    settings.update({ recorder });
    const [first] = newestRun().input.messages;
    expect(first!.content).toMatchObject([{ text: expect.stringMatching(/^Or \S+\.$/) }]);
    expect(JSON.stringify(first)).not.toContain('example.org');
  });

  test('continues a response by its id, and so on', async () => {
    answer(
      ['resp_d1', [said('msg_d1', 'One.')]],
      ['resp_d2', [said('msg_d2', 'Two.')]],
      ['resp_d3', [said('msg_d3', 'Three.')]],
    );
    let previous: string | null = null;
    for (const input of ['Count', 'On', 'And on']) {
      const response: OpenAI.Responses.Response = await official().responses.create({
        model: 'gpt-5',
        input,
        previous_response_id: previous,
      });
      previous = response.id;
    }
    const { failure, messages } = await replayed();
    expect({ failure, messages }).toMatchObject({
      failure: null,
      messages: ['Count', 'One.', 'On', 'Two.', 'And on'].map((content) => ({ content })),
    });
  });

  test('joins the conversation to whose item it refers, not the newest one with the same start', async () => {
    const start = { role: 'user' as const, content: 'The same start' };
    answer(
      ['resp_e1', [said('msg_e1', 'One.')]],
      ['resp_e2', [said('msg_e2', 'Two.')]],
      ['resp_e3', [said('msg_e3', 'Three.')]],
    );
    const ask = async (...input: OpenAI.Responses.ResponseInput) => {
      await official().responses.create({ model: 'gpt-5', input });
      return newestRun().conversationId;
    };
    const first = await ask(start);
    await ask(start);
    const next = await ask(start, { type: 'item_reference', id: 'msg_e1' }, { role: 'user', content: 'Go on' });
    expect(next).toBe(first);
  });

  test.each([
    ['another key', () => official(host.issueKey()), {}],
    ['another provider', () => official(host.key, '/openai/scripted/v1'), {}],
    ['a call that the provider may not store', () => official(), { store: false }],
  ])('gets a clear reason if the item is from %s', async (_reason, other, fields) => {
    answer(['resp_f1', [said('msg_f1', 'Secret.')]], ['resp_f2', [said('msg_f2', 'Two.')]]);
    await other().responses.create({ model: 'scripted', input: 'Start', ...fields });
    const reference = { type: 'item_reference' as const, id: 'msg_f1' };
    await official().responses.create({ model: 'scripted', input: [reference, { role: 'user', content: 'Go on' }] });
    expect(newestRun().input.configuration).toEqual({ item_reference: ['msg_f1'] });
    expect(JSON.stringify(newestRun().input)).not.toContain('Secret');
    const { failure } = await replayed();
    expect(failure).toContain("aren't recorded (item_reference)");
  });
});
