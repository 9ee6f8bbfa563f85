/**
 * The source of the passage in each slot; 4 bytes per slot. Freed slots are reused, so that indexing a library again and again
 * needs no more memory.
 */
export class Slots {
  #sources = new Int32Array(1024);
  /** Freed slots. Slots start at 1, as rows of SQLite do. */
  readonly #free: number[] = [];
  #end = 1;
  #count = 0;

  /** The number of passages. */
  get count(): number {
    return this.#count;
  }

  /** Puts a stored passage into its slot. Passages come in the order of their slots. */
  set(slot: number, source: number): void {
    for (let free = this.#end; free < slot; free += 1) this.#free.push(free);
    this.#put(slot, source);
  }

  take(source: number): number {
    const slot = this.#free.pop() ?? this.#end;
    this.#put(slot, source);
    return slot;
  }

  free(slot: number): void {
    this.#sources[slot] = 0;
    this.#free.push(slot);
    this.#count -= 1;
  }

  /** 0 for a slot without a passage. */
  sourceOf(slot: number): number {
    return this.#sources[slot] ?? 0;
  }

  #put(slot: number, source: number): void {
    if (slot >= this.#sources.length) {
      const larger = new Int32Array(slot * 2);
      larger.set(this.#sources);
      this.#sources = larger;
    }
    this.#sources[slot] = source;
    this.#end = Math.max(this.#end, slot + 1);
    this.#count += 1;
  }
}

/** `dot-products.wat`, assembled: JavaScript has no vector instructions, and takes twenty times as long for a hundred thousand vectors. */
export const dotProductsModule = `
  AGFzbQEAAAABCQFgBX9/f39/AAIQAQRob3N0Bm1lbW9yeQIAAAMCAQAHDwELZG90UHJvZHVjdHMAAArOAQHLAQICfwJ7IAAgASACbGohBQJAA0AgACAFTw0B
  /QwAAAAAAAAAAAAAAAAAAAAAIQf9DAAAAAAAAAAAAAAAAAAAAAAhCEEAIQYDQCAHIAAgBmr9AQMAIAMgBkEBdGr9AAQA/boB/a4BIQcgCCAAIAZq/QEDCCAD
  IAZBAXRq/QAEEP26Af2uASEIIAZBEGoiBiACSQ0ACyAHIAj9rgEhByAEIAf9GwAgB/0bAWogB/0bAiAH/RsDamo2AgAgACACaiEAIARBBGohBAwACwsL`;

/** WebAssembly memory; growing it creates a new buffer. */
interface ByteMemory {
  readonly buffer: ArrayBuffer;
  /** Pages have 64 KB. */
  grow(pages: number): number;
}

/** The part of WebAssembly that this file uses; Node's types lack it. */
interface WebAssemblyParts {
  readonly Memory: new (size: { initial: number }) => ByteMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** Offsets of the three areas in the memory, in bytes; the query is i16, the vectors i8 and the results i32. */
type DotProducts = (vectors: number, count: number, dimensions: number, query: number, results: number) => void;

/**
 * Creates memory of so many pages, and the function that computes the dot products of a query with many vectors in it. `dimensions`
 * must be a multiple of 16.
 */
function createDotProducts(pages: number): { memory: ByteMemory; dotProducts: DotProducts } {
  const { Memory, Module, Instance } = Reflect.get(globalThis, 'WebAssembly') as WebAssemblyParts;
  const memory = new Memory({ initial: pages });
  const { exports } = new Instance(new Module(Buffer.from(dotProductsModule, 'base64')), { host: { memory } });
  return { memory, dotProducts: exports['dotProducts'] as DotProducts };
}

const pageBytes = 65_536;

/** A full memory grows by a quarter, and at least by so many vectors. */
const growth = 1.25;
const grownVectors = 4096;

/** The dot products process so many numbers at a time. */
const step = 16;

/** A quantized vector: its numbers as bytes, and the scale that restores them. */
export interface QuantizedVector {
  readonly bytes: Int8Array;
  readonly scale: number;
}

/** A vector in a quarter of its size: its largest number becomes 127. The cosine of two such vectors has an error below 0.01. */
export function quantize(vector: Float32Array): QuantizedVector {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  if (!Number.isFinite(largest)) throw new Error('A vector has something else than numbers in it.');
  if (largest === 0) return { bytes: new Int8Array(vector.length), scale: 0 };
  return { bytes: Int8Array.from(vector, (value) => Math.round((value * 127) / largest)), scale: largest / 127 };
}

export interface Neighbour {
  readonly slot: number;
  /** Cosine, as the vectors have length 1. */
  readonly similarity: number;
}

/**
 * The vectors of one embedding model and length, each in its slot. A query is compared with each of them: exact, and a few milliseconds for a
 * hundred thousand vectors of 384 numbers. Needs a byte for each number and eight for each vector.
 */
export class VectorStore {
  readonly #dimensions: number;
  /** `#dimensions`, padded with zeros to a multiple of `step`. */
  readonly #width: number;
  readonly #memory: ByteMemory;
  readonly #dotProducts: DotProducts;
  #scales = new Float32Array(0);
  /** Slots below this one may contain a vector. */
  #end = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#width = Math.ceil(dimensions / step) * step;
    const { memory, dotProducts } = createDotProducts(Math.ceil(this.#vectorsAt / pageBytes));
    this.#memory = memory;
    this.#dotProducts = dotProducts;
  }

  /** The query comes first, then a result for each slot, then the vectors. The areas move when the memory grows. */
  get #resultsAt(): number {
    return this.#width * 2;
  }

