// @module-tag slow
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { DirectTexts, readParts } from '../../../electron/providers/direct-texts.ts';
import { chatEnd, chatText, RepeatedEvents } from '../../../electron/providers/plain-events.ts';
import type { ModelCallOptions, ModelPart, Provider, TextPart } from '../../../electron/providers/provider.ts';
import type { ProviderFetch } from '../../../electron/providers/provider-fetch.ts';
import { createEndpointProvider, registry } from '../../../electron/providers/registry.ts';
import { fc } from '../../support/fast-check.ts';
import { modelRequest, noAbort } from '../../support/provider-calls.ts';
import { useProviderConnection } from '../../support/provider-connection.ts';

const chat = (choice: object, rest: object = {}) =>
  JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], ...rest });
const delta = (content: string | null, rest: object = {}) =>
  chat({ index: 0, delta: { content, ...rest }, finish_reason: null });

describe('the texts of a stream', () => {
  /** What a package would get, and how it returns each event. */
  function start() {
    const got: string[] = [];
    const texts = new DirectTexts(chatText);
    let isClosed = false;
    let rooms = 0;
    texts.begin({
      open: () => undefined,
      enqueue: (bytes) => void got.push(...new TextDecoder().decode(bytes).split('\n\n').filter(Boolean)),
      close: () => (isClosed = true),
      resume: () => (rooms += 1),
    });
    const send = (...events: string[]) =>
      texts.take(new TextEncoder().encode(events.map((data) => `data: ${data}\n\n`).join('')));
    const returnText = (text: string) => {
      texts.note({ type: 'raw', rawValue: null });
      texts.note({ type: 'text-delta', id: '1', delta: text });
    };
    return { got, texts, send, returnText, isClosed: () => isClosed, rooms: () => rooms };
  }

  it('go around the package once it has returned the first', () => {
    const { got, texts, send, returnText } = start();
    send(delta('One'), delta(' two'));
    expect([got.length, texts.takeTexts()]).toEqual([1, []]);
    returnText('One');
    send(delta(' three'), delta(' four'));
    expect([got.length, texts.takeTexts()]).toEqual([1, [' two', ' three', ' four']]);
  });

  it('wait behind every other event until the package has read it', () => {
    const { got, texts, send, returnText, isClosed } = start();
    send(delta('One'));
    returnText('One');
    send(delta(' two'), delta(null, { tool_calls: [] }), delta(' three'), delta(' four'));
    texts.end();
    expect([got.length, texts.takeTexts(), isClosed()]).toEqual([3, [' two'], false]);
    texts.note({ type: 'raw', rawValue: null });
    texts.note({ type: 'text-delta', id: '1', delta: ' three' });
    expect(texts.takeTexts()).toEqual([]);
    returnText(' three');
    expect([texts.takeTexts(), isClosed()]).toEqual([[' four'], true]);
  });

  it('all go to a package that does not return them', () => {
    const { got, texts, send, isClosed } = start();
    send(delta('One'), delta(' two'));
    texts.end();
    texts.giveUp();
    expect([got.length, texts.takeTexts(), isClosed()]).toEqual([2, [], true]);
  });

  it('that wait count against the room', () => {
    const { texts, send, returnText, rooms } = start();
    send(delta('One'), delta('x'.repeat(1000)));
    expect(texts.waiting).toBeGreaterThan(1000);
    returnText('One');
    expect(texts.waiting).toBe(1000);
    texts.takeTexts();
    expect([texts.waiting, rooms()]).toEqual([0, 1]);
  });

  it.each([
    ['a finish reason', chat({ index: 0, delta: { content: 'x' }, finish_reason: 'stop' })],
    ['a second choice', chat({ index: 1, delta: { content: 'x' } })],
    ['reasoning', delta('x', { reasoning_content: 'y' })],
    ['an error', delta('x').replace('"id"', '"error":{},"id"')],
    ['usage', chat({ index: 0, delta: { content: 'x' } }, { usage: { prompt_tokens: 1 } })],
    ['parts instead of a text', chat({ index: 0, delta: { content: [{ type: 'text', text: 'x' }] } })],
    ['an unknown field', chat({ index: 0, delta: { content: 'x', later: 1 } })],
    ['another form', '["x"]'],
    ['broken JSON', '{"choices":'],
    ['64 KB', delta('x'.repeat(70_000))],
  ])('with %s go to the package', (_, event) => {
    const { got, texts, send, returnText } = start();
    send(delta('One'));
    returnText('One');
    send(event);
    expect([got.at(-1), texts.takeTexts()]).toEqual([`data: ${event}`, []]);
  });
});

