/// <reference lib="esnext.float16" />
import {
  blockSizes,
  floatBytes,
  groupSize,
  headSize,
  lanes,
  matmulRows,
  rangeBytes,
  tileRows,
  tokenSize,
  weightBlockBytes,
} from './kernel-parts.ts';
import { bindKernels, type Kernels } from './kernels.ts';
import { type EmbeddingWeights, type Layer, maximumTokens, type Projection } from './weights.ts';
import type { CompiledModule } from './assembler.ts';

const hiddenSize = 4 * tokenSize;
const rowFloats = maximumTokens * tokenSize;

/** Bytes of each buffer of a workspace, in memory order. */
const bufferBytes = {
  values: rowFloats * floatBytes,
  others: rowFloats * floatBytes,
  attention: 3 * rowFloats * floatBytes,
  hidden: 4 * rowFloats * floatBytes,
  bytes: 4 * rowFloats,
  ranges: ((4 * rowFloats) / blockSizes.narrow) * rangeBytes,
  queries: headSize * maximumTokens,
  queryRanges: maximumTokens * rangeBytes,
  keys: (maximumTokens / groupSize) * weightBlockBytes(headSize),
  /** Stays zero: scores have no bias. */
  zeros: maximumTokens * floatBytes,
  scores: maximumTokens * maximumTokens * floatBytes,
};

/** The address of each buffer of a workspace. */
type Addresses = Record<keyof typeof bufferBytes, number>;

/** Bytes of one thread's workspace. */
export const workspaceBytes = Object.values(bufferBytes).reduce((sum, bytes) => sum + bytes, 0);

export interface EmbeddingNetwork {
  /** The vector of length 1 for a text of at most `maximumTokens` tokens. The same tokens give the same bits everywhere. */
  embed(tokens: readonly number[]): Float32Array<ArrayBuffer>;
}

function addressesFrom(start: number): Addresses {
  let next = start;
  const entries = Object.entries(bufferBytes).map(([name, bytes]) => [name, (next += bytes) - bytes]);
  return Object.fromEntries(entries) as Addresses;
}

/** The attention of the tokens to each other, head by head, into `others`. */
function attend(kernels: Kernels, at: Addresses, tokens: number, rows: number): void {
  const tiles = rows / tileRows;
  const groups = Math.ceil(tokens / groupSize);
  const stride = groups * groupSize * floatBytes;
  for (let head = 0; head < tokenSize; head += headSize) {
    const queries = at.attention + head * floatBytes;
    const keys = queries + tokenSize * floatBytes;
    const headValues = keys + tokenSize * floatBytes;
    kernels.quantiseQueries(queries, at.queries, at.queryRanges, rows);
    kernels.packKeys(keys, at.keys, groups);
    kernels.score(at.queries, at.queryRanges, at.keys, at.zeros, at.scores, rows, groups, 1);
    kernels.weightedSum(at.scores, headValues, at.others + head * floatBytes, tiles, tokens, stride);
  }
}

/** Runs the model in one of the memory's workspaces, for one thread. */
export function createEmbeddingNetwork(
  weights: EmbeddingWeights,
  module: CompiledModule,
  workspace: number,
): EmbeddingNetwork {
  const { buffer } = weights.memory;
  const kernels = bindKernels(module, weights.memory);
  const at = addressesFrom(weights.workspaces + workspace * workspaceBytes);
  const words = new Float16Array(buffer, weights.words, weights.wordCount * tokenSize);
  const values = new Float32Array(buffer, at.values, rowFloats);

  const quantise = { narrow: kernels.quantiseNarrow, wide: kernels.quantiseWide };
  const multiply = { narrow: kernels.matmulNarrow, wide: kernels.matmulWide };

  function project(from: number, rows: number, { width, weights: address, bias, ...size }: Projection, to: number) {
    const blocks = size.inputs / blockSizes[width];
    quantise[width](from, at.bytes, at.ranges, rows * blocks);
    multiply[width](at.bytes, at.ranges, address, bias, to, rows, size.outputs / groupSize, blocks);
  }

  function applyLayer(layer: Layer, tokens: number, rows: number): void {
    const { attentionNormalisation, normalisation } = layer;
    project(at.values, rows, layer.attention, at.attention);
    attend(kernels, at, tokens, rows);
    project(at.others, rows, layer.attentionOut, at.hidden);
    kernels.normalise(at.values, at.hidden, attentionNormalisation.scale, attentionNormalisation.bias, rows);
    project(at.values, rows, layer.up, at.hidden);
    kernels.gelu(at.hidden, (rows * hiddenSize) / lanes);
    project(at.hidden, rows, layer.down, at.others);
    kernels.normalise(at.values, at.others, normalisation.scale, normalisation.bias, rows);
  }

  return {
    embed(tokens) {
      const rows = Math.ceil(Math.max(tokens.length, matmulRows) / tileRows) * tileRows;
      for (const [index, token] of tokens.entries()) {
        values.set(words.subarray(token * tokenSize, (token + 1) * tokenSize), index * tokenSize);
      }
      values.fill(0, tokens.length * tokenSize, rows * tokenSize);
      kernels.normalise(at.values, weights.positions, weights.normalisation.scale, weights.normalisation.bias, rows);
      for (const layer of weights.layers) applyLayer(layer, tokens.length, rows);
      return mean(values, tokens.length);
    },
  };
}

/** The mean of the tokens' vectors, normalised to length 1. */
function mean(values: Float32Array, tokens: number): Float32Array<ArrayBuffer> {
  const sums = new Float64Array(tokenSize);
  for (let token = 0; token < tokens; token += 1) {
    for (let index = 0; index < tokenSize; index += 1) sums[index]! += values[token * tokenSize + index]!;
  }
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(sums, (sum) => sum / length);
}
