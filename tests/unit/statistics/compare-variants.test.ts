import { describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import { compareVariants, type VariantCells } from '../../../shared/statistics/compare-variants.ts';
import { describeDifference, type Finding } from '../../../shared/statistics/sentences.ts';

type Cell = readonly [pass: number | null, score?: number | null, cost?: number | null, latency?: number | null];

function variant(name: string, cells: readonly Cell[]): VariantCells {
  const column = (index: number) => Float64Array.from(cells, (cell) => cell[index] ?? Number.NaN);
  return { name, passes: column(0), scores: column(1), costs: column(2), latencies: column(3) };
}

function repeated(count: number, cell: Cell): Cell[] {
  return Array.from({ length: count }, () => cell);
}

const end = { baseline: 0, repeats: 1, rowsPlanned: null };

describe('a comparison', () => {
  test('pairs the rows, and says which variant is better', () => {
    const baseline = variant('A', [
      ...repeated(90, [1]),
      ...repeated(4, [1]),
      ...repeated(15, [0]),
      ...repeated(11, [0]),
    ]);
    const better = variant('B', [
      ...repeated(90, [1]),
      ...repeated(4, [0]),
      ...repeated(15, [1]),
      ...repeated(11, [0]),
    ]);
    const [first, second] = compareVariants({ ...end, variants: [baseline, better] });
    expect(first).toMatchObject({ name: 'A', passes: 94, rows: 120, passRate: 94 / 120, differences: null });
    expect(second!.interval![0]).toBeCloseTo(0.804, 4);
    expect(second!.differences!.passRate).toMatchObject({ verdict: 'better', rows: 120, rowsNeeded: null });
    expect(second!.differences!.passRate.sentence).toBe('B is better by 9 points (95 %: 2 to 17), 120 rows');
  });

  test('says how many rows would tell', () => {
    const baseline = variant('A', [...repeated(100, [1]), ...repeated(8, [1]), ...repeated(12, [0])]);
    const similar = variant('B', [...repeated(100, [1]), ...repeated(8, [0]), ...repeated(12, [1])]);
    const { passRate } = compareVariants({ ...end, variants: [baseline, similar] })[1]!.differences!;
    expect(passRate).toMatchObject({ verdict: 'unclear', rowsNeeded: 1175 });
    expect(passRate.sentence).toBe('Cannot tell (95 %: −4 to 11 points), 120 rows: about 1,200 rows would');
  });

  test('leaves out cells that failed or could not be judged, and pairs only the rows that both have', () => {
    const baseline = variant('A', [[1], [null], [0], [1]]);
    const other = variant('B', [[1], [1], [null], [0]]);
    const [first, second] = compareVariants({ ...end, variants: [baseline, other] });
    expect([first!.rows, second!.rows, second!.differences!.passRate.rows]).toEqual([3, 3, 2]);
    expect(second!.passes).toBe(2);
  });

  test('counts a row once, and passes it if most of its repeats pass', () => {
    const cells: Cell[] = [[1], [1], [0], [1], [0], [0], [1], [0], [null]];
    const [report] = compareVariants({ ...end, repeats: 3, variants: [variant('A', cells)] });
    expect(report).toMatchObject({ rows: 3, passes: 1 });
    const [one, two, three] = report!.repeatRates;
    expect(one!.anyPasses.mean).toBeCloseTo((2 / 3 + 1 / 3 + 1 / 2) / 3, 12);
    expect(one!.anyPasses.mean).toBeCloseTo(one!.allPass.mean, 12);
    expect(two!.allPass.mean).toBeCloseTo((1 / 3 + 0 + 0) / 3, 12);
    expect(three!.anyPasses).toMatchObject({ mean: 1, rows: 2 });
  });

  test('repeats of few rows do not make the interval narrower', () => {
    const rows = (repeats: number) =>
      Array.from({ length: 20 }, (_, row) => repeated(repeats, [row < 15 ? 1 : 0])).flat();
    const once = compareVariants({ ...end, variants: [variant('A', rows(1))] })[0]!;
    const often = compareVariants({ ...end, repeats: 10, variants: [variant('A', rows(10))] })[0]!;
    expect(often.interval).toEqual(once.interval);
    expect(often.repeatRates[9]!.allPass.interval![1] - often.repeatRates[9]!.allPass.interval![0]).toBeGreaterThan(
      0.3,
    );
  });

  test('has wider intervals for more variants', () => {
    const baseline = variant('A', [...repeated(80, [1]), ...repeated(20, [0])]);
    const other = variant('B', [...repeated(90, [1]), ...repeated(10, [0])]);
    const width = (count: number) => {
      const variants = [baseline, ...Array.from({ length: count }, () => other)];
      const [low, high] = compareVariants({ ...end, variants })[1]!.differences!.passRate.interval!;
      return high - low;
    };
    expect(width(7) / width(1)).toBeGreaterThan(1.2);
  });

  test('compares costs and latencies, of which less is better', () => {
    const random = createSeededRandom(4).next;
    const cells = (cost: number, latency: number) =>
      Array.from({ length: 50 }, (): Cell => [1, 0.5, cost * (1 + random()), latency * (1 + random())]);
    const [, report] = compareVariants({
      ...end,
      variants: [variant('A', cells(0.002, 900)), variant('B', cells(0.001, 1500))],
    });
    expect(report!.differences!.cost.sentence).toMatch(
      /^B is cheaper by \$0\.0015 a run \(95 %: 0\.001\d to 0\.001\d\), 50 rows$/,
    );
    expect(report!.differences!.latency.sentence).toMatch(
      /^B is slower by 0\.\d s \(95 %: 0\.\d to 1\.\d\), 50 rows$|^B is slower by/,
    );
    expect(report!.differences!.score.sentence).toMatch(/^Cannot tell .*: no difference seen$/);
    expect(report!.cost!.total).toBeGreaterThan(0.05);
    expect(report!.latency!.p95).toBeGreaterThan(report!.latency!.p50);
  });

  test('sees no difference between the same costs in another order of the repeats', () => {
    const costs = (...row: number[]) => [...row, ...row, ...row].map((cost): Cell => [null, null, cost]);
    const variants = [variant('A', costs(0.1, 0.2, 0.3)), variant('B', costs(0.3, 0.2, 0.1))];
    const [, second] = compareVariants({ ...end, repeats: 3, variants });
    const { cost } = second!.differences!;
    expect(cost).toMatchObject({ estimate: 0, interval: [0, 0], verdict: 'unclear', rowsNeeded: null });
    expect(cost.sentence).toContain('no difference seen');
  });

  test('has nothing to say without cells', () => {
    const [first, second] = compareVariants({ ...end, variants: [variant('A', [[null]]), variant('B', [[null]])] });
    expect(first).toMatchObject({ passRate: null, interval: null, score: null, cost: null, latency: null, rows: 0 });
    expect(second!.differences!.passRate.sentence).toBe('Cannot tell: no row has a result of both variants');
    expect(compareVariants({ ...end, variants: [] })).toEqual([]);
  });

  test('finds a difference that is not there in at most 5 of 100 comparisons of eight variants', () => {
    const random = createSeededRandom(8).next;
    let found = 0;
    for (let sample = 0; sample < 200; sample += 1) {
      const variants = Array.from({ length: 8 }, (_, index) =>
        variant(
          `V${index}`,
          Array.from({ length: 60 }, (): Cell => [random() < 0.8 ? 1 : 0]),
        ),
      );
      const reports = compareVariants({ ...end, variants });
      if (reports.some(({ differences }) => differences && differences.passRate.verdict !== 'unclear')) found += 1;
    }
    // 10 of 200 are expected at most; without the correction about 40 would be found.
    expect(found).toBeLessThan(22);
  });
});

describe('the sentence', () => {
  const finding: Finding = {
    measure: 'passRate',
    name: 'B',
    estimate: 0.09,
    interval: [0.02, 0.16],
    verdict: 'better',
    rows: 120,
    rowsPlanned: null,
    rowsNeeded: null,
  };

  test.each([
    [{}, 'B is better by 9 points (95 %: 2 to 16), 120 rows'],
    [{ rowsPlanned: 240 }, 'So far: B is better by 9 points (95 %: 2 to 16), 120 of 240 rows'],
    [
      { estimate: -0.09, interval: [-0.16, -0.02], verdict: 'worse' },
      'B is worse by 9 points (95 %: 2 to 16), 120 rows',
    ],
    [{ estimate: 0.08, interval: [0.004, 0.156] }, 'B is better by 8.0 points (95 %: 0.4 to 15.6), 120 rows'],
    [
      { estimate: 0.03, interval: [-0.04, 0.1], verdict: 'unclear', rowsNeeded: 258 },
      'Cannot tell (95 %: −4 to 10 points), 120 rows: about 260 rows would',
    ],
    [
      { estimate: 0.03, interval: [-0.04, 0.1], verdict: 'unclear', rowsNeeded: 258, rowsPlanned: 300 },
      'So far: Cannot tell (95 %: −4 to 10 points), 120 of 300 rows: about 260 rows would',
    ],
    [
      { estimate: 0.0001, interval: [-0.04, 0.04], verdict: 'unclear', rowsNeeded: 1e7 },
      'Cannot tell (95 %: −4 to 4 points), 120 rows: more than 100,000 rows would',
    ],
    [
      { measure: 'latency', estimate: -310, interval: [-390, -230], verdict: 'better' },
      'B is faster by 310 ms (95 %: 230 to 390), 120 rows',
    ],
    [
      { measure: 'latency', estimate: 3100, interval: [2300, 3900], verdict: 'worse' },
      'B is slower by 3.1 s (95 %: 2.3 to 3.9), 120 rows',
    ],
    [
      { measure: 'cost', estimate: -0.0004, interval: [-0.0005, -0.0003], verdict: 'better' },
      'B is cheaper by $0.0004 a run (95 %: 0.0003 to 0.0005), 120 rows',
    ],
    [
      { measure: 'cost', estimate: 0.0005, interval: [0.0005, 0.0005], verdict: 'worse' },
      'B is more expensive by $0.00050 a run (95 %: 0.00050 to 0.00050), 120 rows',
    ],
    [
      { measure: 'cost', estimate: 0, interval: [-0.00012, 0.00012], verdict: 'unclear' },
      'Cannot tell (95 %: −$0.0001 to $0.0001 a run), 120 rows: no difference seen',
    ],
    [{ interval: null, verdict: 'unclear', rows: 1 }, 'Cannot tell from 1 row'],
    [
      { measure: 'score', estimate: 0.12, interval: [0.05, 0.19] },
      'B is better by 0.12 (95 %: 0.05 to 0.19), 120 rows',
    ],
  ] as const)('for %j', (changes, sentence) => {
    expect(describeDifference({ ...finding, ...(changes as Partial<Finding>) })).toBe(sentence);
  });
});
