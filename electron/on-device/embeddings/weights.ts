/// <reference lib="esnext.float16" />
import { closeSync, openSync, readSync } from 'node:fs';
import {
  blockSizes,
  type BlockWidth,
  floatBytes,
  groupSize,
  headSize,
  lanes,
  tokenSize,
  weightBlockBytes,
} from './kernel-parts.ts';
import { pageBytes, type SharedMemory, webAssembly } from './assembler.ts';

interface Safetensors {
  /** The number of a tensor's elements. Throws for an unknown name, and for other types than 16-bit floats. */
  size(name: string): number;
  /** Writes the elements of a tensor, row by row, to `target`. */
  read(name: string, target: Float16Array): void;
  close(): void;
}

interface Entry {
  readonly dtype: string;
  readonly data_offsets: readonly [number, number];
}

/** Opens a file of tensors. They are read one by one, so that the whole file is never in memory. */
function openSafetensors(path: string): Safetensors {
  const file = openSync(path, 'r');
  const readBytes = (target: NodeJS.ArrayBufferView, position: number): void => {
    const found = readSync(file, target, 0, target.byteLength, position);
    if (found < target.byteLength) throw new Error(`${path} ends too early`);
  };
  const length = new DataView(new ArrayBuffer(8));
  readBytes(length, 0);
  const headerBytes = Number(length.getBigUint64(0, true));
  const headerText = new Uint8Array(headerBytes);
  readBytes(headerText, length.byteLength);
  const header = JSON.parse(new TextDecoder().decode(headerText)) as Record<string, Entry>;
  const locate = (name: string): { readonly start: number; readonly bytes: number } => {
    const entry = header[name];
    if (entry?.dtype !== 'F16') throw new Error(`${path} has no tensor \`${name}\` of 16-bit floats`);
    const [start, end] = entry.data_offsets;
    return { start: length.byteLength + headerBytes + start, bytes: end - start };
  };
  return {
    size: (name) => locate(name).bytes / Float16Array.BYTES_PER_ELEMENT,
    read(name, target) {
      const { start, bytes } = locate(name);
      if (bytes !== target.byteLength) throw new Error(`The tensor \`${name}\` has another size than is expected`);
      readBytes(target, start);
    },
    close: () => closeSync(file),
  };
}

/** Max tokens of a text that the model reads. */
export const maximumTokens = 256;

const layerCount = 6;

const wordTensor = 'embeddings.word_embeddings.weight';

/** Offsets of a matrix and its bias in the memory. */
export interface Projection {
  readonly width: BlockWidth;
  readonly weights: number;
  readonly bias: number;
  readonly inputs: number;
  readonly outputs: number;
}

export interface Normalisation {
  readonly scale: number;
  readonly bias: number;
}

export interface Layer {
  /** Queries, keys and values of a token, one after the other. */
  readonly attention: Projection;
  readonly attentionOut: Projection;
  readonly attentionNormalisation: Normalisation;
  readonly up: Projection;
  readonly down: Projection;
  readonly normalisation: Normalisation;
}

/** The model in the kernels' format. It can be sent to other threads, which then share the memory. */
export interface EmbeddingWeights {
  readonly memory: SharedMemory;
  /** A row of 16-bit floats for each token. */
  readonly words: number;
  readonly wordCount: number;
  /** A row of floats for each position in a text. */
  readonly positions: number;
  readonly normalisation: Normalisation;
  readonly layers: readonly Layer[];
  /** Address of the threads' workspaces, one after the other. */
  readonly workspaces: number;
}

/** Elements of a matrix, row by row of outputs: the bits of 16-bit floats, and their values. */
interface Matrix {
  readonly bits: Uint16Array;
  readonly meanings: Float32Array;
  readonly bias: Float32Array;
}

/** The value of each 16-bit float. This lookup is several times as fast as the engine's conversion. */
const meanings = new Float32Array(new Float16Array(Uint16Array.from({ length: 65_536 }, (_, bits) => bits).buffer));

const alignment = 64;

function createAllocator(): { readonly used: () => number; readonly take: (bytes: number) => number } {
  let next = alignment;
  return {
    used: () => next,
    take(bytes) {
      const address = next;
      next += Math.ceil(bytes / alignment) * alignment;
      return address;
    },
  };
}

/**
 * Reads the model and converts it to the kernels' format: matrices of bytes with a scale for every 64 or 128 of them. Leaves
 * `workspaceBytes` free at the end. Takes about an eighth of a second.
 */
export function loadEmbeddingWeights(path: string, workspaceBytes: number): EmbeddingWeights {
  const tensors = openSafetensors(path);
  try {
    const wordNumbers = tensors.size(wordTensor);
    const { used, take } = createAllocator();
    const address = {
      words: take(wordNumbers * Float16Array.BYTES_PER_ELEMENT),
      positions: take(maximumTokens * tokenSize * floatBytes),
      normalisation: takeNormalisation(take),
      layers: Array.from({ length: layerCount }, () => takeLayer(take)),
      workspaces: 0,
    };
    address.workspaces = used();
    const pages = Math.ceil((used() + workspaceBytes) / pageBytes);
    const memory = new webAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    const { buffer } = memory;
    const views = { floats: new Float32Array(buffer), integers: new Int32Array(buffer), bytes: new Int8Array(buffer) };
    tensors.read(wordTensor, new Float16Array(buffer, address.words, wordNumbers));
    writePositions(views, address.positions, tensors);
    writeNormalisation(views, address.normalisation, tensors, 'embeddings.LayerNorm');
    for (const [index, layer] of address.layers.entries()) writeLayer(views, layer, tensors, index);
    return { memory, ...address, wordCount: wordNumbers / tokenSize };
  } finally {
    tensors.close();
  }
}

