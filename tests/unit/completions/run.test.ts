import { textMessage } from '../../../shared/contract/messages.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunGuard } from '../../../electron/completions/guard.ts';
import { Run, type RunPart, type RunPlan } from '../../../electron/completions/run.ts';
import type {
  ModelCallOptions,
  ModelPart,
  Provider,
  TakeText,
  TextPart,
} from '../../../electron/providers/provider.ts';
import type { RunOutcome } from '../../../electron/storage/run-rows.ts';
import type { RunStore } from '../../../electron/storage/storage.ts';
import { AppError } from '../../../shared/app-error.ts';

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const finish: ModelPart = { type: 'finish', finishReason: 'Stop', usage };

/** A store that keeps outcomes until the test looks at them. */
let outcomes: RunOutcome[];
let releasedCredits: number;

const runs = {
  finish: async (_: string, outcome: RunOutcome) => {
    outcomes.push(outcome);
  },
} as Partial<RunStore> as RunStore;

beforeEach(() => {
  outcomes = [];
  releasedCredits = 0;
});

function planWith(provider: Partial<Provider>): RunPlan {
  return {
    runId: 'run',
    messageId: 'message',
    conversationId: 'conversation',
    servedBy: 'OpenAi/model',
    warnings: [],
    ground: null,
    provider: provider as Provider,
    request: { model: 'model', systemMessage: null, messages: [], configuration: {} },
    cost: () => ({ amount: 0.25, pricesFrom: '2026-11-22' }),
    charge: ({ credits }) => {
      if (credits === 0) releasedCredits += 1;
    },
    runs,
    guard: null,
    exchanges: null,
    noteFailure: () => undefined,
  };
}

function streaming(parts: (options: ModelCallOptions) => AsyncIterable<ModelPart>): RunPlan {
  return planWith({ stream: (_, options) => parts(options) });
}