describe('an answer of nothing but text', () => {
  const role = delta('', { role: 'assistant' });
  const stop = chat({ index: 0, delta: {}, finish_reason: 'stop' });
  const usage = JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 1 } });

  function start() {
    const got: string[] = [];
    const texts = new DirectTexts(chatText, chatEnd);
    let [opened, closed] = [0, 0];
    texts.begin({
      open: () => void opened++,
      enqueue: (bytes) => void got.push(...new TextDecoder().decode(bytes).split('\n\n').filter(Boolean)),
      close: () => void closed++,
      resume: () => undefined,
    });
    const send = (...events: string[]) =>
      texts.take(new TextEncoder().encode(events.map((data) => `data: ${data}\n\n`).join('')));
    return { got, texts, send, body: () => ({ opened, closed }) };
  }

  it('never reaches the package', () => {
    const { texts, send, body } = start();
    send(role, delta('One'), delta(' two'), stop, usage, '[DONE]');
    expect([texts.takeTexts(), texts.answerEnd]).toEqual([['One', ' two'], null]);
    texts.end();
    expect(texts.answerEnd).toEqual({ finish_reason: 'stop', usage: { prompt_tokens: 1 } });
    expect(body()).toEqual({ opened: 0, closed: 0 });
  });

  it('is parsed once, but for its texts', () => {
    let parsed = 0;
    const texts = new DirectTexts((event) => {
      parsed += 1;
      return chatText(event);
    }, chatEnd);
    texts.begin({ open: () => undefined, enqueue: () => undefined, close: () => undefined, resume: () => undefined });
    const sent = Array.from({ length: 50 }, (_, index) => ` ${index}`);
    for (const text of sent) texts.take(new TextEncoder().encode(`data: ${delta(text)}\n\n`));
    // The first event, and that with another text in its place.
    expect([texts.takeTexts(), parsed]).toEqual([sent, 2]);
  });

  it('has the usage beside the finish reason, or none', () => {
    const { texts, send } = start();
    send(
      delta('One'),
      chat({ index: 0, delta: { content: '' }, finish_reason: 'length' }, { usage: { total_tokens: 2 } }),
    );
    texts.end();
    expect(texts.answerEnd).toEqual({ finish_reason: 'length', usage: { total_tokens: 2 } });
    const other = start();
    other.send(delta('One'), stop, chat({ index: 0, delta: { content: null }, finish_reason: null }));
    other.texts.end();
    expect(other.texts.answerEnd).toEqual({ finish_reason: 'stop' });
  });

  it.each([
    ['a tool call', delta(null, { tool_calls: [] })],
    ['an error', '{"error":{"message":"no"}}'],
    ['a text with its finish reason', chat({ index: 0, delta: { content: 'x' }, finish_reason: 'stop' })],
    ['a finish reason of another type', chat({ index: 0, delta: {}, finish_reason: 7 })],
    ['a second choice', JSON.stringify({ choices: [{ index: 0, delta: {} }, {}] })],
    ['broken JSON', '{"choices":'],
    ['64 KB in one event', delta('x'.repeat(70_000))],
  ])('goes to the package once it has %s', (_, event) => {
    const { got, texts, send, body } = start();
    // Two texts, so that the events after them are compared with the first.
    send(role, delta('One'), delta(' and'), event, delta(' two'));
    texts.end();
    expect([got.slice(0, 2), texts.takeTexts(), texts.answerEnd]).toEqual([
      [`data: ${role}`, `data: ${event}`],
      ['One', ' and'],
      null,
    ]);
    expect(body().opened).toBe(1);
  });

  it('goes to the package if it has no finish reason', () => {
    const { got, texts, send, body } = start();
    send(role, delta('One'), usage);
    texts.end();
    expect([got.length, texts.answerEnd, body()]).toEqual([2, null, { opened: 1, closed: 1 }]);
  });

  it('goes to the package if that cannot read its end', () => {
    const { got, texts, send, body } = start();
    send(role, delta('One'), stop);
    texts.end();
    texts.openPackage();
    expect([got.length, texts.answerEnd, body()]).toEqual([2, null, { opened: 1, closed: 1 }]);
  });

  it('keeps at most 64 KB of events for the package', () => {
    const { texts, send, body } = start();
    for (let count = 0; count < 1000 && body().opened === 0; count++) send(role);
    expect(body().opened).toBe(1);
    expect(texts.waiting).toBe(0);
  });
});

