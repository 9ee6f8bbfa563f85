/** Random numbers that a seed determines, so that they are the same at each start. */
export interface SeededRandom {
  /** From 0 to below 1. */
  next(): number;
  /** An integer; both ends are included. */
  between(min: number, max: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** True with this probability. */
  boolean(probability: number): boolean;
}

export function createSeededRandom(seed: number): SeededRandom {
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
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (values) => values[Math.floor(next() * values.length)]!,
    boolean: (probability) => next() < probability,
  };
}