async function readAll(run: Run): Promise<RunPart[]> {
  const parts: RunPart[] = [];
  for await (const part of run.stream()) parts.push(part);
  return parts;
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

describe('a streamed run', () => {
  it('yields its start, its text and its end, and is recorded as completed before the end is seen', async () => {
    const run = new Run(
      streaming(async function* () {
        yield { type: 'reasoning-delta', text: 'think' };
        yield { type: 'text-delta', text: 'Hel' };
        yield { type: 'text-delta', text: 'lo' };
        yield finish;
      }),
      new AbortController().signal,
    );
    const seenBeforeEnd: number[] = [];
    for await (const part of run.stream()) if (part.type === 'end') seenBeforeEnd.push(outcomes.length);
    expect({ seenBeforeEnd, releasedCredits, outcome: outcomes[0] }).toEqual({
      seenBeforeEnd: [1],
      releasedCredits: 0,
      outcome: expect.objectContaining({
        status: 'Completed',
        content: 'Hello',
        reasoning: 'think',
        finishReason: 'Stop',
        usage,
        cost: { amount: 0.25, pricesFrom: '2026-11-22' },
        credits: 1,
        error: null,
      }) as unknown,
    });
  });

  it('is cancelled with the sent text when its caller disconnects', async () => {
    const caller = new AbortController();
    const run = new Run(
      streaming(async function* ({ signal }) {
        yield { type: 'text-delta', text: 'partial' };
        await untilAborted(signal);
      }),
      caller.signal,
    );
    const reading = (async () => {
      for await (const part of run.stream()) if (part.type === 'text') queueMicrotask(() => caller.abort());
    })();
    await expect(reading).rejects.toThrow();
    expect(outcomes).toEqual([
      expect.objectContaining({ status: 'Cancelled', finishReason: 'Cancelled', credits: 1, content: 'partial' }),
    ]);
  });

  it('keeps the partial text of a consumer that stops reading, and ends the call', async () => {
    let wasEnded = false;
    const run = new Run(
      streaming(async function* () {
        try {
          yield { type: 'text-delta', text: 'one ' };
          yield { type: 'text-delta', text: 'two' };
          yield finish;
        } finally {
          wasEnded = true;
        }
      }),
      new AbortController().signal,
    );
    for await (const part of run.stream()) if (part.type === 'text') break;
    expect({ wasEnded, outcomes }).toEqual({
      wasEnded: true,
      outcomes: [expect.objectContaining({ status: 'Cancelled', content: 'one ', credits: 1, error: null })],
    });
  });

  it('is failed, with its text and its cost, if the provider fails in the middle', async () => {
    const failure = new AppError('provider_failed', 'The connection was cut.');
    const run = new Run(
      streaming(async function* () {
        yield { type: 'text-delta', text: 'half' };
        throw failure;
      }),
      new AbortController().signal,
    );
    await expect(readAll(run)).rejects.toBe(failure);
    expect(outcomes).toEqual([
      expect.objectContaining({
        status: 'Failed',
        content: 'half',
        finishReason: 'Error',
        credits: 1,
        error: { code: 'provider_failed', message: 'The connection was cut.' },
      }),
    ]);
  });

  it('is truncated, with the text so far, if the provider never ends', async () => {
    let wasEnded = false;
    const run = new Run(
      streaming(async function* () {
        try {
          for (;;) yield { type: 'text-delta', text: 'x'.repeat(1_048_576) };
        } finally {
          wasEnded = true;
        }
      }),
      new AbortController().signal,
    );
    const cut = { code: 'provider_failed', message: expect.stringContaining('was cut off at 16 MB') };
    await expect(readAll(run)).rejects.toMatchObject(cut);
    expect({ wasEnded, characters: outcomes[0]?.content.length, ...outcomes[0] }).toMatchObject({
      wasEnded: true,
      characters: 16 * 1_048_576,
      status: 'Failed',
      credits: 1,
      error: cut,
    });
  });

  describe('whose consumer takes texts while it waits', () => {
    const offering = (offers: (takeText: TakeText) => void | Promise<void>, isGuarded = false) => {
      let isOffered = false;
      const plan = streaming(async function* ({ takeText }) {
        isOffered = takeText !== undefined;
        yield { type: 'reasoning-delta', text: 'think' };
        yield { type: 'text-delta', text: 'Hel' };
        await offers(takeText ?? (() => false));
        yield finish;
      });
      const guard = { screen: (parts: AsyncIterable<ModelPart>) => parts, findings: async () => null };
      return { plan: { ...plan, ...(isGuarded && { guard: guard as never }) }, isOffered: () => isOffered };
    };
    const part = (text: string): TextPart => ({ type: 'text-delta', text });

    it('has them in its content', async () => {
      const taken: unknown[] = [];
      const { plan } = offering((takeText) => {
        taken.push(takeText(part('lo')), takeText({ ...part(' you'), pieces: [' y', 'ou'] }), takeText(part('!')));
      });
      const run = new Run(plan, new AbortController().signal);
      const parts = run.stream((text) => text.text !== '!' && taken.push(text) > 0);
      for await (const _ of parts);
      expect(taken).toEqual([
        { type: 'text', text: 'lo' },
        { type: 'text', text: ' you', pieces: [' y', 'ou'] },
        ...[true, true, false],
      ]);
      expect(outcomes[0]).toMatchObject({ status: 'Completed', content: 'Hello you' });
    });

    it('offers none before its start, after it was stopped and beyond 16 MB', async () => {
      const caller = new AbortController();
      const answers: boolean[] = [];
      const run = new Run(
        streaming(async function* ({ takeText }) {
          answers.push(takeText!(part('early')));
          yield { type: 'text-delta', text: 'x' };
          answers.push(takeText!(part('x'.repeat(16 * 1_048_576))), takeText!(part('y')));
          caller.abort();
          answers.push(takeText!(part('late')));
          yield finish;
        }),
        caller.signal,
      );
      const reading = (async () => {
        for await (const _ of run.stream(() => true));
      })();
      await expect(reading).rejects.toThrow();
      expect(answers).toEqual([false, false, true, false]);
      expect(outcomes[0]).toMatchObject({ status: 'Cancelled', content: 'xy' });
    });

    it('offers none that the guard has not seen', async () => {
      for (const isGuarded of [false, true]) {
        const { plan, isOffered } = offering(() => undefined, isGuarded);
        for await (const _ of new Run(plan, new AbortController().signal).stream(() => true));
        expect(isOffered()).toBe(!isGuarded);
      }
    });
  });

  it('costs nothing if the provider rejects it before its first byte', async () => {
    const refusal = new AppError('provider_key_refused', 'The key was refused.');
    const run = new Run(
      streaming(() => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(refusal) }) })),
      new AbortController().signal,
    );
    await expect(readAll(run)).rejects.toThrow('refused');
    expect({ releasedCredits, credits: outcomes[0]?.credits }).toEqual({ releasedCredits: 1, credits: 0 });
  });

  it('is failed if the provider stops without an end', async () => {
    const run = new Run(
      streaming(async function* () {
        yield { type: 'text-delta', text: 'and then' };
      }),
      new AbortController().signal,
    );
    await expect(readAll(run)).rejects.toThrow('ended its answer before it was complete');
    expect(outcomes).toEqual([expect.objectContaining({ status: 'Failed', content: 'and then' })]);
  });
});