describe('an event like the one before', () => {
  function start() {
    let parsed = 0;
    const repeated = new RepeatedEvents((event) => {
      parsed += 1;
      return chatText(event);
    });
    return { repeated, parsed: () => parsed };
  }

  it.each(['', ' two', '“☂”', '"', '\\', '\n', '\u0000', '\ud800', '","finish_reason":"stop', '$&'])(
    'has the text %j',
    (text) => {
      const { repeated, parsed } = start();
      repeated.learn(delta('One'), 'One');
      expect(repeated.textOf(delta(text))).toBe(text);
      // As Python writes it.
      const escaped = delta(text).replaceAll(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      expect(repeated.textOf(escaped)).toBe(text);
      expect(parsed()).toBe(1);
    },
  );

  it.each([
    ['another field', delta('x', { tool_calls: [] })],
    ['no text', delta(null)],
    ['a number', delta('x').replace('"x"', '7')],
    ['an object', delta('x').replace('"x"', '{"text":"x"}')],
    ['two texts', delta('x').replace('"x"', '"x","y"')],
    ['one more field within', delta('x').replace('"x"', '"x","refusal":"y"')],
    ['broken JSON', delta('x').replace('"x"', '"x')],
    ['nothing', ''],
    ['only its beginning', delta('One').slice(0, -1)],
  ])('is none if it has %s', (_, event) => {
    const { repeated } = start();
    repeated.learn(delta('One'), 'One');
    expect(repeated.textOf(delta('x'))).toBe('x');
    expect(repeated.textOf(event)).toBeNull();
  });

  it('is not known from a text that is the value of another field, too', () => {
    const { repeated } = start();
    const named = (content: string) =>
      chat({ index: 0, delta: { content }, logprobs: null }, { system_fingerprint: 'fp' });
    repeated.learn(named('fp'), 'fp');
    expect(repeated.textOf(named('x'))).toBeNull();
    expect(repeated.textOf(named('fp').replace('"fp"}', '"x"}'))).toBeNull();
    repeated.learn(named('One'), 'One');
    expect(repeated.textOf(named('x'))).toBe('x');
  });

  it('is no longer looked for in a stream that has something new in each', () => {
    const { repeated, parsed } = start();
    for (let count = 0; count < 100; count++) {
      const event = chat({ index: 0, delta: { content: 'One' } }, { obfuscation: `${count}` });
      expect(repeated.textOf(event)).toBeNull();
      repeated.learn(event, 'One');
    }
    expect(parsed()).toBe(8);
  });

  it('is learned again when the stream changes, as often as it repeats some', () => {
    const { repeated } = start();
    for (let second = 0; second < 100; second++) {
      const at = (content: string) => delta(content).replace('"created":1', `"created":${second}`);
      expect(repeated.textOf(at('One'))).toBeNull();
      repeated.learn(at('One'), 'One');
      expect(repeated.textOf(at('two'))).toBe('two');
    }
  });
});

describe('a text that comes while its reader waits', () => {
  const never = new Promise<never>(() => undefined);

  function start(takes: (text: string) => boolean) {
    const seen: unknown[] = [];
    const texts = new DirectTexts(chatText, chatEnd);
    texts.begin({ open: () => undefined, enqueue: () => undefined, close: () => undefined, resume: () => undefined });
    const take = ({ text, pieces }: TextPart) => {
      const isTaken = takes(text);
      seen.push({ text, isTaken, ...(pieces && { pieces }) });
      return isTaken;
    };
    const finish = async () => ({ type: 'finish' }) as never;
    const parts = readParts(never, texts, finish, take);
    const next = async () => {
      const { value } = (await parts.next()) as IteratorYieldResult<{ type: string; part?: TextPart }>;
      seen.push(value.part?.text ?? value.type);
    };
    const send = (...events: string[]) =>
      texts.take(new TextEncoder().encode(events.map((data) => `data: ${data}\n\n`).join('')));
    return { seen, texts, next, send };
  }

  it('is offered to it, and is the next part if it refuses', async () => {
    const { seen, texts, next, send } = start((text) => text.includes('taken'));
    const first = next();
    await nextTurn();
    send(delta('refused'));
    await first;
    // Nobody waits for these.
    send(delta('taken'));
    send(delta(' later'));
    expect(texts.waiting).toBe(11);
    await next();
    const last = next();
    await nextTurn();
    send(delta('taken'));
    await nextTurn();
    // What comes in one turn is one part.
    send(delta('taken'));
    send(delta(' together'), delta(', too'));
    await nextTurn();
    expect(texts.waiting).toBe(0);
    send(delta('taken with the end'), chat({ index: 0, delta: {}, finish_reason: 'stop' }));
    texts.end();
    await last;
    expect(seen).toEqual([
      { text: 'refused', isTaken: false },
      'refused',
      'taken later',
      { text: 'taken', isTaken: true },
      { text: 'taken together, too', isTaken: true, pieces: ['taken', ' together', ', too'] },
      { text: 'taken with the end', isTaken: true },
      'finish',
    ]);
  });

  it('is not offered with 16 others', async () => {
    const { seen, next, send } = start(() => true);
    const many = Array.from({ length: 16 }, () => delta('x'));
    const first = next();
    await nextTurn();
    send(...many);
    await nextTurn();
    send(...many, delta('y'));
    await first;
    expect(seen).toEqual([{ text: 'x'.repeat(16), isTaken: true, pieces: many.map(() => 'x') }, `${'x'.repeat(16)}y`]);
  });

  it('follows one that was refused and is not read yet', async () => {
    const { seen, next, send } = start((text) => text !== 'refused');
    const first = next();
    await nextTurn();
    send(delta('refused'));
    await Promise.resolve();
    // The reader has been woken, but has not run.
    send(delta('more'));
    await first;
    await nextTurn();
    expect(seen).toEqual([{ text: 'refused', isTaken: false }, 'refusedmore']);
  });

  it('is not offered before the package has returned the text for which it is asked', async () => {
    const { seen, texts, next, send } = start(() => true);
    void next();
    await nextTurn();
    send(delta(null, { tool_calls: [] }), delta('One'), delta(' two'));
    await nextTurn();
    expect(seen).toEqual([]);
    texts.note({ type: 'raw', rawValue: null });
    texts.note({ type: 'raw', rawValue: null });
    texts.note({ type: 'text-delta', id: '1', delta: 'One' });
    expect(texts.takeTexts()).toEqual([' two']);
  });

  it('goes to a package that does not return the one before', async () => {
    const got: string[] = [];
    let answer!: ReadableStreamDefaultController<LanguageModelV4StreamPart>;
    const stream = new ReadableStream<LanguageModelV4StreamPart>({ start: (controller) => void (answer = controller) });
    const texts = new DirectTexts(chatText);
    texts.begin({
      open: () => undefined,
      enqueue: (bytes) => void got.push(new TextDecoder().decode(bytes)),
      close: () => undefined,
      resume: () => undefined,
    });
    const parts = readParts(Promise.resolve({ stream }), texts, () => never);
    await nextTurn();
    texts.take(new TextEncoder().encode(`data: ${delta('One')}\n\ndata: ${delta(' two')}\n\n`));
    answer.enqueue({ type: 'raw', rawValue: null });
    await parts.next();
    void parts.next();
    await expect.poll(() => got.join('')).toContain(' two');
  });
});

const world = useProviderConnection();

/** Leaves every event to the package. */
function withoutDirectTexts(transport: ProviderFetch): ProviderFetch {
  return { ...transport, join: (signal, context) => transport.join(signal, { ...context, texts: undefined }) };
}

type ProviderName = keyof typeof registry | 'OpenAiCompatible';
const files = {
  Anthropic: 'anthropic',
  Cohere: 'cohere',
  GoogleGemini: 'google-gemini',
  Groq: 'groq',
  OpenAi: 'open-ai',
  OpenAiCompatible: 'open-ai-compatible',
} as const;

function connect(name: ProviderName, transport: ProviderFetch): Provider {
  const settings = { title: name, baseAddress: world.server.baseAddress, key: 'the-key', transport };
  return name === 'OpenAiCompatible' ? createEndpointProvider(settings) : registry[name].create(settings);
}

/** The parts with neighbouring texts joined, or the failure. */
async function outcome(
  read: (options: ModelCallOptions) => AsyncIterable<ModelPart>,
  takes: (part: TextPart) => boolean = () => false,
): Promise<unknown[]> {
  const seen: unknown[] = [];
  const note = (part: ModelPart) => {
    const last = seen.at(-1) as ModelPart | undefined;
    if ('pieces' in part) expect(part.pieces!.join('')).toBe(part.text);
    if (part.type === 'text-delta' && last?.type === 'text-delta')
      seen[seen.length - 1] = { type: 'text-delta', text: last.text + part.text };
    else if (part.type === 'text-delta') seen.push({ type: 'text-delta', text: part.text });
    else seen.push(part);
  };
  const takeText = (part: TextPart) => {
    const isTaken = takes(part);
    if (isTaken) note(part);
    return isTaken;
  };
  try {
    for await (const part of read({ signal: noAbort(), takeText })) note(part);
  } catch (error) {
    seen.push((error as Error).message);
  }
  return seen;
}

function recordedEvents(name: keyof typeof files): string[] {
  const file = new URL(`../../fixtures/providers/${files[name]}.sse`, import.meta.url);
  return readFileSync(file, 'utf8').split(/(?<=\n\n)/);
}

describe.each(Object.keys(files) as (keyof typeof files)[])('%s', (name) => {
  it('gives the same answer as its package for any mixture of its events, however they are cut', async () => {
    const events = recordedEvents(name);
    const transport = world.openTransport();
    const event = fc.nat({ max: events.length - 1 });
    const scenario = fc.record({
      // The recorded events, with some more of them anywhere, most often several equal ones in a row.
      more: fc.array(fc.tuple(event, event, fc.integer({ min: 1, max: 4 })), { maxLength: 6 }),
      left: fc.option(event, { freq: 4, nil: null }),
      // Whether the reader takes each text that it is offered.
      takes: fc.infiniteStream(fc.boolean()),
      cuts: fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ more, left, takes, cuts }) => {
        const sent = events.filter((_, index) => index !== left);
        for (const [at, which, times] of more) sent.splice(at, 0, ...Array<string>(times).fill(events[which]!));
        const bytes = Buffer.from(sent.join(''));
        world.server.answerWith(async (call) => {
          call.openEventStream();
          let start = 0;
          for (const length of cuts) {
            await call.write(bytes.subarray(start, start + length));
            start = Math.min(start + length, bytes.length);
            await nextTurn();
          }
          await call.write(bytes.subarray(start));
          call.end();
        });
        const read = (through: ProviderFetch) =>
          outcome(
            (options) => connect(name, through).stream(modelRequest('m'), options),
            () => takes.next().value,
          );
        expect(await read(transport)).toEqual(await read(withoutDirectTexts(transport)));
      }),
      { numRuns: 60 },
    );
  });
});

describe('the end of a stream', () => {
  it.each([
    ['no usage', null],
    ['a usage that is no object', 'many'],
    ['a count that is no number', { prompt_tokens: 'seven' }],
    ['counts of a cache and of reasoning', { prompt_tokens: 7, prompt_tokens_details: { cached_tokens: 3 }, more: 1 }],
  ])('with %s is the same as in the package', async (_, usage) => {
    const transport = world.openTransport();
    world.server.answerWith(async (call) => {
      call.openEventStream();
      await call.event(delta('One'));
      await call.event(chat({ index: 0, delta: {}, finish_reason: 'length' }, { usage }));
      call.end('data: [DONE]\n\n');
    });
    const read = (through: ProviderFetch) =>
      outcome((options) => connect('OpenAiCompatible', through).stream(modelRequest('m'), options));
    const answer = await read(transport);
    expect(answer).toHaveLength(2);
    expect(answer).toEqual(await read(withoutDirectTexts(transport)));
  });
});
