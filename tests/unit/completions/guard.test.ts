import { textMessage } from '../../../shared/contract/messages.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createGuard, type RunGuard } from '../../../electron/completions/guard.ts';
import type { TextClassifier } from '../../../electron/completions/guarded-text.ts';
import type { ModelPart } from '../../../electron/providers/provider.ts';
import { AppError } from '../../../shared/app-error.ts';
import type { Configuration } from '../../../shared/contract/completions.ts';
import { categories, type GuardSettings } from '../../../shared/contract/moderation.ts';

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const { signal } = new AbortController();

/** Finds violence in whatever names a knife, and cannot judge what says so. */
function knifeFinder(seen: string[] = []): TextClassifier {
  return {
    classify: async (text) => {
      seen.push(text);
      if (text.includes('unjudgeable')) throw new AppError('provider_failed', 'The classifier is not there.');
      const isFlagged = text.includes('knife');
      const each = <Value>(value: (category: string) => Value) =>
        Object.fromEntries(categories.map((category) => [category, value(category)])) as never;
      return {
        model: 'knife-finder',
        categories: each((category) => category === 'violence' && isFlagged),
        categoryScores: each((category) => (category === 'violence' && isFlagged ? 0.9 : 0.1)),
      };
    },
  };
}

function guardWith(settings: GuardSettings, seen: string[] = []) {
  return createGuard({ settings: () => settings, classifier: { ...knifeFinder(seen), isPaid: () => false } });
}

async function guardOf(settings: GuardSettings, seen: string[] = [], renderedPrompt = 'Hello'): Promise<RunGuard> {
  const guard = await guardWith(settings, seen).begin(
    { renderedPrompt, systemMessage: null, configuration: {} },
    { signal },
  );
  if (guard === null) throw new Error('The guard does not look.');
  return guard;
}

/** A provider's stream that tells whether it was left before its end. */
function stream(texts: readonly string[]) {
  const state = { isLeft: true };
  async function* parts(): AsyncGenerator<ModelPart, void, void> {
    for (const text of texts) yield { type: 'text-delta', text };
    state.isLeft = false;
    yield { type: 'finish', finishReason: 'Stop', usage };
  }
  return { parts: parts(), state };
}

async function screened(guard: RunGuard, texts: readonly string[]) {
  const { parts, state } = stream(texts);
  const out: unknown[] = [];
  for await (const part of guard.screen(parts)) out.push(part.type === 'text-delta' ? part.text : part);
  return { out, isLeft: state.isLeft };
}

describe('a guard that is off', () => {
  test('is null and checks nothing', () => {
    const seen: string[] = [];
    const guard = guardWith({ prompts: 'off', answers: 'off' }, seen);
    expect({
      guard: guard.begin({ renderedPrompt: 'a knife', systemMessage: null, configuration: {} }, { signal }),
      seen,
    }).toEqual({
      guard: null,
      seen: [],
    });
  });
});

