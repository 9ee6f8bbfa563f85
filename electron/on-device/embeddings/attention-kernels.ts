import {
  type Code,
  floats,
  type FunctionDefinition,
  get,
  integer,
  integers,
  type Local,
  repeat,
  set,
  vector,
} from './assembler.ts';
import {
  acrossLanes,
  advance,
  floatBytes,
  groupSize,
  headSize,
  lanes,
  polynomial,
  roundingFloat,
  tileRows,
  times,
  tokenSize,
  tokenStride,
  upTo,
  variables,
  vectorBytes,
  weightBlockBytes,
} from './kernel-parts.ts';
import type { ProjectionKind } from './matmul-kernels.ts';

/** Adding this to a float leaves its nearest integer in the lowest bits. As an integer, the sum is larger by this. */
const roundingBits = new Int32Array(Float32Array.of(roundingFloat).buffer)[0]!;

/**
 * `packKeys(keys, packed, groups)`: the keys of a head, of eight times `groups` tokens, as a matrix with one block of bytes per
 * token, in the format that `weights.ts` writes.
 */
export const packKeys: FunctionDefinition = {
  name: 'packKeys',
  parameters: 3,
  build(scope, [keys, packed, groups]) {
    const group = scope.integer();
    const values = variables(headSize / lanes, scope.vector);
    const [max, scale, sum] = [scope.vector(), scope.vector(), scope.vector()];
    const rounded = (value: Local) =>
      integers.subtract(
        floats.multiplyAdd(get(value), get(scale), floats.constant(roundingFloat)),
        integers.constant(roundingBits),
      );
    const sixteen = ([first, second, third, fourth]: readonly Local[]) =>
      integers.narrowToSignedBytes(
        integers.narrow(get(first!), get(second!)),
        integers.narrow(get(third!), get(fourth!)),
      );
    const perVector = vectorBytes / lanes;
    const factors = (part: number, token: number) => groupSize * headSize + (part * groupSize + token) * floatBytes;
    const packOne = (token: number): Code => [
      ...set(max, floats.constant(1e-30)),
      ...values.flatMap((value, index) => [
        ...set(value, vector.load(get(keys!), token * tokenStride + index * vectorBytes)),
        ...set(max, floats.max(get(max), floats.absolute(get(value)))),
      ]),
      ...acrossLanes(max, floats.max),
      ...set(scale, floats.divide(floats.constant(127), get(max))),
      ...set(sum, vector.zero),
      ...values.flatMap((value) => [...set(value, rounded(value)), ...set(sum, integers.add(get(sum), get(value)))]),
      ...acrossLanes(sum, integers.add),
      ...set(max, floats.multiply(get(max), floats.constant(1 / 127))),
      ...vector.storeLane(get(packed!), get(max), factors(0, token)),
      ...vector.storeLane(get(packed!), floats.multiply(get(max), floats.fromIntegers(get(sum))), factors(1, token)),
      ...vector.storeLane(get(packed!), integers.shiftLeft(get(sum), 7), factors(2, token)),
      ...upTo(headSize / vectorBytes).flatMap((part) => [
        ...set(scale, sixteen(values.slice(part * perVector, (part + 1) * perVector))),
        ...upTo(perVector).flatMap((lane) =>
          vector.storeLane(get(packed!), get(scale), ((part * perVector + lane) * groupSize + token) * lanes, lane),
        ),
      ]),
    ];
    return repeat(group, get(groups!), [
      ...upTo(groupSize).flatMap(packOne),
      ...advance(keys!, integer.constant(groupSize * tokenStride)),
      ...advance(packed!, integer.constant(weightBlockBytes(headSize))),
    ]);
  },
};

/** Coefficients of 2 to the power of numbers between -1/2 and 1/2, exact to about 3e-6. */
const powerCoefficients = [5, 4, 3, 2, 1, 0].map((exponent) =>
  upTo(exponent).reduce((product, index) => (product * Math.LN2) / (index + 1), 1),
);

/** Sets `value` to 2 to its power, clamped to -115 and 115. Weights are divided by their sum, which stays finite with these limits. */
function power(value: Local, whole: Local): Code {
  const rest = floats.subtract(get(value), floats.subtract(get(whole), floats.constant(roundingFloat)));
  const scale = integers.add(integers.shiftLeft(get(whole), 23), integers.constant(0x3f800000));
  return [
    ...set(value, floats.min(floats.max(get(value), floats.constant(-115)), floats.constant(115))),
    ...set(whole, floats.add(get(value), floats.constant(roundingFloat))),
    ...set(value, rest),
    ...set(value, floats.multiply(polynomial(get(value), powerCoefficients), scale)),
  ];
}

/**
 * How much each token of a head attends to each other: `score(queries, ranges, keys, zeros, scores, rows, groups, 1)` computes 2 to
 * the power of the products of queries and keys.
 */
export const ofAttention: ProjectionKind = { name: 'score', size: headSize, finish: power };

/** `weightedSum(scores, values, out, tiles, tokens, stride)`: the mean of a head's values for each token, weighted by the scores. */
export const weightedSum: FunctionDefinition = {
  name: 'weightedSum',
  parameters: 6,
  build(scope, [scores, values, out, tiles, tokens, stride]) {
    const [tile, token, at] = [scope.integer(), scope.integer(), scope.integer()];
    const rows = variables(tileRows, scope.integer);
    const perStep = 2;
    const sums = variables(tileRows * perStep, scope.vector);
    const parts = variables(perStep, scope.vector);
    const totals = variables(tileRows, scope.vector);
    const weight = scope.vector();
    const isFirst = (step: number) => step === 0;
    const columns = (step: number): Code => [
      ...rows.flatMap((row, index) =>
        set(row, index === 0 ? get(scores!) : integer.add(get(rows[index - 1]!), get(stride!))),
      ),
      ...set(at, get(values!)),
      ...sums.flatMap((sum) => set(sum, vector.zero)),
      ...(isFirst(step) ? totals.flatMap((total) => set(total, vector.zero)) : []),
      ...repeat(token, get(tokens!), [
        ...parts.flatMap((part, index) => set(part, vector.load(get(at), (step * perStep + index) * vectorBytes))),
        ...advance(at, integer.constant(tokenStride)),
        ...rows.flatMap((row, line) => [
          ...set(weight, vector.loadSplat(get(row))),
          ...advance(row, integer.constant(floatBytes)),
          ...(isFirst(step) ? set(totals[line]!, floats.add(get(totals[line]!), get(weight))) : []),
          ...parts.flatMap((part, index) => {
            const sum = sums[line * perStep + index]!;
            return set(sum, floats.multiplyAdd(get(weight), get(part), get(sum)));
          }),
        ]),
      ]),
      ...(isFirst(step) ? totals.flatMap((total) => set(total, floats.divide(floats.constant(1), get(total)))) : []),
      ...sums.flatMap((sum, index) => {
        const row = Math.floor(index / perStep);
        const offset = (step * perStep + (index % perStep)) * vectorBytes;
        const mean = floats.multiply(get(sum), get(totals[row]!));
        return vector.store(get(out!), mean, row * tokenSize * floatBytes + offset);
      }),
    ];
    return repeat(tile, get(tiles!), [
      ...upTo(headSize / lanes / perStep).flatMap(columns),
      ...advance(scores!, times(get(stride!), tileRows)),
      ...advance(out!, integer.constant(tileRows * tokenSize * floatBytes)),
    ]);
  },
};
