/**
 * A set of few runs, such as those of a rare word: a list of offsets for each block, and bits only for the blocks that are read. Bits for
 * all blocks take 126 KB with a million runs. Creating them for every query caused a full garbage collection every sixty queries, which
 * delayed the next one by 10 ms.
 */
export class RunSet {
  readonly #blocks = new Map<number, number[] | Bits>();

  constructor(runs: Iterable<number>) {
    const listed = new Map<number, number[]>();
    for (const run of runs) {
      const offsets = listed.get(blockOf(run));
      if (offsets === undefined) listed.set(blockOf(run), [offsetOf(run)]);
      else offsets.push(offsetOf(run));
    }
    for (const [block, offsets] of listed) {
      this.#blocks.set(block, offsets.length > maxListed ? bitsOf(offsets) : offsets);
    }
  }

  hasBlock(block: number): boolean {
    return this.#blocks.has(block);
  }

  /** Callers must not change the result. */
  bits(block: number): Bits {
    const offsets = this.#blocks.get(block);
    if (offsets === undefined) return emptyBits();
    return offsets instanceof Uint32Array ? offsets : bitsOf(offsets);
  }
}

/**
 * Runs are indexed in blocks of 16,384 by their sequence. A set of runs of one block has 512 words of 32 bits. Hundreds of them can be read,
 * combined and cached, and a million runs have only 62 blocks.
 */
export const blockShift = 14;
export const blockRuns = 1 << blockShift;
const blockWords = blockRuns / 32;

/** A set of runs of one block. */
export type Bits = Uint32Array;

export const blockOf = (run: number): number => run >>> blockShift;
export const offsetOf = (run: number): number => run & (blockRuns - 1);

export function emptyBits(): Bits {
  return new Uint32Array(blockWords);
}

export function fullBits(): Bits {
  return emptyBits().fill(0xffffffff);
}

export function setBit(bits: Bits, offset: number): void {
  bits[offset >>> 5]! |= 1 << (offset & 31);
}

export function hasBit(bits: Bits, offset: number): boolean {
  return (bits[offset >>> 5]! & (1 << (offset & 31))) !== 0;
}

export function bitsOf(offsets: ArrayLike<number>): Bits {
  const bits = emptyBits();
  for (let index = 0; index < offsets.length; index += 1) setBit(bits, offsets[index]!);
  return bits;
}

/** Intersects `bits` with `other` in place. */
export function intersect(bits: Bits, other: Bits): void {
  for (let word = 0; word < blockWords; word += 1) bits[word]! &= other[word]!;
}

export function unite(bits: Bits, other: Bits): void {
  for (let word = 0; word < blockWords; word += 1) bits[word]! |= other[word]!;
}

export function subtract(bits: Bits, other: Bits): void {
  for (let word = 0; word < blockWords; word += 1) bits[word]! &= ~other[word]!;
}

function countOfWord(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function countBits(bits: Bits): number {
  let count = 0;
  for (let word = 0; word < blockWords; word += 1) count += countOfWord(bits[word]!);
  return count;
}

/** The size of the intersection. */
export function countCommonBits(one: Bits, other: Bits): number {
  let count = 0;
  for (let word = 0; word < blockWords; word += 1) {
    const both = one[word]! & other[word]!;
    if (both !== 0) count += countOfWord(both);
  }
  return count;
}

/** Calls back with the offset of every set bit, in order. */
export function forEachBit(bits: Bits, callback: (offset: number) => void): void {
  for (let word = 0; word < blockWords; word += 1) {
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1) callback(word * 32 + 31 - Math.clz32(rest & -rest));
  }
}

/** A list of this many offsets takes as many bytes as bits do. */
export const maxListed = (blockWords * 4) / 2 - 1;

/** Encodes as offsets of 16 bits while that is shorter than the bits. */
export function encodePositions(offsets: readonly number[]): Uint8Array {
  if (offsets.length <= maxListed) return new Uint8Array(Uint16Array.from(offsets).buffer);
  return new Uint8Array(bitsOf(offsets).buffer);
}

export function decodePositions(bytes: Uint8Array): Bits {
  // A copy, because arrays of 16 and 32 bits must start at aligned addresses.
  const aligned = new Uint8Array(bytes).buffer;
  return bytes.byteLength === blockWords * 4 ? new Uint32Array(aligned) : bitsOf(new Uint16Array(aligned));
}
