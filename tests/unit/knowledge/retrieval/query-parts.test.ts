import { describe, expect, test } from 'vitest';
import { questionSentences, queryParts } from '../../../../electron/knowledge/retrieval/query-parts.ts';

describe('the parts of a question', () => {
  test.each([
    [
      'How do I store champagne? Why does my sencha taste harsh?',
      ['How do I store champagne?', 'Why does my sencha taste harsh?'],
    ],
    [
      'How long is the trial period, and who signs the contract?',
      ['How long is the trial period', 'who signs the contract?'],
    ],
    [
      'Which stone shows gold or do I have to ask a jeweller?',
      ['Which stone shows gold', 'do I have to ask a jeweller?'],
    ],
    [
      '金はどこにありますか。 Где лежит ключ от дома? Wer hat den Schlüssel dazu?',
      ['Где лежит ключ от дома?', 'Wer hat den Schlüssel dazu?'],
    ],
  ])('are the separate questions of %s', (text, parts) => {
    expect(queryParts(text)).toEqual(parts);
  });

  test.each([
    'What is the difference between gold and silver?',
    'Do cats and dogs drink?',
    'Summarise the report about the pump.',
    'You are a careful lawyer. Which risks are in the contract?',
    '',
  ])('are empty for a single question: %s', (text) => {
    expect(queryParts(text)).toEqual([]);
  });

  test('are only those that make sense without the others', () => {
    expect(queryParts('How many days of leave are carried over, and when must they be used?')).toEqual([
      'How many days of leave are carried over',
    ]);
    expect(queryParts('Where is the key? Who? Which door does the key open?')).toEqual([
      'Where is the key?',
      'Which door does the key open?',
    ]);
  });

  test('are three at most', () => {
    const text = ['gold', 'paper', 'stone', 'iron'].map((name) => `How is ${name} cleaned properly?`).join(' ');
    expect(queryParts(text)).toHaveLength(3);
  });

  test('are those at the start and at the end of a very long text', () => {
    const text = `How is gold cleaned properly? ${'？'.repeat(4_000_000)} How is paper cleaned properly?`;
    const requested = questionSentences(text);
    expect(requested.length).toBeLessThan(100_000);
    expect(requested[0]).toBe('How is gold cleaned properly?');
    expect(requested.at(-1)).toBe('How is paper cleaned properly?');
  });

  test.each([
    ['quotes after a full stop', `。${'"'.repeat(4_000_000)}`],
    ['two-byte quotes after a full stop', `。${'”'.repeat(4_000_000)}`],
    ['quotes', '"'.repeat(1_000_000)],
    ['quotes after dots', '.""""'.repeat(200_000)],
    ['spaces', `a${' '.repeat(1_000_000)}b?`],
    ['line ends', `${'\n'.repeat(1_000_000)}?`],
    ['conjunctions', ' and or but'.repeat(90_000)],
  ])('are found in one pass over a hostile text of %s', (_, text) => {
    expect(queryParts(text)).toEqual([]);
  });
});
