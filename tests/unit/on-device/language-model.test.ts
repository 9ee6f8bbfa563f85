// @module-tag slow
import { textMessage } from '../../../shared/contract/messages.ts';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnDeviceLanguageModels } from '../../../electron/on-device/create-language-models.ts';
import { ExchangeLog } from '../../../electron/provider-exchanges/exchange-log.ts';
import type { ModelPart, ModelRequest } from '../../../electron/providers/provider.ts';
import type { Configuration } from '../../../shared/contract/completions.ts';
import { ensureTestModel } from '../../support/on-device-model.ts';
import { createMemorySettings } from '../../support/on-device-settings.ts';
import { whenState } from '../../support/on-device-state.ts';
import { structuredPrompts } from '../../support/structured-prompts.ts';
import { createAnswerCheck } from '../../../electron/schemas/check-schema.ts';
import { longTest } from '../../support/patience.ts';

type Models = ReturnType<typeof createOnDeviceLanguageModels>;

const fileName = 'tinyllama-1.1b-chat-iq2_xxs.gguf';
const { signal } = new AbortController();
let directory: string;
let models: Models;

function open(options: { idleMinutes?: number } = {}): Models {
  return createOnDeviceLanguageModels({
    directory,
    settings: createMemorySettings({ onDeviceModel: fileName }),
    registryAddress: 'http://127.0.0.1:1',
    log: () => {},
    // Several threads wait for each other at every operation while other tests use the cores.
    threads: 1,
    ...options,
  });
}

function request(
  content: string,
  configuration: Configuration = {},
  systemMessage: string | null = null,
): ModelRequest {
  return { model: 'hl-gpt-4o-mini', systemMessage, messages: [textMessage('user', content)], configuration };
}

/** Takes parts until there are `count`, and leaves the rest to the test. */
async function take(parts: AsyncIterator<ModelPart>, count: number): Promise<ModelPart[]> {
  const taken: ModelPart[] = [];
  while (taken.length < count) taken.push((await parts.next()).value as ModelPart);
  return taken;
}

function start(modelRequest: ModelRequest, options: { signal: AbortSignal }): AsyncIterator<ModelPart> {
  return models.provider.stream(modelRequest, options)[Symbol.asyncIterator]();
}

// Goes on until it is stopped: the model repeats itself for as long as it may.
const long = request('Write a very long story about the sea.', { temperature: 0, max_tokens: 2000 });

beforeAll(async () => {
  directory = await ensureTestModel();
  models = open();
}, longTest.timeout);

afterAll(() => models.close());

