import { expect, test } from 'vitest';
import { blockRuns, forEachBit, RunSet } from '../../../electron/audit/index/bits.ts';

function runsOf(set: RunSet, blocks: number): number[] {
  const runs: number[] = [];
  for (let block = 0; block < blocks; block += 1) {
    forEachBit(set.bits(block), (position) => runs.push(block * blockRuns + position));
  }
  return runs;
}

test('finds every run in its block, with few runs or very many', () => {
  const few = [1, 31, 32, blockRuns - 1, 3 * blockRuns + 7];
  const many = Array.from({ length: 5000 }, (_, index) => 5 * blockRuns + index * 3);
  const set = new RunSet([...many, ...few].toReversed());
  expect(runsOf(set, 7)).toEqual([...few, ...many]);
  expect(Array.from({ length: 7 }, (_, block) => set.hasBlock(block))).toEqual([
    true,
    false,
    false,
    true,
    false,
    true,
    false,
  ]);
});

test('a rare word in all blocks of a million runs needs next to no memory outside the heap, which would cause full collections', () => {
  const before = process.memoryUsage().arrayBuffers;
  const set = new RunSet(Array.from({ length: 600 }, (_, index) => index * 1690));
  const taken = process.memoryUsage().arrayBuffers - before;
  expect(set.hasBlock(61)).toBe(true);
  expect(taken).toBeLessThan(4096);
});
