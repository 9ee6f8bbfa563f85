/**
 * The inner loops of the embedding model in WebAssembly. Matrices are of bytes: weights of eight bits with one scale for each block
 * of 64 or 128, and what is multiplied with them of eight bits with one scale and one least value for each block. Everything else is
 * of 32-bit floats, never rounded in a way that is left to the processor, so that all machines give the same bits.
 */
import { assemble } from './assembler.ts';
import { gather, ofAttention, packKeys } from './attention-kernels.ts';
import type { ByteProducts } from './byte-products.ts';
import {
  narrowBlocks,
  ofNarrowBlocks,
  ofWideBlocks,
  project,
  quantise,
  queryBlocks,
  wideBlocks,
} from './projection-kernels.ts';
import { activate, normalise } from './row-kernels.ts';
import { type CompiledModule, maximumPages, type SharedMemory, webAssembly } from './web-assembly.ts';

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

/** See the definitions for what each does; addresses are in bytes of the memory. */
export interface Kernels {
  readonly quantiseNarrow: Quantise;
  readonly projectNarrow: Project;
  readonly quantiseWide: Quantise;
  readonly projectWide: Project;
  readonly activate: Kernel<[values: number, vectors: number]>;
  readonly normalise: Kernel<[values: number, others: number, scale: number, bias: number, rows: number]>;
  readonly quantiseQueries: Quantise;
  readonly packKeys: Kernel<[keys: number, packed: number, groups: number]>;
  readonly score: Project;
  readonly gather: Kernel<[scores: number, values: number, out: number, tiles: number, tokens: number, stride: number]>;
}

/** Compiles the kernels for this processor, once for all threads. */
export function compileKernels(products: ByteProducts): CompiledModule {
  const narrow = [quantise(products, narrowBlocks), project(products, ofNarrowBlocks)];
  const wide = [quantise(products, wideBlocks), project(products, ofWideBlocks)];
  const ofHeads = [quantise(products, queryBlocks), packKeys, project(products, ofAttention), gather];
  return new webAssembly.Module(assemble([...narrow, ...wide, activate, normalise, ...ofHeads], maximumPages));
}

/** The kernels over a memory that threads may share. */
export function bindKernels(module: CompiledModule, memory: SharedMemory): Kernels {
  const { exports } = new webAssembly.Instance(module, { host: { memory } });
  return exports as unknown as Kernels;
}
