import { describe, expect, test } from 'vitest';
import { createChunker } from '../../../../electron/knowledge/chunking/chunker.ts';
import type { ChunkedPassage } from '../../../../electron/knowledge/chunking/passage-builder.ts';
import { estimateEmbeddingTokens } from '../../../../electron/knowledge/chunking/token-estimate.ts';
import { fc } from '../../../support/fast-check.ts';

interface Piece {
  readonly kind: 'heading' | 'prose' | 'lines';
  readonly text: string;
  readonly level?: number;
}

/** Cuts the pieces as one text, a blank line between them. */
function cut(pieces: readonly Piece[]): { text: string; passages: readonly ChunkedPassage[]; texts: string[] } {
  const chunker = createChunker();
  let text = '';
  for (const { kind, text: own, level = 1 } of pieces) {
    if (text !== '') text += '\n\n';
    if (kind === 'heading') chunker.heading(level, text.length, own);
    else chunker.block(kind, text.length, own);
    text += own;
  }
  const passages = chunker.finish();
  return { text, passages, texts: passages.map(({ start, end }) => text.slice(start, end)) };
}

const sentence = (name: string, length = 90) =>
  `The ${name} ${'weighs a little more than that '.repeat(9)}`.slice(0, length - 1).trimEnd() + '.';
const prose = (name: string, sentences: number): Piece => ({
  kind: 'prose',
  text: Array.from({ length: sentences }, (_, index) => sentence(`${name}${index}`)).join(' '),
});

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.stringMatching(/^[a-z]{1,12}[.,]?$/),
  fc.constantFrom('試金石は金が', 'Прүф', '👩‍👩‍👧', '\u0301', 'ß', '12345678901234', 'ก็', '한국어'),
  fc.integer({ min: 300, max: 3000 }).map((length) => 'x'.repeat(length)),
);
const paragraph = fc
  .array(fc.tuple(word, fc.constantFrom(' ', '. ', '\n', '  ')), { maxLength: 300 })
  .map((words) => words.flat().join('').toWellFormed());
const piece: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constantFrom('heading', 'prose', 'prose', 'lines', 'lines'),
  text: paragraph,
  level: fc.integer({ min: 0, max: 6 }),
});

/** Where the text is in no passage although it is not empty there. */
function gapsOf(text: string, passages: readonly ChunkedPassage[]): string[] {
  const gaps: string[] = [];
  let reached = 0;
  for (const { start, end } of [...passages, { start: text.length, end: text.length }]) {
    if (start > reached && text.slice(reached, start).trim() !== '') gaps.push(text.slice(reached, start));
    reached = Math.max(reached, end);
  }
  return gaps;
}

describe('chunking', () => {
  test('covers any text without gaps, within the limits, and splits no character', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const { text, passages, texts } = cut(pieces);
        expect(gapsOf(text, passages)).toEqual([]);
        for (const [index, { start, end, heading, tokens }] of passages.entries()) {
          const own = texts[index]!;
          const before = passages[index - 1];
          expect(own.trim()).not.toBe('');
          expect(own.isWellFormed()).toBe(true);
          expect(own.length).toBeLessThanOrEqual(950);
          expect(tokens + estimateEmbeddingTokens(heading ?? '')).toBeLessThanOrEqual(256);
          expect((heading ?? '').length).toBeLessThanOrEqual(200);
          if (before) expect(start > before.start && end > before.end).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('ends passages between sentences, near 700 characters, and repeats about 15 % of each', () => {
    const { passages, texts } = cut([prose('ring', 100)]);
    const middle = texts.slice(0, -1);
    expect(middle.every((own) => own.startsWith('The ring') && own.endsWith('.'))).toBe(true);
    expect(middle.every((own) => own.length > 500 && own.length <= 700)).toBe(true);
    const repeated = passages.slice(1).map(({ start }, index) => passages[index]!.end - start);
    const share = repeated.reduce((sum, own) => sum + own, 0) / passages.at(-1)!.end;
    expect(share).toBeGreaterThan(0.08);
    expect(share).toBeLessThan(0.2);
  });

  test('never splits a word, not even of a sentence that is longer than a passage', () => {
    const words = Array.from({ length: 900 }, (_, index) => `word${index}`);
    const { texts } = cut([{ kind: 'prose', text: words.join(' ') }]);
    expect(texts.length).toBeGreaterThan(5);
    const known = new Set(words);
    expect(texts.flatMap((own) => own.split(' ')).filter((own) => !known.has(own))).toEqual([]);
  });

  test('splits a script without spaces between words, within the limit of the embeddings', () => {
    const { passages, texts } = cut([{ kind: 'prose', text: '試金石は金がその上に筋を残す暗い石です'.repeat(60) }]);
    expect(passages.every(({ tokens }) => tokens <= 190)).toBe(true);
    const words = new Set(
      [...new Intl.Segmenter('ja', { granularity: 'word' }).segment(texts[0]!)].map(({ segment }) => segment),
    );
    expect(words.has('試金石')).toBe(true);
    expect(texts.length).toBeGreaterThanOrEqual(5);
  });

  test('splits one word of a million letters, as a last resort', () => {
    const { text, passages } = cut([{ kind: 'prose', text: 'x'.repeat(1_000_000) }]);
    expect(gapsOf(text, passages)).toEqual([]);
    expect(passages.length).toBeGreaterThan(1000);
  });

  test('keeps a table whole that would have to be split, and ends the passage before it', () => {
    const table = Array.from(
      { length: 12 },
      (_, index) => `name: stone ${index}; colour: dark; weight: ${index} g`,
    ).join('\n');
    const { texts } = cut([prose('stone', 6), { kind: 'lines', text: table }, prose('after', 6)]);
    expect(texts.some((own) => own.includes(table))).toBe(true);
  });

  test('splits a long table between its rows', () => {
    const rows = Array.from({ length: 80 }, (_, index) => `name: stone ${index}; colour: dark; weight: ${index} g`);
    const { texts } = cut([{ kind: 'lines', text: rows.join('\n') }]);
    const known = new Set(rows);
    expect(texts.flatMap((own) => own.split('\n')).filter((row) => !known.has(row))).toEqual([]);
    expect(texts.length).toBeGreaterThan(3);
  });

  test('starts a passage at a heading, and lists the headings above each', () => {
    const { texts, passages } = cut([
      { kind: 'heading', level: 1, text: 'Stones' },
      prose('stone', 8),
      { kind: 'heading', level: 2, text: 'Gold' },
      prose('gold', 8),
      { kind: 'heading', level: 1, text: 'Paper' },
      prose('paper', 8),
    ]);
    expect(texts.map((own) => own.split('\n')[0])).toEqual(['Stones', 'Gold', 'Paper']);
    expect(passages.map(({ heading }) => heading)).toEqual(['Stones', 'Stones › Gold', 'Paper']);
  });

  test('combines short sections, and never leaves a heading at the end of a passage', () => {
    const sections = Array.from({ length: 30 }, (_, index): Piece[] => [
      { kind: 'heading', level: 2, text: `Stone ${index}` },
      prose(`stone`, 1),
    ]).flat();
    const { texts } = cut(sections);
    expect(texts.length).toBeLessThan(18);
    expect(texts.filter((own) => /Stone \d+$/.test(own))).toEqual([]);
  });

  test('leaves no short end alone', () => {
    const { texts } = cut([{ kind: 'prose', text: `${prose('ring', 7).text} ${sentence('end', 60)}` }]);
    expect(texts.map((own) => own.length > 200)).toEqual([true]);
  });
});
