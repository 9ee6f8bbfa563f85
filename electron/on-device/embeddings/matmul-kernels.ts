import {
  type Code,
  floats,
  type FunctionDefinition,
  type FunctionScope,
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
  blockSizes,
  floatBytes,
  groupSize,
  lanes,
  rangeBytes,
  roundingFloat,
  matmulRows,
  times,
  upTo,
  variables,
  vectorBytes,
  headSize,
  tokenStride,
  weightBlockBytes,
} from './kernel-parts.ts';
import type { ByteProducts } from './byte-products.ts';

const vectorsOfGroup = groupSize / lanes;

/** A kind of multiplication of rows with a matrix. */
export interface ProjectionKind {
  readonly name: string;
  /** Numbers that share a scale. */
  readonly size: number;
  /** An operation on a sum before it is stored; `spare` may be overwritten. */
  readonly finish: (sum: Local, spare: Local) => Code;
}

const unchanged = (): Code => [];
export const ofNarrowBlocks: ProjectionKind = { name: 'matmulNarrow', size: blockSizes.narrow, finish: unchanged };
export const ofWideBlocks: ProjectionKind = { name: 'matmulWide', size: blockSizes.wide, finish: unchanged };

/** Multiplies one block of weights with one block of each row and adds the products to `sums`. */
function addBlock(
  scope: Record<'rows' | 'products' | 'sums' | 'weights' | 'part', readonly Local[]>,
  at: { readonly weights: Local; readonly ranges: Local; readonly rangesOfRow: Local; readonly range: Local },
  bytes: ByteProducts,
  size: number,
): Code {
  const { rows, products, sums, weights, part } = scope;
  const steps = size / lanes;
  const indexOf = (row: number, group: number) => row * vectorsOfGroup + group;
  const multiplied = upTo(steps).flatMap((step) => [
    ...weights.flatMap((weight, group) =>
      set(weight, vector.load(get(at.weights), (step * vectorsOfGroup + group) * vectorBytes)),
    ),
    ...rows.flatMap((row, index) => [
      ...set(part[0]!, vector.loadSplat(get(row), step * lanes)),
      ...weights.flatMap((weight, group) => {
        const product = products[indexOf(index, group)]!;
        return set(product, bytes.add(get(product), get(weight), get(part[0]!)));
      }),
    ]),
  ]);
  const scales = groupSize * size;
  const scaled = rows.flatMap((_, index) => [
    ...set(at.range, index === 0 ? get(at.ranges) : integer.add(get(at.range), get(at.rangesOfRow))),
    ...weights.flatMap((_weight, group) => {
      const sum = sums[indexOf(index, group)]!;
      const scale = vector.load(get(at.weights), scales + group * vectorBytes);
      const weightSum = vector.load(get(at.weights), scales + (vectorsOfGroup + group) * vectorBytes);
      const product = floats.multiply(floats.fromIntegers(get(products[indexOf(index, group)]!)), scale);
      const withMin = floats.multiplyAdd(weightSum, vector.loadSplat(get(at.range), floatBytes), get(sum));
      return set(sum, floats.multiplyAdd(product, vector.loadSplat(get(at.range)), withMin));
    }),
  ]);
  const start = (group: number) =>
    bytes.isSigned ? vector.load(get(at.weights), scales + (2 * vectorsOfGroup + group) * vectorBytes) : vector.zero;
  const started = products.flatMap((product, index) => set(product, start(index % vectorsOfGroup)));
  return [...started, ...multiplied, ...scaled];
}

/**
 * `matmul(bytes, ranges, weights, bias, out, rows, groups, blocks)`: rows of bytes times a matrix, plus the bias, as floats. A row
 * has `blocks` blocks, and there are `groups` times eight outputs. If the number of rows doesn't fit, the last ones are computed
 * twice with the same result.
 */
