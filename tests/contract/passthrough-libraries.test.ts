// @module-tag slow
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { RunDetail } from '../../shared/contract/runs.ts';
import { patience } from '../support/patience.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

/** The libraries of other programs, unchanged: each call is made at the provider itself and through Touchstone. */

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  const { storage } = host.host;
  for (const aiSystem of ['OpenAi', 'Anthropic'] as const)
    storage.providerCache.setBaseAddress(aiSystem, host.provider.baseAddress);
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(answer));

const providerKey = 'sk-the-key-of-the-program-itself';

/** Where a library sends its calls, and with which key. */
interface Base {
  readonly openAi: string;
  readonly anthropic: string;
  readonly apiKey: string;
  readonly headers: Record<string, string>;
}

function bases(): Record<'direct' | 'passed', Base> {
  const { baseAddress } = host.provider;
  const { address } = host.listener;
  return {
    direct: { openAi: baseAddress, anthropic: baseAddress.replace(/\/v1$/, ''), apiKey: providerKey, headers: {} },
    passed: {
      openAi: `${address}/openai/v1`,
      anthropic: `${address}/anthropic`,
      apiKey: providerKey,
      headers: { 'x-touchstone-key': host.key },
    },
  };
}

const anthropicUsage = {
  input_tokens: 9,
  output_tokens: 4,
  cache_read_input_tokens: 2,
  cache_creation_input_tokens: 0,
};
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-5', stop_sequence: null };

async function anthropicStream(call: ScriptedCall, blocks: readonly object[][], stop_reason: string): Promise<void> {
  call.openEventStream();
  const event = (data: { type: string }) => call.event(data, data.type);
  const start = { ...message, content: [], stop_reason: null, usage: anthropicUsage };
  await event({ type: 'message_start', message: start } as never);
  for (const [index, [block, ...deltas]] of blocks.entries()) {
    await event({ type: 'content_block_start', index, content_block: block } as never);
    for (const delta of deltas) await event({ type: 'content_block_delta', index, delta } as never);
    await event({ type: 'content_block_stop', index } as never);
  }
  await event({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 4 },
  } as never);
  await event({ type: 'message_stop' });
  call.end();
}

/** Answers as the provider of the path: with a call if tools are offered, otherwise with a text. */
function answer(call: ScriptedCall): unknown {
  const { body } = call;
  const hasTools = Array.isArray(body['tools']) && body['tools'].length > 0;
  if (call.path.startsWith('/v1/messages')) {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } };
    if (body['stream'] === true) {
      const text = [
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'Bl' },
        { type: 'text_delta', text: 'ue.' },
      ];
      const called = [
        { ...use, input: {} },
        { type: 'input_json_delta', partial_json: '{"city":' },
        { type: 'input_json_delta', partial_json: '"Oslo"}' },
      ];
      return anthropicStream(call, [hasTools ? called : text], hasTools ? 'tool_use' : 'end_turn');
    }
    const content = hasTools ? [use] : [{ type: 'text', text: 'Blue.' }];
    return call.json(200, {
      ...message,
      content,
      stop_reason: hasTools ? 'tool_use' : 'end_turn',
      usage: anthropicUsage,
    });
  }
  if (call.path.startsWith('/v1/responses')) return call.json(200, response);
  if (body['stream'] === true) {
    if (hasTools) return call.chatCalls([{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }]);
    return call.chatStream(['Bl', 'ue.']);
  }
  if (!hasTools) return call.chatAnswer({ content: 'Blue.' });
  const called = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, tool_calls: [called] },
    finish_reason: 'tool_calls',
  };
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  return call.json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-5',
    choices: [choice],
    usage,
  });
}

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2lnbmVk' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Blue.', annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 9,
    output_tokens: 4,
    total_tokens: 13,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens_details: { reasoning_tokens: 1 },
  },
};

