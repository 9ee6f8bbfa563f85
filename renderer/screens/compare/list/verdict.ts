import type { ComparisonReport } from '../../../../shared/contract/comparison-results.ts';

/** The difference that matters most: the best variant, or else the first that is worse, or that cannot be told apart. */
export function verdictOf({ variants }: Pick<ComparisonReport, 'variants'>): string | null {
  const differences = variants.flatMap(({ difference }) => difference ?? []);
  const better = differences
    .filter(({ verdict }) => verdict === 'better')
    .toSorted((one, other) => other.estimate - one.estimate);
  const worse = differences.find(({ verdict }) => verdict === 'worse');
  return (better[0] ?? worse ?? differences[0])?.sentence ?? null;
}
