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
  advance,
  floatBytes,
  headSize,
  lanes,
  polynomial,
  roundingFloat,
  tileKeys,
  tileRows,
  times,
  tokenSize,
  upTo,
  variables,
  vectorBytes,
} from './kernel-parts.ts';

/** Bytes from a token's queries to the next one's; its keys and values lie between. */
const tokenStride = 3 * tokenSize * floatBytes;

/** `turnKeys(from, to, tiles, stride)`: the keys of a head, four times `tiles` rows, as columns that are `stride` bytes apart. */
export const turnKeys: FunctionDefinition = {
  name: 'turnKeys',
  parameters: 4,
  build(scope, [from, to, tiles, stride]) {
    const [tile, target] = [scope.integer(), scope.integer()];
    const rows = variables(lanes, scope.vector);
    const [low, high] = [variables(2, scope.vector), variables(2, scope.vector)];
    const turned = (part: number): Code => [
      ...rows.flatMap((row, index) => set(row, vector.load(get(from!), index * tokenStride + part * vectorBytes))),
      ...upTo(2).flatMap((half) => [
        ...set(low[half]!, vector.shuffle(get(rows[2 * half]!), get(rows[2 * half + 1]!), [0, 4, 1, 5])),
        ...set(high[half]!, vector.shuffle(get(rows[2 * half]!), get(rows[2 * half + 1]!), [2, 6, 3, 7])),
      ]),
      ...[low, low, high, high].flatMap(([first, second], column) => [
        ...vector.store(
          get(target),
          vector.shuffle(get(first!), get(second!), column % 2 === 0 ? [0, 1, 4, 5] : [2, 3, 6, 7]),
        ),
        ...advance(target, get(stride!)),
      ]),
    ];
    return repeat(tile, get(tiles!), [
      ...set(target, get(to!)),
      ...upTo(headSize / lanes).flatMap(turned),
      ...advance(to!, integer.constant(vectorBytes)),
      ...advance(from!, integer.constant(lanes * tokenStride)),
    ]);
  },
};

/** Of numbers between -1/2 and 1/2 times the logarithm of 2, exact to about 3e-6. */
const powerCoefficients = [1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1];

/**
 * Sets `value` to e to its power. Beyond -80 and 80 it stays as it is there: what a token weighs is divided by the sum of all,
 * which is finite that way.
 */
function power(value: Local, whole: Local): Code {
  const wholeFloat = floats.subtract(get(whole), floats.constant(roundingFloat));
  const rest = floats.multiplyAdd(wholeFloat, floats.constant(-Math.LN2), get(value));
  const scale = integers.add(integers.shiftLeft(get(whole), 23), integers.constant(0x3f800000));
  return [
    ...set(value, floats.least(floats.greatest(get(value), floats.constant(-80)), floats.constant(80))),
    ...set(whole, floats.multiplyAdd(get(value), floats.constant(Math.LOG2E), floats.constant(roundingFloat))),
    ...set(value, rest),
    ...set(value, floats.multiply(polynomial(get(value), powerCoefficients), scale)),
  ];
}

/**
 * `score(queries, keys, scores, tiles, keyTiles)`: how much each token of a head attends to each other, as e to the power of the
 * product of query and key.
 */
export const score: FunctionDefinition = {
  name: 'score',
  parameters: 5,
  build(scope, [queries, keys, scores, tiles, keyTiles]) {
    const [tile, keyTile, column, target, stride] = [
      scope.integer(),
      scope.integer(),
      scope.integer(),
      scope.integer(),
      scope.integer(),
    ];
    const perTile = tileKeys / lanes;
    const sums = variables(tileRows * perTile, scope.vector);
    const parts = variables(perTile, scope.vector);
    const query = scope.vector();
    const whole = scope.vector();
    const multiplied = upTo(headSize).flatMap((place) => [
      ...parts.flatMap((part, index) => set(part, vector.load(get(column), index * vectorBytes))),
      ...advance(column, get(stride)),
      ...upTo(tileRows).flatMap((row) => [
        ...set(query, vector.loadSplat(get(queries!), row * tokenStride + place * floatBytes)),
        ...parts.flatMap((part, index) => {
          const sum = sums[row * perTile + index]!;
          return set(sum, floats.multiplyAdd(get(query), get(part), get(sum)));
        }),
      ]),
    ]);
    const stored = upTo(tileRows).flatMap((row) => [
      ...upTo(perTile).flatMap((index) =>
        vector.store(get(target), get(sums[row * perTile + index]!), index * vectorBytes),
      ),
      ...advance(target, get(stride)),
    ]);
    const body = [
      ...set(column, integer.add(get(keys!), times(get(keyTile), tileKeys * floatBytes))),
      ...sums.flatMap((sum) => set(sum, vector.zero)),
      ...multiplied,
      ...sums.flatMap((sum) => power(sum, whole)),
      ...set(target, integer.add(get(scores!), times(get(keyTile), tileKeys * floatBytes))),
      ...stored,
    ];
    return [
      ...set(stride, times(get(keyTiles!), tileKeys * floatBytes)),
      ...repeat(tile, get(tiles!), [
        ...repeat(keyTile, get(keyTiles!), body),
        ...advance(queries!, integer.constant(tileRows * tokenStride)),
        ...advance(scores!, times(get(stride), tileRows)),
      ]),
    ];
  },
};

/** `gather(scores, values, out, tiles, tokens, stride)`: the mean of a head's values for each token, weighed by the scores. */
export const gather: FunctionDefinition = {
  name: 'gather',
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
        const place = (step * perStep + (index % perStep)) * vectorBytes;
        const mean = floats.multiply(get(sum), get(totals[row]!));
        return vector.store(get(out!), mean, row * tokenSize * floatBytes + place);
      }),
    ];
    return repeat(tile, get(tiles!), [
      ...upTo(headSize / lanes / perStep).flatMap(columns),
      ...advance(scores!, times(get(stride!), tileRows)),
      ...advance(out!, integer.constant(tileRows * tokenSize * floatBytes)),
    ]);
  },
};