const openAiTool = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const anthropicTool = {
  name: 'weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const question = [{ role: 'user' as const, content: 'Which colour is the sky?' }];

function openAiOf({ openAi: baseURL, apiKey, headers }: Base): OpenAI {
  return new OpenAI({ baseURL, apiKey, defaultHeaders: headers, maxRetries: 0 });
}
function anthropicOf({ anthropic: baseURL, apiKey, headers }: Base): Anthropic {
  return new Anthropic({ baseURL, apiKey, defaultHeaders: headers, maxRetries: 0 });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const langChainTool = tool(() => '', {
  name: 'weather',
  description: 'The weather',
  schema: z.object({ city: z.string() }),
});

/** What each library returns for one call. */
const calls: Record<string, (base: Base) => Promise<unknown>> = {
  'openai, chat': (base) => openAiOf(base).chat.completions.create({ model: 'gpt-5', messages: question }),
  'openai, chat stream': async (base) =>
    collect(await openAiOf(base).chat.completions.create({ model: 'gpt-5', messages: question, stream: true })),
  'openai, chat with tools': (base) =>
    openAiOf(base).chat.completions.create({ model: 'gpt-5', messages: question, tools: [openAiTool] }),
  'openai, chat stream with tools': async (base) =>
    collect(
      await openAiOf(base).chat.completions.create({
        model: 'gpt-5',
        messages: question,
        tools: [openAiTool],
        stream: true,
      }),
    ),
  'openai, responses': (base) => openAiOf(base).responses.create({ model: 'gpt-5', input: 'Which colour is the sky?' }),
  anthropic: (base) =>
    anthropicOf(base).messages.create({ model: 'claude-opus-4-5', max_tokens: 9, messages: question }),
  'anthropic stream': async (base) =>
    collect(
      await anthropicOf(base).messages.create({
        model: 'claude-opus-4-5',
        max_tokens: 9,
        messages: question,
        stream: true,
      }),
    ),
  'anthropic with tools': (base) =>
    anthropicOf(base).messages.create({
      model: 'claude-opus-4-5',
      max_tokens: 9,
      messages: question,
      tools: [anthropicTool],
    }),
  'anthropic stream with tools': (base) =>
    anthropicOf(base)
      .messages.stream({ model: 'claude-opus-4-5', max_tokens: 9, messages: question, tools: [anthropicTool] })
      .finalMessage(),
  'Vercel AI SDK, chat': async ({ openAi: baseURL, apiKey, headers }) =>
    (
      await generateText({
        model: createOpenAI({ baseURL, apiKey, headers }).chat('gpt-5'),
        prompt: 'Which colour is the sky?',
      })
    ).text,
  'Vercel AI SDK, chat stream': async ({ openAi: baseURL, apiKey, headers }) =>
    collect(
      streamText({
        model: createOpenAI({ baseURL, apiKey, headers }).chat('gpt-5'),
        prompt: 'Which colour is the sky?',
      }).textStream,
    ),
  'Vercel AI SDK, messages stream': async ({ anthropic, apiKey, headers }) =>
    collect(
      streamText({
        model: createAnthropic({ baseURL: `${anthropic}/v1`, apiKey, headers })('claude-opus-4-5'),
        prompt: 'Which colour is the sky?',
      }).textStream,
    ),
  'LangChain, chat': async ({ openAi: baseURL, apiKey, headers }) =>
    (
      await new ChatOpenAI({ model: 'gpt-4o', apiKey, configuration: { baseURL, defaultHeaders: headers } }).invoke([
        new HumanMessage('Which colour is the sky?'),
      ])
    ).content,
  'LangChain, chat stream with tools': async ({ openAi: baseURL, apiKey, headers }) => {
    const model = new ChatOpenAI({
      model: 'gpt-4o',
      apiKey,
      configuration: { baseURL, defaultHeaders: headers },
    }).bindTools([langChainTool]);
    const chunks = await collect(await model.stream([new HumanMessage('Which colour is the sky?')]));
    return chunks.flatMap(({ tool_call_chunks }) => tool_call_chunks ?? []);
  },
  'LangChain, messages': async ({ anthropic, apiKey, headers }) =>
    (
      await new ChatAnthropic({
        model: 'claude-opus-4-5',
        apiKey,
        anthropicApiUrl: anthropic,
        clientOptions: { defaultHeaders: headers },
      }).invoke([new HumanMessage('Which colour is the sky?')])
    ).content,
};

/** Calls of which no text is recorded, and streams of responses. */
const otherCalls: Record<string, (base: Base) => Promise<unknown>> = {
  'openai, responses stream': async (base) =>
    collect(await openAiOf(base).responses.create({ model: 'gpt-5', input: 'Which colour?', stream: true })),
  'openai, embeddings': (base) => openAiOf(base).embeddings.create({ model: 'text-embedding-3-small', input: ['Sky'] }),
  'openai, models': async (base) => collect(openAiOf(base).models.list()),
  'openai, one model': (base) => openAiOf(base).models.retrieve('ft:gpt-5:own/1'),
  'anthropic, models': async (base) => collect(anthropicOf(base).models.list({ limit: 2 })),
  'anthropic, one model': (base) => anthropicOf(base).models.retrieve('claude-opus-4-5'),
  'anthropic, tokens': (base) =>
    anthropicOf(base).messages.countTokens({ model: 'claude-opus-4-5', messages: question }),
};

async function answerOther(call: ScriptedCall): Promise<void> {
  const usage = { prompt_tokens: 1, total_tokens: 1 };
  if (call.path.includes('/embeddings')) {
    const embedding = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64');
    call.json(200, { object: 'list', model: 'm', data: [{ object: 'embedding', index: 0, embedding }], usage });
  } else if (call.path.includes('/count_tokens')) call.json(200, { input_tokens: 9 });
  else if (call.path.includes('/models/')) call.json(200, { id: 'one', object: 'model', own: [1] });
  else if (call.path.includes('/models'))
    call.json(200, { object: 'list', data: [{ id: 'one', object: 'model', own: [1] }], has_more: false });
  else {
    call.openEventStream();
    const delta = { type: 'response.output_text.delta', delta: 'Blue.', item_id: 'msg_1', sequence_number: 0 };
    await call.event(delta, delta.type);
    await call.event({ type: 'response.completed', response, sequence_number: 1 }, 'response.completed');
    call.end();
  }
}

/** One call with retries. */
const retrying: Record<string, (base: Base, prompt: string) => Promise<unknown>> = {
  openai: ({ openAi: baseURL, apiKey, headers }, content) =>
    new OpenAI({ baseURL, apiKey, defaultHeaders: headers, maxRetries: 2 }).chat.completions.create({
      model: 'gpt-5',
      messages: [{ role: 'user', content }],
    }),
  'Vercel AI SDK': ({ openAi: baseURL, apiKey, headers }, prompt) =>
    generateText({ model: createOpenAI({ baseURL, apiKey, headers }).chat('gpt-5'), prompt, maxRetries: 2 }),
  LangChain: ({ openAi: baseURL, apiKey, headers }, prompt) => {
    const configuration = { baseURL, defaultHeaders: headers };
    return new ChatOpenAI({ model: 'gpt-4o', apiKey, maxRetries: 2, configuration }).invoke([new HumanMessage(prompt)]);
  },
};

/** A stream that is read until it is aborted. */
const aborting: Record<string, (base: Base, signal: AbortSignal) => Promise<unknown>> = {
  'Vercel AI SDK': ({ openAi: baseURL, apiKey, headers }, abortSignal) =>
    collect(
      streamText({
        model: createOpenAI({ baseURL, apiKey, headers }).chat('gpt-5'),
        prompt: 'Which colour is the sky?',
        abortSignal,
      }).textStream,
    ),
  LangChain: async ({ openAi: baseURL, apiKey, headers }, signal) => {
    const model = new ChatOpenAI({ model: 'gpt-4o', apiKey, configuration: { baseURL, defaultHeaders: headers } });
    return collect(await model.stream([new HumanMessage('Which colour is the sky?')], { signal }));
  },
};

/** What the provider got, without what differs between two calls of any program. */
function sentOf({ method, path, bodyText, headers }: ScriptedCall) {
  const { host: _, connection: __, 'keep-alive': ___, ...rest } = headers;
  return { method, path, bodyText, headers: rest };
}

function newestRun(): RunDetail {
  const { storage } = host.host;
  const [newest] = storage.runs.list({ pageSize: 1, continuationToken: undefined, draftId: undefined }).data;
  return storage.runs.read(newest!.runId)!;
}

describe('a library gets through Touchstone what it gets from the provider', () => {
  test.each(Object.keys(calls))('%s', async (name) => {
    const { direct, passed } = bases();
    const before = host.provider.calls.length;
    const expected = await calls[name]!(direct);
    const received = await calls[name]!(passed);
    expect(JSON.parse(JSON.stringify(received))).toEqual(JSON.parse(JSON.stringify(expected)));
    const [first, second] = host.provider.calls.slice(before).map(sentOf);
    expect(second).toEqual(first);
    const run = newestRun();
    expect({ status: run.status, prompt: run.input.renderedPrompt, hasUsage: run.usage !== null }).toEqual({
      status: 'Completed',
      prompt: 'Which colour is the sky?',
      hasUsage: true,
    });
    if (name.includes('tools'))
      expect(run.output.toolCalls).toMatchObject([{ name: 'weather', arguments: '{"city":"Oslo"}' }]);
    else expect(run.output.content).toBe('Blue.');
  });

  test.each(Object.keys(otherCalls))('%s', async (name) => {
    const { direct, passed } = bases();
    host.provider.answerWith(answerOther);
    const before = host.provider.calls.length;
    const expected = await otherCalls[name]!(direct);
    const received = await otherCalls[name]!(passed);
    expect(JSON.parse(JSON.stringify(received))).toEqual(JSON.parse(JSON.stringify(expected)));
    const [first, second] = host.provider.calls.slice(before).map(sentOf);
    expect(second).toEqual(first);
  });

  test('an error of the provider, with its class and its message', async () => {
    host.provider.answerWith((call) => call.fail(400, 'Unknown model'));
    const { passed } = bases();
    const failing = openAiOf(passed).chat.completions.create({ model: 'gpt-0', messages: question });
    await expect(failing).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(failing).rejects.toThrow('Unknown model');
    expect(newestRun()).toMatchObject({
      status: 'Failed',
      httpStatus: 400,
      output: { error: { message: 'Unknown model' } },
    });
  });

  test.each(Object.keys(retrying))('its retries, which stay in one conversation: %s', async (name) => {
    let attempts = 0;
    host.provider.answerWith((call) => {
      attempts += 1;
      if (attempts === 1) call.fail(500, 'Overloaded', { 'retry-after-ms': '1' });
      else call.chatAnswer({ content: 'Blue.' });
    });
    await retrying[name]!(bases().passed, `Retry this with ${name}`);
    const { data } = host.host.storage.runs.list({ pageSize: 2, continuationToken: undefined, draftId: undefined });
    expect(data.map(({ status }) => status)).toEqual(['Completed', 'Failed']);
    expect(new Set(data.map(({ conversationId }) => conversationId)).size).toBe(1);
  });

  test.each(Object.keys(aborting))('an end when it aborts a stream, which closes the call: %s', async (name) => {
    host.provider.answerWith(null);
    const controller = new AbortController();
    const ended = aborting[name]!(bases().passed, controller.signal).catch(() => undefined);
    const call = await host.provider.nextCall();
    call.openEventStream();
    await call.chatDelta({ content: 'Bl' });
    controller.abort();
    await call.closed;
    await ended;
    await expect.poll(() => newestRun().status, patience).toBe('Cancelled');
  });

  test('an end when it aborts, which closes the call at the provider', async () => {
    host.provider.answerWith(null);
    const stream = anthropicOf(bases().passed).messages.stream({
      model: 'claude-opus-4-5',
      max_tokens: 9,
      messages: question,
    });
    stream.done().catch(() => undefined);
    const call = await host.provider.nextCall();
    call.openEventStream();
    await call.event(
      { type: 'message_start', message: { ...message, content: [], usage: anthropicUsage } },
      'message_start',
    );
    stream.abort();
    await call.closed;
    await expect.poll(() => newestRun().status).toBe('Cancelled');
  });

  test('an error of Touchstone, as one of its own', async () => {
    const { passed } = bases();
    const wrong = { ...passed, headers: { 'x-touchstone-key': 'ts_wrong' } };
    await expect(openAiOf(wrong).models.list()).rejects.toMatchObject({
      status: 401,
      message: expect.stringContaining('revoked'),
    });
    const failing = anthropicOf(wrong).messages.create({ model: 'claude-opus-4-5', max_tokens: 9, messages: question });
    await expect(failing).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
  });
});
