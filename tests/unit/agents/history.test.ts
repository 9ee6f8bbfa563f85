import { expect, test } from 'vitest';
import { fitHistory } from '../../../electron/agents/history.ts';
import { estimateTokens } from '../../../electron/common/estimate-tokens.ts';
import { type Message, textMessage } from '../../../shared/contract/messages.ts';
import type { Turn } from '../../../electron/storage/agents/turn-store.ts';
import { fc } from '../../support/fast-check.ts';

const turn = fc.record({ question: fc.string({ minLength: 1 }), answer: fc.string({ minLength: 1 }) });

function messagesOf(turns: readonly Turn[]): unknown[] {
  return turns.flatMap(({ question, answer }) => [textMessage('user', question), textMessage('assistant', answer)]);
}

test('the history is the newest turns without a gap, oldest first, that fit beside message and answer', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { maxLength: 30 }),
      fc.integer({ min: 1, max: 2000 }),
      fc.string(),
      fc.option(fc.string()),
      (newestFirst, contextTokens, message, systemMessage) => {
        const { messages, turns } = fitHistory(newestFirst, { contextTokens, systemMessage, message });
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

test('a message that fills the context leaves no history', () => {
  const newestFirst = [{ question: 'one', answer: 'two' }];
  const limits = { contextTokens: 100, systemMessage: null, message: '1'.repeat(1000) };
  expect(fitHistory(newestFirst, limits)).toEqual({ messages: [], turns: 0 });
});

test('the history has at most 200 turns, and reads no more than needed', () => {
  let read = 0;
  function* endless(): Generator<Turn> {
    for (;;) {
      read += 1;
      yield { question: 'a', answer: 'b' };
    }
  }
  expect(fitHistory(endless(), { contextTokens: 1_000_000, systemMessage: null, message: '' }).turns).toBe(200);
  expect(read).toBe(201);
});

test('assumes 4096 tokens for a model with an unknown context', () => {
  const newestFirst = Array.from({ length: 10 }, () => ({ question: '1'.repeat(500), answer: '2'.repeat(500) }));
  const recalled = (contextTokens: number | null) =>
    fitHistory(newestFirst, { contextTokens, systemMessage: null, message: '' }).turns;
  expect([recalled(null), recalled(4096), recalled(8192)]).toEqual([3, 3, 6]);
});

/** What the tokenizer of TinyLlama, which cuts fine, makes of these texts. */
const counted: [text: string, tokens: number][] = [
  ['Die Straße führt über den Fluss, und müde Gänse schnattern fröhlich. '.repeat(10), 221],
  ['THIS IS SHOUTED TEXT WITH CAPITALS ONLY. '.repeat(10), 181],
  ['1234567890'.repeat(50), 501],
  ['Привет, как дела сегодня вечером? '.repeat(10), 121],
  ['你好，今天天气很好，我们去公园散步吧。'.repeat(10), 311],
  ['これはテストです。東京は大きい都市です。'.repeat(10), 201],
  ['नमस्ते आप कैसे हैं'.repeat(10), 181],
  ['สวัสดีครับ'.repeat(20), 201],
  ['👋🏽😀🎉👨‍👩‍👧'.repeat(20), 601],
];

test.each(counted)('estimates "%s" at no less than its %i tokens', (text, tokens) => {
  expect(estimateTokens(text) + 1).toBeGreaterThanOrEqual(tokens);
  expect(estimateTokens(text)).toBeLessThan(3 * tokens);
});

test('a grounded turn leaves half of the context to passages', () => {
  const newestFirst = Array.from({ length: 10 }, () => ({ question: '1'.repeat(500), answer: '2'.repeat(500) }));
  const limits = { contextTokens: 8192, systemMessage: null, message: '' };
  expect(fitHistory(newestFirst, limits).turns).toBe(6);
  expect(fitHistory(newestFirst, { ...limits, isGrounded: true }).turns).toBe(3);
});

const signed = { type: 'toolCall', id: 'a', name: 'clock', arguments: '{}', providerState: { reasoning: [] } } as const;
const steps: Message[] = [
  { role: 'assistant', content: [signed] },
  { role: 'tool', content: [{ type: 'toolResult', toolCallId: 'a', content: 'Noon', isError: false }] },
];
const called: Turn = { ...exchange('When?', 'At noon.'), steps: () => steps, servedBy: 'A/m' };

function exchange(question: string, answer: string): Turn {
  return { question, answer };
}

test('calls and results come between message and answer, signed ones only for the model that made them', () => {
  const sent = (toolModel: string | undefined) =>
    fitHistory([called], { contextTokens: 4096, systemMessage: null, message: '', toolModel }).messages;
  const [question, answer] = messagesOf([called]);
  expect(sent('A/m')).toEqual([question, ...steps, answer]);
  const { providerState: _, ...plain } = signed;
  expect(sent('A/n')).toEqual([question, { role: 'assistant', content: [plain] }, steps[1], answer]);
  expect(sent(undefined)).toEqual([question, answer]);
});

test('calls that do not fit are left out, and so are those of the turns before', () => {
  const long: Turn = { ...called, steps: () => [textMessage('tool', '1'.repeat(5000))] };
  const read: number[] = [];
  const noted = (one: Turn, index: number): Turn => ({ ...one, steps: () => (read.push(index), one.steps!()) });
  const limits = { contextTokens: 4096, systemMessage: null, message: '', toolModel: 'A/m' };
  const newestFirst = [called, long, called].map(noted);
  const { messages, turns } = fitHistory(newestFirst, limits);
  const [question, answer] = messagesOf([called]);
  expect(messages).toEqual([question, answer, question, answer, question, ...steps, answer]);
  // What is not sent isn't read either.
  expect([turns, read]).toEqual([3, [0, 1]]);
});