describe('an answer of the on-device model', longTest, () => {
  it('records the prompt in the chat template, the parameters and the text as its exchange', async () => {
    const exchanges = new ExchangeLog(() => {});
    const requested = request('Name a colour.', { temperature: 0, max_tokens: 4 }, 'Be brief.');
    const answer = await models.provider.generate(requested, { signal, exchanges });
    const [exchange] = exchanges.read();
    expect(exchange).toMatchObject({
      kind: 'on-device',
      model: fileName,
      parameters: { temperature: 0, maxTokens: 4 },
      response: { text: answer.content, isCut: false },
      error: null,
    });
    expect(exchange?.kind === 'on-device' && exchange.prompt?.text).toMatch(
      /<\|system\|>\s+Be brief\.<\/s>[\s\S]*Name a colour\./,
    );
  });

  it('streams the text in chunks and ends with the reason and the usage', async () => {
    let firstBytes = 0;
    const parts: ModelPart[] = [];
    const question = request('Name three colours.', { temperature: 0, max_tokens: 30 }, 'You answer briefly.');
    for await (const part of models.provider.stream(question, { signal, onFirstByte: () => (firstBytes += 1) })) {
      expect(firstBytes).toBe(1);
      parts.push(part);
    }
    const texts = parts.slice(0, -1);
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.every(({ type }) => type === 'text-delta')).toBe(true);
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      finishReason: 'Stop',
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
      },
    });
    expect(models.state().engine).toEqual({
      state: 'ready',
      loadingSince: null,
      queued: 0,
      isAnswering: false,
      failure: null,
    });
  });

  it('counts the tokens of the prompt as the model reads it, and those of the answer', async () => {
    const short = await models.provider.generate(request('Hi', { temperature: 0, max_tokens: 4 }), { signal });
    const longer = await models.provider.generate(request('Hi there my friend', { temperature: 0, max_tokens: 4 }), {
      signal,
    });
    expect(short.usage.completion_tokens).toBe(4);
    expect(short.usage.total_tokens).toBe(short.usage.prompt_tokens + 4);
    expect(longer.usage.prompt_tokens - short.usage.prompt_tokens).toBe(3);
  });

  it('ends with Length at max_tokens', async () => {
    const answer = await models.provider.generate(
      { ...long, configuration: { max_tokens: 5, temperature: 0 } },
      { signal },
    );
    expect(answer).toMatchObject({ finishReason: 'Length', reasoning: null, usage: { completion_tokens: 5 } });
    expect(answer.content.length).toBeGreaterThan(5);
  });

  it('ends with Stop before a stop sequence, from a text or a list, and omits it', async () => {
    const question = 'Count: one, two, three, four, five, six';
    const plain = await models.provider.generate(request(question, { temperature: 0, max_tokens: 8 }), { signal });
    const stop = plain.content.slice(6, 9);
    for (const stopText of [stop, ['never said', '', stop]]) {
      const configuration = { temperature: 0, max_tokens: 8, stop: stopText };
      const answer = await models.provider.generate(request(question, configuration), { signal });
      expect(answer).toMatchObject({
        content: plain.content.slice(0, plain.content.indexOf(stop)),
        finishReason: 'Stop',
      });
    }
  });

  it('follows a JSON schema, streamed and whole, and ends with Stop', async () => {
    const { prompt, schema } = structuredPrompts.find((one) => one.prompt === 'Name three colours.')!;
    const requested = request(prompt, {
      seed: 3,
      max_tokens: 300,
      response_format: { type: 'json_schema', json_schema: { name: 'colours', schema } },
    });
    const exchanges = new ExchangeLog(() => {});
    const answer = await models.provider.generate(requested, { signal, exchanges });
    expect(createAnswerCheck(schema)(answer.content), answer.content).toMatchObject({ outcome: 'valid' });
    expect(answer.finishReason).toBe('Stop');
    expect(exchanges.read()).toMatchObject([{ parameters: { responseFormat: { type: 'json_schema' } } }]);
    let streamed = '';
    for await (const part of models.provider.stream(requested, { signal })) {
      if (part.type === 'text-delta') streamed += part.text;
    }
    expect(streamed).toBe(answer.content);
  });

  it('writes a JSON object for json_object', async () => {
    const configuration = { seed: 1, max_tokens: 300, response_format: { type: 'json_object' } } as const;
    const answer = await models.provider.generate(request('Ann is 30. Write it as JSON.', configuration), { signal });
    expect(JSON.parse(answer.content)).toBeTypeOf('object');
  });

  it('follows every schema of the benchmark within few tokens', async () => {
    for (const [seed, { prompt, schema }] of structuredPrompts.entries()) {
      const answer = await models.provider.generate(
        request(prompt, {
          seed,
          max_tokens: 120,
          response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
        }),
        { signal },
      );
      const check = createAnswerCheck(schema)(answer.content);
      expect([check.outcome, answer.finishReason], answer.content).toEqual(['valid', 'Stop']);
    }
  });

  it.each([
    ['a list without a maximum', { type: 'array', items: { type: 'string' } }],
    ['a text without a maximum', { type: 'object', properties: { story: { type: 'string' } }, required: ['story'] }],
    ['any value', { type: 'object', properties: { story: {}, notes: {} }, required: ['story', 'notes'] }],
    [
      'a tree',
      {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' }, minItems: 1 } },
        required: ['name'],
      },
    ],
    [
      'a list of references',
      {
        type: 'object',
        properties: { name: { type: 'string' }, next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
        required: ['name', 'next'],
      },
    ],
  ])('ends the JSON before its tokens end: %s', async (_, schema) => {
    const configuration = {
      seed: 2,
      max_tokens: 32,
      response_format: { type: 'json_schema', json_schema: { name: 'story', schema } },
    } as const;
    const answer = await models.provider.generate(request('Write a very long story about the sea.', configuration), {
      signal,
    });
    expect(createAnswerCheck(schema)(answer.content), answer.content).toMatchObject({ outcome: 'valid' });
    expect(answer.finishReason).toBe('Stop');
  });

  it('ends with Length if max_tokens truncates its JSON, and repairs nothing', async () => {
    const schema = { type: 'array', items: { type: 'string' }, minItems: 20 };
    const answer = await models.provider.generate(
      request('Name 20 colours.', {
        max_tokens: 12,
        response_format: { type: 'json_schema', json_schema: { name: 'colours', schema } },
      }),
      { signal },
    );
    expect(answer.finishReason).toBe('Length');
    expect(createAnswerCheck(schema)(answer.content).outcome).toBe('not-json');
  });

  it('calls a tool whose call is forced, with arguments that follow the schema', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string', maxLength: 20 }, unit: { enum: ['celsius', 'fahrenheit'] } },
      required: ['city', 'unit'],
    };
    const tool = (name: string) => ({ type: 'function' as const, function: { name, parameters } });
    const tools = [tool('weather'), tool('forecast')];
    const prompt = 'What is the weather in Paris?';
    for (const tool_choice of ['required', { type: 'function', function: { name: 'forecast' } }] as const) {
      const configuration = { tools, tool_choice, max_tokens: 120 };
      const { finishReason, content, toolCalls } = await models.provider.generate(request(prompt, configuration), {
        signal,
      });
      expect([finishReason, content, toolCalls?.length]).toEqual(['ToolCalls', '', 1]);
      expect(createAnswerCheck(parameters)(toolCalls![0]!.arguments).outcome).toBe('valid');
      if (tool_choice !== 'required') expect(toolCalls![0]!.name).toBe('forecast');
    }
  });

  it("lists what its grammar can't express before it starts", () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: 'a' } } };
    const configuration = { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } } as const;
    expect(() => models.provider.requireSupported!(configuration)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [
          {
            field: 'configuration.response_format.json_schema.schema',
            issue: `at /properties/a "pattern" isn't supported by the on-device model`,
          },
        ],
      }),
    );
  });

  it('is the same for the same seed, and different for another seed', async () => {
    const ask = async (seed: number) =>
      (
        await models.provider.generate(request('Invent a name.', { temperature: 1.5, seed, max_tokens: 6 }), {
          signal,
        })
      ).content;
    const first = await ask(7);
    await ask(8);
    expect(await ask(7)).toBe(first);
    expect(await ask(2 ** 40 + 7)).toBe(first);
    expect(await ask(9)).not.toBe(first);
  });

  it('is always the same at temperature 0, after any other request', async () => {
    const ask = async (text: string) =>
      (await models.provider.generate(request(text, { temperature: 0, max_tokens: 6 }), { signal })).content;
    const first = await ask('Say something about rain.');
    await ask('Say something about snow.');
    expect(await ask('Say something about rain.')).toBe(first);
  });

  it('changes with the penalties and with top_k', async () => {
    const ask = async (configuration: Configuration) =>
      (
        await models.provider.generate(
          request('Say "yes" forty times.', { max_tokens: 12, seed: 1, ...configuration }),
          { signal },
        )
      ).content;
    const plain = await ask({ temperature: 0 });
    expect(await ask({ temperature: 0, frequency_penalty: 2, presence_penalty: 2 })).not.toBe(plain);
    // With one candidate left there is nothing to choose, however high the temperature.
    expect(await ask({ temperature: 2, top_k: 1 })).toBe(plain);
  });

  it('includes the whole conversation', async () => {
    const configuration = { temperature: 0, max_tokens: 12 };
    const alone = await models.provider.generate(request('What is my name?', configuration), { signal });
    const messages = [
      textMessage('user', 'My name is Zebulon.'),
      textMessage('assistant', 'Hello Zebulon!'),
      textMessage('user', 'What is my name?'),
    ];
    const reported = await models.provider.generate({ ...request('', configuration), messages }, { signal });
    expect(alone.content).not.toContain('Zebulon');
    expect(reported.content).toContain('Zebulon');
    expect(reported.usage.prompt_tokens).toBeGreaterThan(alone.usage.prompt_tokens);
  });

  it('rejects a prompt that is longer than the context and names both numbers', async () => {
    const tooLong = models.provider.generate(request('word '.repeat(4000)), { signal });
    await expect(tooLong).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'promptText', issue: expect.stringMatching(/has 40\d\d tokens .* supports 2048/) }],
    });
    await expect(models.provider.generate(request('word '.repeat(200_000)), { signal })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(models.state().engine.state).toBe('ready');
  });

  it('reads text that looks like the markers of its template as plain text', async () => {
    const marks = '</s><|system|><|assistant|>';
    const plain = await models.provider.generate(request('', { max_tokens: 1 }), { signal });
    const marked = await models.provider.generate(request(marks, { max_tokens: 1 }), { signal });
    // As marks they would be three tokens or fewer; spelled out they are many.
    expect(marked.usage.prompt_tokens - plain.usage.prompt_tokens).toBeGreaterThan(8);
  });

  it('lists the installed model', async () => {
    expect(await models.provider.listModels({ signal })).toEqual([{ name: fileName, title: 'TinyLlama 1.1B Chat' }]);
  });
});

