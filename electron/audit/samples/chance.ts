/** Numbers that look like chance and are the same at every start. */
export interface Chance {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number; both ends are included. */
  between(least: number, most: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** Whether something happens that happens in this share of all cases. */
  happens(share: number): boolean;
}

export function createChance(seed: number): Chance {
  let state = seed;
  // The generator `mulberry32`: 32 bits of state, good enough for texts.
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (values) => values[Math.floor(next() * values.length)]!,
    happens: (share) => next() < share,
  };
}
