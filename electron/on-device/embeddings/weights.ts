/// <reference lib="esnext.float16" />
import { blockSize, floatBytes, groupSize, headSize, lanes, tokenSize, weightBlockBytes } from './kernel-parts.ts';
import { openSafetensors, type Safetensors } from './safetensors.ts';
import { pageBytes, type SharedMemory, webAssembly } from './web-assembly.ts';

/** Tokens of a text that the model reads. */
export const maximumTokens = 256;

const layerCount = 6;

/** Where a matrix and its bias lie in the memory. */
export interface Projection {
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

/** The model as the kernels read it. It can be sent to other threads, which then share the memory. */
export interface EmbeddingWeights {
  readonly memory: SharedMemory;
  /** A row of 16-bit floats for each token. */
  readonly words: number;
  readonly wordCount: number;
  /** A row of floats for each place in a text. */
  readonly positions: number;
  readonly normalisation: Normalisation;
  readonly layers: readonly Layer[];
  /** Where the threads have room of their own, one after the other. */
  readonly workspaces: number;
}

/** Numbers of a matrix, row by row of outputs. */
interface Matrix {
  readonly values: Float32Array;
  readonly bias: Float32Array;
}

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
 * Reads the model and brings it into the form that the kernels need: matrices of bytes with a scale for every 64 of them.
 * `workspaceBytes` are left free at the end. Takes about a fifth of a second.
 */
export function loadEmbeddingWeights(path: string, workspaceBytes: number): EmbeddingWeights {
  const tensors = openSafetensors(path);
  try {
    const words = tensors.read('embeddings.word_embeddings.weight');
    const { used, take } = createAllocator();
    const address = {
      words: take(words.byteLength),
      positions: take(maximumTokens * tokenSize * floatBytes),
      normalisation: takeNormalisation(take),
      layers: Array.from({ length: layerCount }, () => takeLayer(take)),
      workspaces: 0,
    };
    address.workspaces = used();
    const pages = Math.ceil((used() + workspaceBytes) / pageBytes);
    const memory = new webAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    const { buffer } = memory;
    new Float16Array(buffer, address.words, words.length).set(words);
    writePositions(buffer, address.positions, tensors);
    writeNormalisation(buffer, address.normalisation, tensors, 'embeddings.LayerNorm');
    for (const [index, layer] of address.layers.entries()) writeLayer(buffer, layer, tensors, index);
    return { memory, ...address, wordCount: words.length / tokenSize };
  } finally {
    tensors.close();
  }
}

type Take = (bytes: number) => number;

function takeNormalisation(take: Take): Normalisation {
  return { scale: take(tokenSize * floatBytes), bias: take(tokenSize * floatBytes) };
}

function takeProjection(take: Take, inputs: number, outputs: number): Projection {
  const blocks = (inputs / blockSize) * (outputs / groupSize);
  return { weights: take(blocks * weightBlockBytes), bias: take(outputs * floatBytes), inputs, outputs };
}

function takeLayer(take: Take): Layer {
  return {
    attention: takeProjection(take, tokenSize, 3 * tokenSize),
    attentionOut: takeProjection(take, tokenSize, tokenSize),
    attentionNormalisation: takeNormalisation(take),
    up: takeProjection(take, tokenSize, 4 * tokenSize),
    down: takeProjection(take, 4 * tokenSize, tokenSize),
    normalisation: takeNormalisation(take),
  };
}

/** All texts are of the first kind (of two, which the model was made with), and so its numbers belong to every place. */
function writePositions(buffer: SharedArrayBuffer, address: number, tensors: Safetensors): void {
  const positions = new Float32Array(tensors.read('embeddings.position_embeddings.weight'));
  const kind = new Float32Array(tensors.read('embeddings.token_type_embeddings.weight')).subarray(0, tokenSize);
  const target = new Float32Array(buffer, address, maximumTokens * tokenSize);
  for (let index = 0; index < target.length; index += 1) target[index] = positions[index]! + kind[index % tokenSize]!;
}

function writeNormalisation(
  buffer: SharedArrayBuffer,
  { scale, bias }: Normalisation,
  tensors: Safetensors,
  name: string,
): void {
  new Float32Array(buffer, scale, tokenSize).set(tensors.read(`${name}.weight`));
  new Float32Array(buffer, bias, tokenSize).set(tensors.read(`${name}.bias`));
}

function writeLayer(buffer: SharedArrayBuffer, layer: Layer, tensors: Safetensors, index: number): void {
  const name = `encoder.layer.${index}`;
  const matrix = (part: string): Matrix => ({
    values: new Float32Array(tensors.read(`${name}.${part}.weight`)),
    bias: new Float32Array(tensors.read(`${name}.${part}.bias`)),
  });
  // Scores are divided by the square root of a head's size; it is done here once and for all.
  const queries = scaled(matrix('attention.self.query'), 1 / Math.sqrt(headSize));
  const keysAndValues = [matrix('attention.self.key'), matrix('attention.self.value')];
  writeProjection(buffer, layer.attention, [queries, ...keysAndValues]);
  writeProjection(buffer, layer.attentionOut, [matrix('attention.output.dense')]);
  writeNormalisation(buffer, layer.attentionNormalisation, tensors, `${name}.attention.output.LayerNorm`);
  writeProjection(buffer, layer.up, [matrix('intermediate.dense')]);
  writeProjection(buffer, layer.down, [matrix('output.dense')]);
  writeNormalisation(buffer, layer.normalisation, tensors, `${name}.output.LayerNorm`);
}

function scaled({ values, bias }: Matrix, factor: number): Matrix {
  return { values: values.map((value) => value * factor), bias: bias.map((value) => value * factor) };
}

/** Writes matrices one below the other, in blocks in the order in which `project` reads them. */
function writeProjection(
  buffer: SharedArrayBuffer,
  { weights, bias, inputs }: Projection,
  matrices: readonly Matrix[],
): void {
  const blocks = inputs / blockSize;
  let output = 0;
  for (const matrix of matrices) {
    new Float32Array(buffer, bias + output * floatBytes, matrix.bias.length).set(matrix.bias);
    for (let row = 0; row < matrix.bias.length; row += 1, output += 1) {
      const group = Math.floor(output / groupSize);
      for (let block = 0; block < blocks; block += 1) {
        const start = row * inputs + block * blockSize;
        const address = weights + (group * blocks + block) * weightBlockBytes;
        writeBlock(buffer, address, output % groupSize, matrix.values.subarray(start, start + blockSize));
      }
    }
  }
}

/** One output's part of a block: its bytes lie four by four between those of the other outputs of the group. */
function writeBlock(buffer: SharedArrayBuffer, address: number, place: number, values: Float32Array): void {
  const bytes = new Int8Array(buffer, address, groupSize * blockSize);
  const factors = new Float32Array(buffer, address + groupSize * blockSize, 2 * groupSize);
  let greatest = 0;
  for (const value of values) greatest = Math.max(greatest, Math.abs(value));
  const scale = Math.fround(greatest / 127);
  const inverse = scale === 0 ? 0 : 1 / scale;
  let sum = 0;
  for (let index = 0; index < blockSize; index += 1) {
    const byte = Math.round(values[index]! * inverse);
    const step = Math.floor(index / lanes);
    bytes[(step * groupSize + place) * lanes + (index % lanes)] = byte;
    sum += byte;
  }
  factors[place] = scale;
  factors[groupSize + place] = sum * scale;
  new Int32Array(buffer, address + groupSize * (blockSize + 2 * floatBytes), groupSize)[place] = 128 * sum;
}