describe('a run without streaming', () => {
  it('is recorded as cancelled when its caller disconnects', async () => {
    const caller = new AbortController();
    const run = new Run(planWith({ generate: (_, { signal }) => untilAborted(signal) }), caller.signal);
    const answer = run.complete();
    caller.abort();
    await expect(answer).rejects.toThrow();
    expect(outcomes).toEqual([expect.objectContaining({ status: 'Cancelled', credits: 0 })]);
  });

  it('never shows the text of an unexpected failure to its caller', async () => {
    const run = new Run(
      planWith({ generate: () => Promise.reject(new TypeError('/home/someone/secret')) }),
      new AbortController().signal,
    );
    await expect(run.complete()).rejects.toThrow();
    expect(outcomes[0]?.error).toEqual({ code: 'internal', message: 'Unexpected error in Touchstone. Try again.' });
  });
});

describe('a run whose guard fails at the end of the answer', () => {
  const failure = new AppError('provider_failed', "The guard couldn't check this text.");
  const guard = {
    judge: () => Promise.reject(failure),
    async *screen(parts: AsyncIterable<ModelPart>) {
      for await (const part of parts) {
        if (part.type === 'finish') throw failure;
        yield part;
      }
    },
    findings: async () => ({ prompt: null, answer: null }),
  } as unknown as RunGuard;

  it.each(['complete', 'stream'] as const)('is recorded with the usage that is billed (%s)', async (way) => {
    const charged: unknown[] = [];
    const plan: RunPlan = {
      ...planWith({
        generate: async () => ({
          content: 'secret',
          reasoning: null,
          finishReason: 'Stop',
          usage,
          rawUsage: { all: 5 },
        }),
        async *stream() {
          yield { type: 'text-delta', text: 'secret' };
          yield { ...finish, rawUsage: { all: 5 } };
        },
      }),
      guard,
      charge: (use) => charged.push(use.usage),
    };
    const run = new Run(plan, new AbortController().signal);
    await expect(way === 'complete' ? run.complete() : readAll(run)).rejects.toBe(failure);
    expect({ outcomes, charged }).toMatchObject({
      outcomes: [{ status: 'Failed', usage, rawUsage: { all: 5 }, cost: { amount: 0.25 } }],
      charged: [usage],
    });
  });
});

describe('a run on dataspaces', () => {
  const request = { model: 'model', systemMessage: null, messages: [], configuration: {} };
  const citation = { index: 1, sourceId: 's', sourceName: 'S', text: 'T', relevance: 1, start: 0, end: 1 };

  it('sends the prompt with its passages, and stores both', async () => {
    const requested: unknown[] = [];
    const plan = planWith({
      generate: async (sent) => {
        requested.push(sent);
        return { content: 'Yes [1]', reasoning: null, finishReason: 'Stop', usage };
      },
    });
    const grounded = { ...request, messages: [textMessage('user', 'T, then the prompt')] };
    const ground = async () => ({
      request: grounded,
      citations: [citation],
      sentPrompt: 'T, then the prompt',
      sentMessages: null,
      messages: grounded.messages,
    });
    const run = new Run({ ...plan, ground }, new AbortController().signal);
    await run.complete();
    expect({ asked: requested, citations: run.citations, outcome: outcomes[0] }).toEqual({
      asked: [grounded],
      citations: [citation],
      outcome: expect.objectContaining({ citations: [citation], sentPrompt: 'T, then the prompt' }),
    });
  });

  it('calls no provider, fails and costs nothing if the search for passages fails', async () => {
    const plan = planWith({ generate: () => Promise.reject(new Error('must not be asked')) });
    const ground = () => Promise.reject(new Error('disk full'));
    const run = new Run({ ...plan, ground }, new AbortController().signal);
    await expect(run.complete()).rejects.toThrow('disk full');
    expect({ releasedCredits, outcome: outcomes[0] }).toEqual({
      releasedCredits: 1,
      outcome: expect.objectContaining({ status: 'Failed', credits: 0, citations: [] }),
    });
  });
});
