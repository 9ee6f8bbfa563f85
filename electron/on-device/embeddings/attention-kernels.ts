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

/** `score(queries, keys, scores, tiles, keyTiles)`: how much each token of a head attends to each other. */
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
    const multiplied = upTo(headSize).flatMap((place) => [
      ...parts.flatMap((part, index) => set(part, vector.load(get(column), index * vectorBytes))),
      ...advance(column, get(stride)),
      ...upTo(tileRows).flatMap((row) => [
        ...set(query, vector.loadSplat(get(queries!), row * tokenStride + place * floatBytes)),
        ...parts.flatMap((part, index) => {
          const sum = sums[row * perTile + index]!;
          return set(sum, floats.add(get(sum), floats.multiply(get(query), get(part))));
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

/** e to the power of a number from -87 to 0, exact to about 2e-7. */
function power(value: Local, whole: Local): Code {
  const wholeFloat = floats.subtract(get(whole), floats.constant(roundingFloat));
  const lessWhole = (part: number) =>
    set(value, floats.subtract(get(value), floats.multiply(wholeFloat, floats.constant(part))));
  const coefficients = [1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1];
  const scale = integers.add(integers.shiftLeft(get(whole), 23), integers.constant(0x3f800000));
  return [
    ...set(value, floats.greatest(get(value), floats.constant(-87))),
    ...set(whole, floats.add(floats.multiply(get(value), floats.constant(Math.LOG2E)), floats.constant(roundingFloat))),
    // The logarithm of 2 in two parts, the first of which has few enough bits to be subtracted without an error.
    ...lessWhole(0.693359375),
    ...lessWhole(-2.1219444e-4),
    ...set(value, floats.multiply(polynomial(get(value), coefficients), scale)),
  ];
}

/**
 * `weigh(scores, mask, rows, vectors)`: the scores of each row as weights whose sum is one. `mask` is added to a row beforehand.
 */
export const weigh: FunctionDefinition = {
  name: 'weigh',
  parameters: 4,
  build(scope, [scores, mask, rows, vectors]) {
    const [row, index, at, masked] = [scope.integer(), scope.integer(), scope.integer(), scope.integer()];
    const [greatest, sum, value, whole] = [scope.vector(), scope.vector(), scope.vector(), scope.vector()];
    const overRow = (body: Code): Code => [
      ...set(at, get(scores!)),
      ...set(masked, get(mask!)),
      ...repeat(index, get(vectors!), [
        ...body,
        ...advance(at, integer.constant(vectorBytes)),
        ...advance(masked, integer.constant(vectorBytes)),
      ]),
    ];
    return repeat(row, get(rows!), [
      ...set(greatest, floats.constant(-1e30)),
      ...overRow([
        ...set(value, floats.add(vector.load(get(at)), vector.load(get(masked)))),
        ...set(greatest, floats.greatest(get(greatest), get(value))),
        ...vector.store(get(at), get(value)),
      ]),
      ...acrossLanes(greatest, floats.greatest),
      ...set(sum, vector.zero),
      ...overRow([
        ...set(value, floats.subtract(vector.load(get(at)), get(greatest))),
        ...power(value, whole),
        ...set(sum, floats.add(get(sum), get(value))),
        ...vector.store(get(at), get(value)),
      ]),
      ...acrossLanes(sum, floats.add),
      ...set(sum, floats.divide(floats.constant(1), get(sum))),
      ...overRow(vector.store(get(at), floats.multiply(vector.load(get(at)), get(sum)))),
      ...advance(scores!, times(get(vectors!), vectorBytes)),
    ]);
  },
};

/** `gather(weights, values, out, tiles, tokens, stride)`: the values of a head, weighed for each token. */
export const gather: FunctionDefinition = {
  name: 'gather',
  parameters: 6,
  build(scope, [weights, values, out, tiles, tokens, stride]) {
    const [tile, token, at] = [scope.integer(), scope.integer(), scope.integer()];
    const rows = variables(tileRows, scope.integer);
    const perStep = 2;
    const sums = variables(tileRows * perStep, scope.vector);
    const parts = variables(perStep, scope.vector);
    const weight = scope.vector();
    const columns = (step: number): Code => [
      ...rows.flatMap((row, index) =>
        set(row, index === 0 ? get(weights!) : integer.add(get(rows[index - 1]!), get(stride!))),
      ),
      ...set(at, get(values!)),
      ...sums.flatMap((sum) => set(sum, vector.zero)),
      ...repeat(token, get(tokens!), [
        ...parts.flatMap((part, index) => set(part, vector.load(get(at), (step * perStep + index) * vectorBytes))),
        ...advance(at, integer.constant(tokenStride)),
        ...rows.flatMap((row, line) => [
          ...set(weight, vector.loadSplat(get(row))),
          ...advance(row, integer.constant(floatBytes)),
          ...parts.flatMap((part, index) => {
            const sum = sums[line * perStep + index]!;
            return set(sum, floats.add(get(sum), floats.multiply(get(weight), get(part))));
          }),
        ]),
      ]),
      ...sums.flatMap((sum, index) => {
        const row = Math.floor(index / perStep);
        const place = (step * perStep + (index % perStep)) * vectorBytes;
        return vector.store(get(out!), get(sum), row * tokenSize * floatBytes + place);
      }),
    ];
    return repeat(tile, get(tiles!), [
      ...upTo(headSize / lanes / perStep).flatMap(columns),
      ...advance(weights!, times(get(stride!), tileRows)),
      ...advance(out!, integer.constant(tileRows * tokenSize * floatBytes)),
    ]);
  },
};
