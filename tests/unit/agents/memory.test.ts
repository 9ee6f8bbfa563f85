import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimateTokens, recall } from '../../../electron/agents/memory.ts';
import type { Turn } from '../../../electron/storage/agents/turn-store.ts';

const turn = fc.record({ question: fc.string({ minLength: 1 }), answer: fc.string({ minLength: 1 }) });

function messagesOf(turns: readonly Turn[]): unknown[] {
  return turns.flatMap(({ question, answer }) => [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ]);
}

test('what is remembered is the newest turns without a gap, oldest first, and fits beside message and answer', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 30 }),
      fc.integer({ min: 1, max: 2000 }),
      fc.string(),
      fc.option(fc.string()),
      (newestFirst, contextTokens, message, systemMessage) => {
        const { messages, turns } = recall(newestFirst, { contextTokens, systemMessage, message });
        expect(messages).toEqual(messagesOf(newestFirst.slice(0, turns).toReversed()));
        const fill = (count: number) =>
          [systemMessage ?? '', message, ...newestFirst.slice(0, count).flatMap((one) => [one.question, one.answer])]
            .map(estimateTokens)
            .reduce((sum, tokens) => sum + tokens + 8, 0);
        if (turns > 0) expect(fill(turns)).toBeLessThanOrEqual(contextTokens * 0.75);
        // Nothing was forgotten that would have fitted.
        if (turns < newestFirst.length) expect(fill(turns + 1)).toBeGreaterThan(contextTokens * 0.75);
      },
    ),
  );
});

test('a message that fills the context by itself leaves no memory', () => {
  const newestFirst = [{ question: 'one', answer: 'two' }];
  const limits = { contextTokens: 100, systemMessage: null, message: '1'.repeat(1000) };
  expect(recall(newestFirst, limits)).toEqual({ messages: [], turns: 0 });
});

test('at most 200 turns are remembered, and no turn is read that is not needed', () => {
  let read = 0;
  function* endless(): Generator<Turn> {
    for (;;) {
      read += 1;
      yield { question: 'a', answer: 'b' };
    }
  }
  expect(recall(endless(), { contextTokens: 1_000_000, systemMessage: null, message: '' }).turns).toBe(200);
  expect(read).toBe(201);
});

test('a model that does not tell its context is taken for one of 4096 tokens', () => {
  const newestFirst = Array.from({ length: 10 }, () => ({ question: '1'.repeat(500), answer: '2'.repeat(500) }));
  const recalled = (contextTokens: number | null) =>
    recall(newestFirst, { contextTokens, systemMessage: null, message: '' }).turns;
  expect([recalled(null), recalled(4096), recalled(8192)]).toEqual([3, 3, 6]);
});

test('digits, signs and other scripts count more than letters, as tokenizers have it', () => {
  expect([estimateTokens(''), estimateTokens('hello you'), estimateTokens('123456'), estimateTokens('你好')]).toEqual([
    0, 3, 6, 2,
  ]);
});