describe('stopping and queueing', longTest, () => {
  it('ends at once on an abort, and the next answer starts', async () => {
    const controller = new AbortController();
    const parts = start(long, { signal: controller.signal });
    await take(parts, 3);
    controller.abort();
    await expect(parts.next()).rejects.toMatchObject({ name: 'AbortError' });
    const next = await models.provider.generate(request('Hi', { max_tokens: 2 }), { signal });
    expect(next.usage.completion_tokens).toBe(2);
  });

  it('ends when the reader returns', async () => {
    for await (const part of models.provider.stream(long, { signal })) {
      expect(part.type).toBe('text-delta');
      break;
    }
    await whenState(models, ({ engine }) => !engine.isAnswering);
  });

  it('runs requests one after the other in the order of the calls, and skips an aborted one', async () => {
    const ended: string[] = [];
    const first = new AbortController();
    const second = new AbortController();
    const follow = async (name: string, question: ModelRequest, by: AbortSignal) => {
      try {
        for await (const part of models.provider.stream(question, { signal: by }))
          if (part.type === 'finish') ended.push(name);
      } catch {
        ended.push(`${name} stopped`);
      }
    };
    const running = follow('first', long, first.signal);
    await whenState(models, ({ engine }) => engine.isAnswering);
    const others = [
      follow('second', request('Hi', { max_tokens: 2 }), second.signal),
      follow('third', request('Hi', { max_tokens: 2 }), signal),
      follow('fourth', request('Hi', { max_tokens: 2 }), signal),
    ];
    await whenState(models, ({ engine }) => engine.queued === 3);
    second.abort();
    await others[0];
    expect(models.state().engine).toMatchObject({ queued: 2, isAnswering: true });
    first.abort();
    await Promise.all([running, ...others]);
    expect(ended).toEqual(['second stopped', 'first stopped', 'third', 'fourth']);
    expect(models.state().engine).toMatchObject({ queued: 0 });
  });

  it('does not start with an aborted signal', async () => {
    await expect(models.provider.generate(long, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('the process of the model', longTest, () => {
  it('is separate from the host, with a lower priority', async () => {
    await models.provider.generate(request('Hi', { max_tokens: 1 }), { signal });
    const processId = models.engineProcessId();
    expect(processId).toEqual(expect.any(Number));
    expect(processId).not.toBe(process.pid);
    if (process.platform !== 'linux') return;
    const threads = execFileSync('ps', ['-L', '-o', 'comm=,ni=', '-p', String(processId)], { encoding: 'utf8' });
    const niceness = threads.split('\n').filter((line) => /^(MainThread|node|libuv)/.test(line));
    expect(niceness.length).toBeGreaterThan(1);
    expect(niceness.every((line) => /10\s*$/.test(line))).toBe(true);
  });

  it('is replaced after it was killed during an answer, which fails with a clear error', async () => {
    const parts = start(long, { signal });
    await take(parts, 2);
    process.kill(models.engineProcessId()!, 'SIGKILL');
    const rest = (async () => {
      while (!(await parts.next()).done);
    })();
    await expect(rest).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringMatching(/SIGKILL.*Run the prompt again/),
    });
    const next = await models.provider.generate(request('Hi', { max_tokens: 2 }), { signal });
    expect(next.usage.completion_tokens).toBe(2);
  });

  it('can abort while the model loads, and continues loading for the next request', async () => {
    const fresh = open();
    const controller = new AbortController();
    const stopped = fresh.provider.generate(long, { signal: controller.signal });
    await whenState(fresh, ({ engine }) => engine.state === 'loading');
    const processId = fresh.engineProcessId();
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    await fresh.provider.generate(request('Hi', { max_tokens: 1 }), { signal });
    expect(fresh.engineProcessId()).toBe(processId);
    await fresh.close();
  });

  it('ends after idle time and starts again with the next request', async () => {
    const idle = open({ idleMinutes: 0.005 });
    await idle.provider.generate(request('Hi', { max_tokens: 1 }), { signal });
    await whenState(idle, ({ engine }) => engine.state === 'idle');
    expect(idle.engineProcessId()).toBeNull();
    await idle.provider.generate(request('Hi', { max_tokens: 1 }), { signal });
    await idle.close();
  });

  it('ends with the host, and active and queued requests fail', async () => {
    const closing = open();
    const running = closing.provider.generate(long, { signal });
    const waiting = closing.provider.generate(long, { signal });
    await whenState(closing, ({ engine }) => engine.state === 'ready');
    await closing.close();
    await expect(running).rejects.toMatchObject({ code: 'provider_failed' });
    await expect(waiting).rejects.toMatchObject({ code: 'provider_failed' });
    expect(closing.engineProcessId()).toBeNull();
  });
});
