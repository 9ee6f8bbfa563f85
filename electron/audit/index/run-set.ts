import { bitsOf, blockOf, emptyBits, maxListed, placeOf, type Bits } from './bits.ts';

/**
 * Runs that are known by name, such as those of a rare word: a list of places for each block, and bits only for the blocks that are
 * looked at. Bits for all of them take 126 KB among a million runs. Made for every question these brought a full garbage collection after
 * sixty questions, which held up the next one by 10 ms.
 */
export class RunSet {
  readonly #blocks = new Map<number, number[] | Bits>();

  constructor(runs: Iterable<number>) {
    const listed = new Map<number, number[]>();
    for (const run of runs) {
      const places = listed.get(blockOf(run));
      if (places === undefined) listed.set(blockOf(run), [placeOf(run)]);
      else places.push(placeOf(run));
    }
    for (const [block, places] of listed) {
      this.#blocks.set(block, places.length > maxListed ? bitsOf(places) : places);
    }
  }

  hasBlock(block: number): boolean {
    return this.#blocks.has(block);
  }

  /** Not to be changed. */
  bits(block: number): Bits {
    const places = this.#blocks.get(block);
    if (places === undefined) return emptyBits();
    return places instanceof Uint32Array ? places : bitsOf(places);
  }
}
