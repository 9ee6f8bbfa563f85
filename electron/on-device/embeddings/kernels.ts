/**
 * The inner loops of the embedding model in WebAssembly. Matrices are of bytes: weights of eight bits with one scale for each block
 * of 64, and what is multiplied with them of eight bits with one scale and one least value for each block. Everything else is
 * of 32-bit floats, never rounded in a way that is left to the processor, so that all machines give the same bits.
 */
import { assemble } from './assembler.ts';
import { gather, score, turnKeys } from './attention-kernels.ts';
import type { ByteProducts } from './byte-products.ts';
import { project, quantise } from './projection-kernels.ts';
import { activate, normalise } from './row-kernels.ts';
import { type CompiledModule, maximumPages, type SharedMemory, webAssembly } from './web-assembly.ts';

type Kernel<Parameters extends readonly number[]> = (...parameters: Parameters) => void;

/** See the definitions for what each does; addresses are in bytes of the memory. */
export interface Kernels {
  readonly quantise: Kernel<[values: number, bytes: number, ranges: number, blocks: number]>;
  readonly project: Kernel<
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
  readonly activate: Kernel<[values: number, vectors: number]>;
  readonly normalise: Kernel<[values: number, others: number, scale: number, bias: number, rows: number]>;
  readonly turnKeys: Kernel<[from: number, to: number, tiles: number, stride: number]>;
  readonly score: Kernel<[queries: number, keys: number, scores: number, tiles: number, keyTiles: number]>;
  readonly gather: Kernel<[scores: number, values: number, out: number, tiles: number, tokens: number, stride: number]>;
}

/** Compiles the kernels for this processor, once for all threads. */
export function compileKernels(products: ByteProducts): CompiledModule {
  return new webAssembly.Module(
    assemble([quantise(products), project(products), activate, normalise, turnKeys, score, gather], maximumPages),
  );
}

/** The kernels over a memory that threads may share. */
export function bindKernels(module: CompiledModule, memory: SharedMemory): Kernels {
  const { exports } = new webAssembly.Instance(module, { host: { memory } });
  return exports as unknown as Kernels;
}
