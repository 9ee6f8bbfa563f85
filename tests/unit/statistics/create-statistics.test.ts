import { expect, test } from 'vitest';
import { createStatistics } from '../../../electron/comparisons/create-statistics.ts';
import { createSeededRandom } from '../../../shared/seeded-random.ts';

test('computes the report of eight variants of 10,000 rows in a thread, without blocking', async () => {
  const random = createSeededRandom(2).next;
  const cells = (scale: number) => Float64Array.from({ length: 10_000 }, () => random() * scale);
  const variants = Array.from({ length: 8 }, (_, index) => ({
    name: `V${index}`,
    passes: cells(1).map(Math.round),
    scores: cells(1),
    costs: cells(0.001),
    latencies: cells(3000),
  }));
  const statistics = createStatistics();
  let longestPause = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longestPause = Math.max(longestPause, performance.now() - last);
    last = performance.now();
  }, 5);
  try {
    const { signal } = new AbortController();
    const reports = await statistics.compareVariants(
      { variants, baseline: 0, repeats: 1, rowsPlanned: null },
      { signal },
    );
    expect(reports.map(({ rows }) => rows)).toEqual(Array.from({ length: 8 }, () => 10_000));
    expect(reports[7]!.differences!.passRate.rows).toBe(10_000);
    expect(longestPause).toBeLessThan(200);
  } finally {
    clearInterval(timer);
    await statistics.close();
  }
});