export function matmul(byteProducts: ByteProducts, { name, size, finish }: ProjectionKind): FunctionDefinition {
  function build(scope: FunctionScope, parameters: readonly Local[]): Code {
    const [bytes, ranges, weights, bias, out, rowCount, groups, blocks] = parameters as [
      Local,
      Local,
      Local,
      Local,
      Local,
      Local,
      Local,
      Local,
    ];
    const [group, tile, block] = [scope.integer(), scope.integer(), scope.integer()];
    const at = {
      weights: scope.integer(),
      ranges: scope.integer(),
      rangesOfRow: scope.integer(),
      range: scope.integer(),
    };
    const first = scope.integer();
    const target = scope.integer();
    const rows = variables(matmulRows, scope.integer);
    const sums = variables(matmulRows * vectorsOfGroup, scope.vector);
    const products = variables(matmulRows * vectorsOfGroup, scope.vector);
    const rowBytes = times(get(blocks), size);
    const outBytes = times(get(groups), groupSize * floatBytes);
    const nextBlock = [
      ...rows.flatMap((row) => advance(row, integer.constant(size))),
      ...advance(at.weights, integer.constant(weightBlockBytes(size))),
      ...advance(at.ranges, integer.constant(rangeBytes)),
    ];
    const lastTile = integer.subtract(get(rowCount), integer.constant(matmulRows));
    const tiles = integer.divide(
      integer.add(get(rowCount), integer.constant(matmulRows - 1)),
      integer.constant(matmulRows),
    );
    const tileStart = [
      ...set(first, integer.min(times(get(tile), matmulRows), lastTile)),
      ...rows.flatMap((row, index) =>
        set(
          row,
          index === 0
            ? integer.add(get(bytes), integer.multiply(get(first), rowBytes))
            : integer.add(get(rows[index - 1]!), rowBytes),
        ),
      ),
      ...set(at.ranges, integer.add(get(ranges), integer.multiply(get(first), get(at.rangesOfRow)))),
      ...set(
        at.weights,
        integer.add(get(weights), integer.multiply(get(group), times(get(blocks), weightBlockBytes(size)))),
      ),
      ...sums.flatMap((sum, index) =>
        set(
          sum,
          vector.load(
            integer.add(get(bias), times(get(group), groupSize * floatBytes)),
            (index % vectorsOfGroup) * vectorBytes,
          ),
        ),
      ),
    ];
    const stored = rows.flatMap((_, row) => [
      ...set(
        target,
        row === 0
          ? integer.add(
              integer.add(get(out), times(get(group), groupSize * floatBytes)),
              integer.multiply(get(first), outBytes),
            )
          : integer.add(get(target), outBytes),
      ),
      ...upTo(vectorsOfGroup).flatMap((part) =>
        vector.store(get(target), get(sums[row * vectorsOfGroup + part]!), part * vectorBytes),
      ),
    ]);
    const used = {
      rows,
      products,
      sums,
      weights: variables(vectorsOfGroup, scope.vector),
      part: variables(1, scope.vector),
    };
    const tileBody = [
      ...tileStart,
      ...repeat(block, get(blocks), [...addBlock(used, at, byteProducts, size), ...nextBlock]),
      ...sums.flatMap((sum) => finish(sum, used.part[0]!)),
      ...stored,
    ];
    return [
      ...set(at.rangesOfRow, times(get(blocks), rangeBytes)),
      ...repeat(group, get(groups), repeat(tile, tiles, tileBody)),
    ];
  }
  return { name, parameters: 8, build };
}

/** Blocks of numbers that are converted to bytes. */
export interface QuantisedKind {
  readonly name: string;
  readonly size: number;
  /** Bytes from one block of floats to the next. */
  readonly stride: number;
}

const inRow = (name: string, size: number): QuantisedKind => ({ name, size, stride: size * floatBytes });
export const narrowBlocks = inRow('quantiseNarrow', blockSizes.narrow);
export const wideBlocks = inRow('quantiseWide', blockSizes.wide);
export const queryBlocks: QuantisedKind = { name: 'quantiseQueries', size: headSize, stride: tokenStride };

/** `quantise(values, bytes, ranges, blocks)`: floats as bytes from 0 to 255, with scale and minimum of each block. */
export const quantise = ({ isSigned }: ByteProducts, { name, size, stride }: QuantisedKind): FunctionDefinition => ({
  name,
  parameters: 4,
  build(scope, [values, bytes, ranges, blocks]) {
    const block = scope.integer();
    const [min, max, scale] = [scope.vector(), scope.vector(), scope.vector()];
    const vectorsOfBlock = size / lanes;
    const value = (index: number) => vector.load(get(values!), index * vectorBytes);
    const extremes = upTo(vectorsOfBlock).flatMap((index) =>
      index === 0
        ? [...set(min, value(0)), ...set(max, value(0))]
        : [...set(min, floats.min(get(min), value(index))), ...set(max, floats.max(get(max), value(index)))],
    );
    const rounded = (index: number) =>
      vector.and(
        floats.add(
          floats.multiply(floats.subtract(value(index), get(min)), get(scale)),
          floats.constant(roundingFloat),
        ),
        integers.constant(0xff),
      );
    const sixteen = (index: number) => {
      const packed = integers.narrowToBytes(
        integers.narrow(rounded(index), rounded(index + 1)),
        integers.narrow(rounded(index + 2), rounded(index + 3)),
      );
      // Flipping the highest bit subtracts 128, for bytes that are read as signed.
      return isSigned ? vector.exclusiveOr(packed, integers.constant(0x80808080 | 0)) : packed;
    };
    return repeat(block, get(blocks!), [
      ...extremes,
      ...acrossLanes(min, floats.min),
      ...acrossLanes(max, floats.max),
      // A block of equal numbers has no range; a tiny value prevents NaN.
      ...set(max, floats.max(floats.subtract(get(max), get(min)), floats.constant(1e-30))),
      ...vector.storeLane(get(ranges!), floats.multiply(get(max), floats.constant(1 / 255))),
      ...vector.storeLane(get(ranges!), get(min), floatBytes),
      ...set(scale, floats.divide(floats.constant(255), get(max))),
      ...upTo(size / vectorBytes).flatMap((part) =>
        vector.store(get(bytes!), sixteen(part * lanes), part * vectorBytes),
      ),
      ...advance(values!, integer.constant(stride)),
      ...advance(bytes!, integer.constant(size)),
      ...advance(ranges!, integer.constant(rangeBytes)),
    ]);
  },
});
