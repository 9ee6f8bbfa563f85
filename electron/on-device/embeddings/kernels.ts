import {
  assemble,
  type Code,
  type CompiledModule,
  floats,
  type FunctionDefinition,
  get,
  integer,
  type Local,
  maximumPages,
  repeat,
  set,
  type SharedMemory,
  vector,
  webAssembly,
} from './assembler.ts';
import { acrossLanes, advance, floatBytes, lanes, polynomial, tokenSize, vectorBytes } from './kernel-parts.ts';
import { weightedSum, ofAttention, packKeys } from './attention-kernels.ts';
import type { ByteProducts } from './byte-products.ts';
import {
  narrowBlocks,
  ofNarrowBlocks,
  ofWideBlocks,
  matmul,
  quantise,
  queryBlocks,
  wideBlocks,
} from './matmul-kernels.ts';

/** Beyond this the result is the number itself, or zero, within the error below. */
const straightFrom = 4.25;

/** The difference between the Gaussian error linear unit and the number, or zero, by the distance from zero; exact to about 6e-5. */
const bendCoefficients = [
  3.13966596e-5, -5.01464933e-4, 2.55363545e-3, -2.58750045e-4, -4.15393885e-2, 0.13173794, -5.06123572e-2,
  -0.380269212, 0.497406653, 5.88938356e-5,
];

/** `gelu(values, vectors)`: the Gaussian error linear unit of four times `vectors` floats, in place. */
export const gelu: FunctionDefinition = {
  name: 'gelu',
  parameters: 2,
  build(scope, [values, vectors]) {
    const index = scope.integer();
    const [value, distance] = [scope.vector(), scope.vector()];
    const bent = floats.subtract(floats.max(get(value), vector.zero), polynomial(get(distance), bendCoefficients));
    return repeat(index, get(vectors!), [
      ...set(value, vector.load(get(values!))),
      ...set(distance, floats.min(floats.absolute(get(value)), floats.constant(straightFrom))),
      ...vector.store(get(values!), bent),
      ...advance(values!, integer.constant(vectorBytes)),
    ]);
  },
};

/** `normalise(values, others, scale, bias, rows)`: each row of `values` plus its row of `others`, normalised, in place. */
export const normalise: FunctionDefinition = {
  name: 'normalise',
  parameters: 5,
  build(scope, [values, others, scale, bias, rows]) {
    const [row, index, offset, at] = [scope.integer(), scope.integer(), scope.integer(), scope.integer()];
    const [sum, mean, value, factor] = [scope.vector(), scope.vector(), scope.vector(), scope.vector()];
    const share = floats.constant(1 / tokenSize);
    const rowBytes = integer.constant(tokenSize * floatBytes);
    const overRow = (body: Code): Code => [
      ...set(offset, integer.constant(0)),
      ...repeat(index, integer.constant(tokenSize / lanes), [
        ...set(at, integer.add(get(values!), get(offset))),
        ...body,
        ...advance(offset, integer.constant(vectorBytes)),
      ]),
    ];
    const within = (address: Local) => vector.load(integer.add(get(address), get(offset)));
    const added = overRow([
      ...set(value, floats.add(vector.load(get(at)), within(others!))),
      ...set(sum, floats.add(get(sum), get(value))),
      ...vector.store(get(at), get(value)),
    ]);
    const squared = overRow([
      ...set(value, floats.subtract(vector.load(get(at)), get(mean))),
      ...set(sum, floats.multiplyAdd(get(value), get(value), get(sum))),
      ...vector.store(get(at), get(value)),
    ]);
    const factored = floats.multiply(vector.load(get(at)), get(factor));
    const scaled = overRow(vector.store(get(at), floats.multiplyAdd(factored, within(scale!), within(bias!))));
    const variance = floats.multiplyAdd(get(sum), share, floats.constant(1e-12));
    return repeat(row, get(rows!), [
      ...set(sum, vector.zero),
      ...added,
      ...acrossLanes(sum, floats.add),
      ...set(mean, floats.multiply(get(sum), share)),
      ...set(sum, vector.zero),
      ...squared,
      ...acrossLanes(sum, floats.add),
      ...set(factor, floats.divide(floats.constant(1), floats.squareRoot(variance))),
      ...scaled,
      ...advance(values!, rowBytes),
      ...advance(others!, rowBytes),
    ]);
  },
};

/**
 * The inner loops of the embedding model in WebAssembly. Matrices contain bytes: weights of eight bits with one scale per block of
 * 64 or 128, and inputs of eight bits with one scale and one minimum per block. Everything else is a 32-bit float, never rounded in
 * a way that depends on the processor, so all machines compute the same bits.
 */

type Kernel<Parameters extends readonly number[]> = (...parameters: Parameters) => void;

type Quantise = Kernel<[values: number, bytes: number, ranges: number, blocks: number]>;

type Project = Kernel<
  [
    bytes: number,
    ranges: number,
    weights: number,
    bias: number,
    out: number,
    rows: number,
    groups: number,
    blocks: number,
  ]
>;

/** Addresses are in bytes of the memory. The definitions document each function. */
export interface Kernels {
  readonly quantiseNarrow: Quantise;
  readonly matmulNarrow: Project;
  readonly quantiseWide: Quantise;
  readonly matmulWide: Project;
  readonly gelu: Kernel<[values: number, vectors: number]>;
  readonly normalise: Kernel<[values: number, others: number, scale: number, bias: number, rows: number]>;
  readonly quantiseQueries: Quantise;
  readonly packKeys: Kernel<[keys: number, packed: number, groups: number]>;
  readonly score: Project;
  readonly weightedSum: Kernel<
    [scores: number, values: number, out: number, tiles: number, tokens: number, stride: number]
  >;
}

/** Compiles the kernels for this processor, once for all threads. */
export function compileKernels(products: ByteProducts): CompiledModule {
  const narrow = [quantise(products, narrowBlocks), matmul(products, ofNarrowBlocks)];
  const wide = [quantise(products, wideBlocks), matmul(products, ofWideBlocks)];
  const ofHeads = [quantise(products, queryBlocks), packKeys, matmul(products, ofAttention), weightedSum];
  return new webAssembly.Module(assemble([...narrow, ...wide, gelu, normalise, ...ofHeads], maximumPages));
}

/** The kernels on a memory that threads can share. */
export function bindKernels(module: CompiledModule, memory: SharedMemory): Kernels {
  const { exports } = new webAssembly.Instance(module, { host: { memory } });
  return exports as unknown as Kernels;
}
