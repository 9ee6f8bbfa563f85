import { wordsOf } from '../../electron/moderation/features.ts';
import type { LabelledText } from './corpus.ts';
import { randomNumbers, shuffle } from './logistic-regression.ts';

export const foldCount = 5;

/** Texts that share this much of their three-word sequences are near-duplicates (Jaccard index). */
const duplicateShare = 0.3;

function shingles(text: string): Set<string> {
  const words = wordsOf(text);
  const runs = new Set<string>();
  for (let index = 0; index + 3 <= Math.max(3, words.length); index += 1)
    runs.add(words.slice(index, index + 3).join(' '));
  return runs;
}

function isNearDuplicate(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  const [small, large] = first.size < second.size ? [first, second] : [second, first];
  if (small.size < duplicateShare * large.size) return false;
  let shared = 0;
  for (const run of small) if (large.has(run)) shared += 1;
  return shared > duplicateShare * (small.size + large.size - shared);
}

/** The group number of every text. Near-duplicates, also through a third text, are in the same group. */
export function groupNearDuplicates(texts: readonly LabelledText[]): number[] {
  const runs = texts.map(({ text }) => shingles(text));
  const parents = texts.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parents[root] !== root) root = parents[root]!;
    return root;
  };
  for (let index = 0; index < texts.length; index += 1) {
    for (let other = 0; other < index; other += 1) {
      if (isNearDuplicate(runs[index]!, runs[other]!)) parents[rootOf(index)] = rootOf(other);
    }
  }
  return texts.map((_, index) => rootOf(index));
}

/** The fold of every text, 0 to 4, drawn by groups of near-duplicates. */
export function drawFolds(texts: readonly LabelledText[], seed: number): number[] {
  const groups = groupNearDuplicates(texts);
  const shuffled = [...new Set(groups)];
  shuffle(shuffled, randomNumbers(seed));
  const folds = new Map(shuffled.map((group, index) => [group, index % foldCount]));
  return groups.map((group) => folds.get(group)!);
}
