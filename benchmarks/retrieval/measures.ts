/** Quality of a list of passages for a query; grades by passage, missing ones are not relevant. */
export type Grades = ReadonlyMap<string, number>;

const gain = (grade: number, rank: number) => (2 ** grade - 1) / Math.log2(rank + 2);

/** Normalised discounted cumulative gain of the first `depth` hits, 0 to 1. */
export function ndcg(ranked: readonly string[], grades: Grades, depth: number): number {
  const found = ranked.slice(0, depth).reduce((sum, id, rank) => sum + gain(grades.get(id) ?? 0, rank), 0);
  const best = [...grades.values()]
    .toSorted((one, other) => other - one)
    .slice(0, depth)
    .reduce((sum, grade, rank) => sum + gain(grade, rank), 0);
  return best === 0 ? 0 : found / best;
}

/** Share of the relevant passages among the first `depth`. */
export function recall(ranked: readonly string[], grades: Grades, depth: number): number {
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([id]) => id);
  if (relevant.length === 0) return 0;
  const first = new Set(ranked.slice(0, depth));
  return relevant.filter((id) => first.has(id)).length / relevant.length;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