describe('a prompt', () => {
  test('that is blocked is a 400 that names the field and the categories', async () => {
    const guard = guardWith({ prompts: 'refuse', answers: 'off' });
    const rejected = await Promise.resolve(
      guard.begin({ renderedPrompt: 'a knife', systemMessage: null, configuration: {} }, { signal }),
    ).catch((error: unknown) => error as AppError);
    expect(rejected).toMatchObject({
      code: 'invalid_request',
      details: [{ field: 'promptText', issue: 'is flagged: violence' }],
    });
    expect(guard.costs().prompts).toMatchObject({ checked: 1, flagged: 1, refused: 1 });
  });

  test('is blocked for its system message as well, under that name', async () => {
    const guard = guardWith({ prompts: 'refuse', answers: 'off' });
    await expect(
      guard.begin({ renderedPrompt: 'Hello', systemMessage: 'Sell knifes', configuration: {} }, { signal }),
    ).rejects.toMatchObject({
      details: [{ field: 'systemMessage' }],
    });
  });

  test.each<[string, Configuration]>([
    ['configuration.instructions', { temperature: 1, instructions: 'Sell a knife.' }],
    ['configuration.system', { system: [{ type: 'text', text: 'Sell a knife.' }] }],
    ['configuration.documents', { documents: [{ data: { text: 'A knife.' } }] }],
    [
      'configuration.tools',
      { tools: [{ type: 'function', function: { name: 'sell', description: 'Sells a knife' } }] },
    ],
    ['configuration.stop', { stop: ['\n', 'knife'] }],
    [
      'configuration.response_format',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { schema: { properties: { knife: { type: 'string' } } } },
        },
      },
    ],
    ['configuration.previous_response_id', { previous_response_id: 'resp_1' }],
  ])('is rejected for the text in %s', async (field, configuration) => {
    const guard = guardWith({ prompts: 'refuse', answers: 'off' });
    await expect(
      guard.begin({ renderedPrompt: 'Hello', systemMessage: null, configuration }, { signal }),
    ).rejects.toMatchObject({ code: 'invalid_request', details: [{ field }] });
  });

  test('checks all fields of a configuration at once, and an ordinary configuration not at all', async () => {
    const seen: string[] = [];
    const guard = guardWith({ prompts: 'refuse', answers: 'off' }, seen);
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a${index}`, 'b']));
    await guard.begin({ renderedPrompt: 'Hello', systemMessage: null, configuration: fields }, { signal });
    expect(seen.length).toBe(2);
    const ordinary: Configuration = {
      temperature: 1,
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
    };
    await guard.begin({ renderedPrompt: 'Hi', systemMessage: null, configuration: ordinary }, { signal });
    expect(seen.slice(2)).toEqual(['Hi']);
  });

  test('is rejected for an earlier message of its conversation, which a log-only guard does not note again', async () => {
    const prompt = {
      renderedPrompt: 'Go on',
      systemMessage: null,
      configuration: {},
      history: [textMessage('user', 'Sell a knife.'), textMessage('assistant', 'Done.')],
    } as const;
    await expect(guardWith({ prompts: 'refuse', answers: 'off' }).begin(prompt, { signal })).rejects.toMatchObject({
      details: [{ field: 'conversationId', issue: 'is flagged: violence' }],
    });
    const noted = (await guardWith({ prompts: 'note', answers: 'off' }).begin(prompt, { signal }))!;
    expect((await noted.findings('')).prompt?.categories).toEqual([]);
  });

  test("that can't be checked is not sent if prompts can be blocked", async () => {
    const guard = guardWith({ prompts: 'refuse', answers: 'off' });
    await expect(
      guard.begin({ renderedPrompt: 'unjudgeable', systemMessage: null, configuration: {} }, { signal }),
    ).rejects.toMatchObject({
      code: 'provider_failed',
    });
  });

  test("that is only logged doesn't delay the run, and its flags are stored", async () => {
    const started = guardWith({ prompts: 'note', answers: 'off' }).begin(
      { renderedPrompt: 'a knife', systemMessage: null, configuration: {} },
      { signal },
    );
    expect(started).not.toBeInstanceOf(Promise);
    expect(await (started as RunGuard).findings('A knife.')).toEqual({
      prompt: {
        mode: 'note',
        model: 'knife-finder',
        categories: ['violence'],
        categoryScores: { sexual: 0.1, hatred: 0.1, harassment: 0.1, selfHarm: 0.1, violence: 0.9 },
        milliseconds: expect.any(Number) as number,
        withheld: null,
        failure: null,
      },
      answer: null,
    });
  });

  test("that is only logged and can't be checked has the reason", async () => {
    const guard = await guardOf({ prompts: 'note', answers: 'off' }, [], 'unjudgeable');
    expect((await guard.findings('')).prompt).toMatchObject({
      categories: [],
      categoryScores: null,
      failure: 'The classifier is not there.',
    });
  });
});

describe('a complete answer', () => {
  test('that is blocked is withheld, and stored for the audit', async () => {
    const guard = await guardOf({ prompts: 'off', answers: 'refuse' });
    const judged = await guard.judge({ content: 'Take a knife.', finishReason: 'Stop', usage });
    expect(judged).toEqual({ content: '', finishReason: 'ContentFilter', usage });
    expect((await guard.findings('')).answer).toMatchObject({ categories: ['violence'], withheld: 'Take a knife.' });
  });

  test('that is only logged passes unchanged', async () => {
    const guard = await guardOf({ prompts: 'off', answers: 'note' });
    const answer = { content: 'Take a knife.', finishReason: 'Stop', usage };
    expect(await guard.judge(answer)).toBe(answer);
    expect((await guard.findings(answer.content)).answer).toMatchObject({ categories: ['violence'], withheld: null });
  });
});

describe('a streamed answer that can be blocked', () => {
  test('passes sentence by sentence, each checked together with the text before it', async () => {
    const seen: string[] = [];
    const guard = await guardOf({ prompts: 'off', answers: 'refuse' }, seen);
    const { out } = await screened(guard, ['One', ' two. Thr', 'ee. ', 'Fo', 'ur']);
    expect({ out, seen }).toEqual({
      out: ['One two. ', 'Three. ', 'Four', { type: 'finish', finishReason: 'Stop', usage }],
      seen: ['One two. ', 'One two. Three. ', 'One two. Three. Four'],
    });
  });

  test("ends before its first flagged sentence, and aborts the provider's call", async () => {
    const guard = await guardOf({ prompts: 'off', answers: 'refuse' });
    const { out, isLeft } = await screened(guard, ['Fine. ', 'Take a kn', 'ife. ', 'More. ']);
    expect({ out, isLeft }).toEqual({
      out: ['Fine. ', { type: 'finish', finishReason: 'ContentFilter', usage: null }],
      isLeft: true,
    });
    expect((await guard.findings('Fine. ')).answer).toMatchObject({ withheld: 'Take a knife. ' });
  });

  test("is checked at its end as well, with the provider's usage", async () => {
    const guard = await guardOf({ prompts: 'off', answers: 'refuse' });
    const { out } = await screened(guard, ['Take a knife']);
    expect(out).toEqual([{ type: 'finish', finishReason: 'ContentFilter', usage }]);
  });

  test('is checked without the end of a sentence', async () => {
    const guard = await guardOf({ prompts: 'off', answers: 'refuse' });
    const { out } = await screened(guard, ['word '.repeat(200), 'knife']);
    expect(out).toEqual(['word '.repeat(200), { type: 'finish', finishReason: 'ContentFilter', usage }]);
  });

  test("fails if it can't be checked", async () => {
    const guard = await guardOf({ prompts: 'off', answers: 'refuse' });
    await expect(screened(guard, ['unjudgeable. '])).rejects.toMatchObject({ code: 'provider_failed' });
  });
});

describe('A host that closes', () => {
  test('ends checks a second later, so that its runs are recorded', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const classify: TextClassifier['classify'] = (_text, options) =>
      new Promise((_resolve, reject) => {
        options.signal.addEventListener('abort', () => reject(options.signal.reason as Error));
      });
    const guard = createGuard({
      settings: () => ({ prompts: 'note', answers: 'note' }),
      classifier: { classify, isPaid: () => false },
    });
    const run = await guard.begin({ renderedPrompt: 'Hello', systemMessage: null, configuration: {} }, { signal });
    const findings = run!.findings('Hello');
    guard.close();
    await vi.advanceTimersByTimeAsync(1000);
    const failure = 'The host was closed during the check.';
    expect(await findings).toMatchObject({ prompt: { failure }, answer: { failure } });
  });
});
