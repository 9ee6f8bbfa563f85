/** One example: dense numbers, hashed ones, and its weight. */
export interface Example {
  readonly dense: Float32Array;
  readonly buckets: Int32Array;
  readonly values: Float32Array;
}

export interface LabelledExample {
  readonly example: Example;
  readonly isPositive: boolean;
  /** A higher cost makes a mistake on this example more expensive. */
  readonly weight: number;
}

export interface LinearModel {
  readonly dense: Float64Array;
  readonly ngrams: Float64Array;
  readonly bias: number;
}

export interface TrainingOptions {
  readonly buckets: number;
  readonly seed: number;
  readonly passes: number;
}

/** Small, fast and the same on every machine (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function shuffle<Item>(items: Item[], random: () => number): void {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [items[index], items[other]] = [items[other]!, items[index]!];
  }
}

export function scoreOf(model: LinearModel, { dense, buckets, values }: Example): number {
  let sum = model.bias;
  for (let index = 0; index < dense.length; index += 1) sum += model.dense[index]! * dense[index]!;
  for (let index = 0; index < buckets.length; index += 1) sum += model.ngrams[buckets[index]!]! * values[index]!;
  return sum;
}

/** Moves one dual variable to its optimum on (0, cost): a few Newton steps, with bisection if they leave the interval. */
function optimalDual(start: number, cost: number, margin: number, squares: number): number {
  let low = 0;
  let high = cost;
  let dual = start;
  for (let step = 0; step < 30; step += 1) {
    const slope = squares * (dual - start) + margin + Math.log(dual / (cost - dual));
    if (Math.abs(slope) < 1e-6) break;
    if (slope > 0) high = dual;
    else low = dual;
    const next = dual - slope / (squares + cost / (dual * (cost - dual)));
    dual = next > low && next < high ? next : (low + high) / 2;
  }
  return dual;
}

/**
 * Logistic regression with L2 regularization by dual coordinate descent (Yu, Huang and Lin, 2011). The same examples, order and
 * seed give the same model to the bit. The bias is a separate feature that is always 1.
 */
export function trainLogisticRegression(examples: readonly LabelledExample[], options: TrainingOptions): LinearModel {
  const dense = new Float64Array(examples[0]?.example.dense.length ?? 0);
  const ngrams = new Float64Array(options.buckets);
  let bias = 0;
  const duals = examples.map(({ weight }) => weight * 1e-3);
  const squares = examples.map(({ example }) => {
    let sum = 1;
    for (const value of example.dense) sum += value * value;
    for (const value of example.values) sum += value * value;
    return sum;
  });
  const move = ({ example }: LabelledExample, amount: number) => {
    bias += amount;
    for (let index = 0; index < dense.length; index += 1) dense[index]! += amount * example.dense[index]!;
    for (let index = 0; index < example.buckets.length; index += 1) {
      ngrams[example.buckets[index]!]! += amount * example.values[index]!;
    }
  };
  for (const [index, labelled] of examples.entries()) move(labelled, (labelled.isPositive ? 1 : -1) * duals[index]!);

  const random = randomNumbers(options.seed);
  const order = examples.map((_, index) => index);
  for (let pass = 0; pass < options.passes; pass += 1) {
    shuffle(order, random);
    for (const index of order) {
      const labelled = examples[index]!;
      const sign = labelled.isPositive ? 1 : -1;
      const margin = sign * scoreOf({ dense, ngrams, bias }, labelled.example);
      const dual = optimalDual(duals[index]!, labelled.weight, margin, squares[index]!);
      const change = dual - duals[index]!;
      if (Math.abs(change) < 1e-12) continue;
      duals[index] = dual;
      move(labelled, sign * change);
    }
  }
  return { dense, ngrams, bias };
}
