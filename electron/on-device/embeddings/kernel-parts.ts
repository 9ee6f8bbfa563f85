import { type Code, floats, get, integer, type Local, set, vector } from './assembler.ts';

/**
 * Numbers along a row that share one scale: fewer where what is multiplied comes from a normalisation, in which a few numbers are
 * much larger than the others.
 */
export const blockSizes = { narrow: 64, wide: 128 } as const;

export type BlockWidth = keyof typeof blockSizes;

/** Outputs whose weights lie together. */
export const groupSize = 8;

/**
 * Bytes of one block of weights for one group: the weights, and for each output their scale, their sum by the scale, and their sum
 * as an integer times 128.
 */
export const weightBlockBytes = (size: number): number => groupSize * size + 3 * groupSize * 4;

/** Rows that are worked on together in attention; buffers of rows are a multiple of it long. */
export const tileRows = 4;

/** Rows that are multiplied with a matrix together: as many as there are vector registers for. There must be at least as many. */
export const matmulRows = 6;

/** Numbers of a token. */
export const tokenSize = 384;

/** Numbers of a token in one attention head. */
export const headSize = 32;

/** Floats, or integers, of one vector. */
export const lanes = 4;

export const floatBytes = 4;
export const vectorBytes = 16;

/** Bytes from a token's queries to the next one's; its keys and values lie between. */
export const tokenStride = 3 * tokenSize * floatBytes;

/** Scale and least value of one block. */
export const rangeBytes = 2 * floatBytes;

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
export const variables = (count: number, make: () => Local): Local[] => upTo(count).map(make);
export const times = (address: Code, factor: number): Code => integer.multiply(address, integer.constant(factor));
export const advance = (address: Local, bytes: Code): Code => set(address, integer.add(get(address), bytes));

/** Sets all places of a vector to what `combine` makes of the four. */
export function acrossLanes(value: Local, combine: (first: Code, second: Code) => Code): Code {
  const swap = (order: readonly number[]) =>
    set(value, combine(get(value), vector.shuffle(get(value), get(value), order)));
  return [...swap([2, 3, 0, 1]), ...swap([1, 0, 3, 2])];
}

/** Added to a float below 2^22, leaves its nearest integer in the lowest bits. */
export const roundingFloat = 1.5 * 2 ** 23;

/** The polynomial with these coefficients, that of the highest power first. */
export const polynomial = (variable: Code, coefficients: readonly number[]): Code =>
  coefficients
    .slice(1)
    .reduce<Code>(
      (sum, coefficient) => floats.multiplyAdd(sum, variable, floats.constant(coefficient)),
      floats.constant(coefficients[0]!),
    );
