import { expect, test } from 'vitest';
import { blocksOf } from '../../../../renderer/components/long-text.tsx';

test('blocks have whole lines, and together all of them', () => {
  const text = Array.from({ length: 10_000 }, (_, index) => `line ${index}`).join('\n');
  const blocks = blocksOf(text);
  expect(blocks.length).toBeGreaterThan(4);
  expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThanOrEqual(4000);
  expect(blocks.join('\n')).toBe(text);
});

test('cuts only a line that is longer than a block, and no character', () => {
  const line = `a${'😀'.repeat(30_000)}`;
  const blocks = blocksOf(line);
  expect(blocks.join('')).toBe(line);
  expect(blocks.every((block) => block.isWellFormed())).toBe(true);
  expect(blocksOf('')).toEqual(['']);
  expect(blocksOf('\n'.repeat(50_000)).join('\n')).toBe('\n'.repeat(50_000));
});