type Take = (bytes: number) => number;

function takeNormalisation(take: Take): Normalisation {
  return { scale: take(tokenSize * floatBytes), bias: take(tokenSize * floatBytes) };
}

function takeProjection(take: Take, width: BlockWidth, inputs: number, outputs: number): Projection {
  const size = blockSizes[width];
  const blocks = (inputs / size) * (outputs / groupSize);
  return { width, weights: take(blocks * weightBlockBytes(size)), bias: take(outputs * floatBytes), inputs, outputs };
}

function takeLayer(take: Take): Layer {
  return {
    attention: takeProjection(take, 'narrow', tokenSize, 3 * tokenSize),
    attentionOut: takeProjection(take, 'wide', tokenSize, tokenSize),
    attentionNormalisation: takeNormalisation(take),
    up: takeProjection(take, 'narrow', tokenSize, 4 * tokenSize),
    down: takeProjection(take, 'wide', 4 * tokenSize, tokenSize),
    normalisation: takeNormalisation(take),
  };
}

/** A memory that is written sequentially. */
interface Views {
  readonly floats: Float32Array;
  readonly integers: Int32Array;
  readonly bytes: Int8Array;
}

function readFloats(tensors: Safetensors, name: string): Float32Array {
  const numbers = new Float16Array(tensors.size(name));
  tensors.read(name, numbers);
  return new Float32Array(numbers);
}

/** All texts are of the first of two types that the model was trained with, so its numbers are added to every position. */
function writePositions({ floats }: Views, address: number, tensors: Safetensors): void {
  const positions = readFloats(tensors, 'embeddings.position_embeddings.weight');
  const kind = readFloats(tensors, 'embeddings.token_type_embeddings.weight').subarray(0, tokenSize);
  const start = address / floatBytes;
  for (let index = 0; index < maximumTokens * tokenSize; index += 1) {
    floats[start + index] = positions[index]! + kind[index % tokenSize]!;
  }
}

function writeNormalisation(
  { floats }: Views,
  { scale, bias }: Normalisation,
  tensors: Safetensors,
  name: string,
): void {
  floats.set(readFloats(tensors, `${name}.weight`), scale / floatBytes);
  floats.set(readFloats(tensors, `${name}.bias`), bias / floatBytes);
}

function writeLayer(views: Views, layer: Layer, tensors: Safetensors, index: number): void {
  const name = `encoder.layer.${index}`;
  const matrix = (part: string): Matrix => {
    const numbers = new Float16Array(tensors.size(`${name}.${part}.weight`));
    tensors.read(`${name}.${part}.weight`, numbers);
    return { bits: new Uint16Array(numbers.buffer), meanings, bias: readFloats(tensors, `${name}.${part}.bias`) };
  };
  // Scores are divided by the square root of a head's size, and the exponent's base is 2 instead of e.
  const queries = scaled(matrix('attention.self.query'), Math.LOG2E / Math.sqrt(headSize));
  const keysAndValues = [matrix('attention.self.key'), matrix('attention.self.value')];
  writeProjection(views, layer.attention, [queries, ...keysAndValues]);
  writeProjection(views, layer.attentionOut, [matrix('attention.output.dense')]);
  writeNormalisation(views, layer.attentionNormalisation, tensors, `${name}.attention.output.LayerNorm`);
  writeProjection(views, layer.up, [matrix('intermediate.dense')]);
  writeProjection(views, layer.down, [matrix('output.dense')]);
  writeNormalisation(views, layer.normalisation, tensors, `${name}.output.LayerNorm`);
}

function scaled(matrix: Matrix, factor: number): Matrix {
  const times = (numbers: Float32Array) => numbers.map((number) => number * factor);
  return { bits: matrix.bits, meanings: times(matrix.meanings), bias: times(matrix.bias) };
}

/** Writes matrices one below the other, in the order of blocks that `matmul` reads. */
function writeProjection(views: Views, projection: Projection, matrices: readonly Matrix[]): void {
  const { weights, bias, inputs } = projection;
  const size = blockSizes[projection.width];
  const blocks = inputs / size;
  let output = 0;
  for (const matrix of matrices) {
    views.floats.set(matrix.bias, bias / floatBytes + output);
    for (let row = 0; row < matrix.bias.length; row += 1, output += 1) {
      const group = Math.floor(output / groupSize);
      for (let block = 0; block < blocks; block += 1) {
        const address = weights + (group * blocks + block) * weightBlockBytes(size);
        writeBlock(views, address + (output % groupSize) * lanes, matrix, row * inputs + block * size, size);
      }
    }
  }
}

/** The elements of the block that is being written. */
const taken = new Float32Array(blockSizes.wide);

/** One output's part of a block, which is `size` elements: groups of four bytes alternate with those of the other outputs of the group. */
function writeBlock(
  views: Views,
  address: number,
  { bits, meanings: values }: Matrix,
  start: number,
  size: number,
): void {
  let max = 0;
  for (let index = 0; index < size; index += 1) {
    const value = values[bits[start + index]!]!;
    taken[index] = value;
    if (value > max) max = value;
    else if (-value > max) max = -value;
  }
  const scale = Math.fround(max / 127);
  const inverse = scale === 0 ? 0 : 1 / scale;
  let sum = 0;
  for (let step = 0; step < size; step += lanes) {
    for (let lane = 0; lane < lanes; lane += 1) {
      const byte = Math.floor(taken[step + lane]! * inverse + 0.5);
      views.bytes[address + step * groupSize + lane] = byte;
      sum += byte;
    }
  }
  const factors = (address + size * groupSize) / floatBytes;
  views.floats[factors] = scale;
  views.floats[factors + groupSize] = sum * scale;
  views.integers[factors + 2 * groupSize] = 128 * sum;
}
