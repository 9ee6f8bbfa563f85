import { describe, expect, test } from 'vitest';
import { quantize, VectorStore } from '../../../../electron/knowledge/index/vector-store.ts';
import { createRandom } from '../../../../benchmarks/support/text-writer.ts';

const random = createRandom(7);

function randomVector(dimensions: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random.next() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const cosine = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

describe.each([384, 100])('vectors of %i numbers', (dimensions) => {
  // More than the memory holds before it grows twice.
  const vectors = Array.from({ length: 6000 }, () => randomVector(dimensions));
  const store = new VectorStore(dimensions);
  vectors.forEach((vector, slot) => store.set(slot, quantize(vector)));

  test('are found in the order of their cosines, with an error below 0.01', () => {
    const query = randomVector(dimensions);
    const isAllowed = (slot: number) => slot % 3 !== 0;
    const found = store.nearest(query, 10, isAllowed);
    const exact = vectors
      .map((vector, slot) => ({ slot, similarity: cosine(query, vector) }))
      .filter(({ slot }) => isAllowed(slot))
      .toSorted((one, other) => other.similarity - one.similarity);
    expect(found.map(({ similarity }) => similarity)).toEqual(
      exact.slice(0, 10).map(({ similarity }) => expect.closeTo(similarity, 2)),
    );
    expect(exact.slice(0, 20).map(({ slot }) => slot)).toEqual(expect.arrayContaining(found.map(({ slot }) => slot)));
  });

  test('find themselves', () => {
    const slots = [1, 4095, 4096, 5999];
    expect(slots.map((slot) => store.nearest(vectors[slot]!, 1, () => true))).toEqual(
      slots.map((slot) => [{ slot, similarity: expect.closeTo(1, 2) }]),
    );
  });

  test('replace the previous one in their slot', () => {
    const vector = randomVector(dimensions);
    store.set(17, quantize(vector));
    expect(store.nearest(vector, 1, () => true)[0]!.slot).toBe(17);
  });
});

test('an empty store and a zero vector find nothing without an error', () => {
  const store = new VectorStore(384);
  const zero = new Float32Array(384);
  const before = store.nearest(zero, 5, () => true);
  store.set(0, quantize(zero));
  expect({ before, after: store.nearest(zero, 5, () => true) }).toEqual({
    before: [],
    after: [{ slot: 0, similarity: 0 }],
  });
});
