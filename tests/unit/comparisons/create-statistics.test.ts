import { expect, test } from 'vitest';
import { createStatistics } from '../../../electron/comparisons/create-statistics.ts';
import { createSeededRandom } from '../../../shared/seeded-random.ts';

test('computes the report of eight variants of 10,000 rows in a thread', async () => {
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
  // None would run if the report were computed on this thread.
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  try {
    const { signal } = new AbortController();
    const reports = await statistics.compareVariants(
      { variants, baseline: 0, repeats: 1, rowsPlanned: null },
      { signal },
    );
    expect(reports.map(({ rows }) => rows)).toEqual(Array.from({ length: 8 }, () => 10_000));
    expect(reports[7]!.differences!.passRate.rows).toBe(10_000);
    expect(ticks).toBeGreaterThan(3);
  } finally {
    clearInterval(timer);
    await statistics.close();
  }
});