  get #vectorsAt(): number {
    return this.#resultsAt + this.#scales.length * 4;
  }

  /** Throws for a vector of another length than the others. */
  set(slot: number, { bytes, scale }: QuantizedVector): void {
    if (bytes.length !== this.#dimensions) {
      throw new Error(`A vector has ${bytes.length} numbers, others of its source have ${this.#dimensions}.`);
    }
    if (slot >= this.#scales.length) this.#grow(slot + 1);
    const at = this.#vectorsAt + slot * this.#width;
    new Int8Array(this.#memory.buffer, at, this.#width).fill(0, this.#dimensions);
    new Int8Array(this.#memory.buffer, at, this.#dimensions).set(bytes);
    this.#scales[slot] = scale;
    this.#end = Math.max(this.#end, slot + 1);
  }

  /** The most similar vectors of the allowed slots, the most similar first. */
  nearest(query: Float32Array, count: number, isAllowed: (slot: number) => boolean): Neighbour[] {
    const quantized = quantize(query);
    const queryNumbers = new Int16Array(this.#memory.buffer, 0, this.#width);
    queryNumbers.fill(0).set(quantized.bytes);
    this.#dotProducts(this.#vectorsAt, this.#end, this.#width, 0, this.#resultsAt);
    const products = new Int32Array(this.#memory.buffer, this.#resultsAt, this.#end);
    // Twice as many as requested, because exact scores change the order.
    const best = new BestSlots(count * 2);
    for (let slot = 0; slot < products.length; slot += 1) {
      const score = products[slot]! * this.#scales[slot]!;
      if (score > best.lowest && isAllowed(slot)) best.add(slot, score);
    }
    return best.slots
      .map((slot) => ({ slot, similarity: this.similarity(slot, query) }))
      .toSorted((one, other) => other.similarity - one.similarity || one.slot - other.slot)
      .slice(0, count);
  }

  similarity(slot: number, query: Float32Array): number {
    const bytes = new Int8Array(this.#memory.buffer, this.#vectorsAt + slot * this.#width, this.#dimensions);
    let sum = 0;
    for (let index = 0; index < bytes.length; index += 1) sum += bytes[index]! * query[index]!;
    return sum * (this.#scales[slot] ?? 0);
  }

  #grow(slots: number): void {
    const before = this.#vectorsAt;
    const scales = new Float32Array(Math.max(slots, Math.ceil(this.#scales.length * growth), grownVectors));
    scales.set(this.#scales);
    this.#scales = scales;
    const bytes = this.#vectorsAt + scales.length * this.#width;
    const missing = Math.ceil((bytes - this.#memory.buffer.byteLength) / pageBytes);
    if (missing > 0) this.#memory.grow(missing);
    new Int8Array(this.#memory.buffer).copyWithin(this.#vectorsAt, before, before + this.#end * this.#width);
  }
}

/** Keeps the slots with the highest scores; a heap whose root is the lowest of them. */
class BestSlots {
  readonly slots: number[] = [];
  readonly #scores: number[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Only higher scores are added. */
  get lowest(): number {
    return this.slots.length < this.#limit ? Number.NEGATIVE_INFINITY : this.#scores[0]!;
  }

  add(slot: number, score: number): void {
    if (this.slots.length < this.#limit) {
      this.slots.push(slot);
      this.#scores.push(score);
      this.#rise(this.slots.length - 1);
    } else {
      this.slots[0] = slot;
      this.#scores[0] = score;
      this.#sink();
    }
  }

  #rise(from: number): void {
    for (let index = from; index > 0;) {
      const parent = (index - 1) >> 1;
      if (this.#scores[parent]! <= this.#scores[index]!) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(): void {
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let lowest = index;
      if (left < this.slots.length && this.#scores[left]! < this.#scores[lowest]!) lowest = left;
      if (right < this.slots.length && this.#scores[right]! < this.#scores[lowest]!) lowest = right;
      if (lowest === index) return;
      this.#swap(index, lowest);
      index = lowest;
    }
  }

  #swap(one: number, other: number): void {
    [this.slots[one], this.slots[other]] = [this.slots[other]!, this.slots[one]!];
    [this.#scores[one], this.#scores[other]] = [this.#scores[other]!, this.#scores[one]!];
  }
}
