import { type Code, floats, get, integer, type Local, set, vector } from './assembler.ts';

/** Numbers of a row that share one scale: fewer for inputs after a normalisation, where a few numbers are much larger than the others. */
export const blockSizes = { narrow: 64, wide: 128 } as const;

export type BlockWidth = keyof typeof blockSizes;

/** Outputs whose weights are stored together. */
export const groupSize = 8;

/**
 * Bytes of one block of weights for one group: the weights, and for each output their scale, their sum times the scale, and their
 * integer sum times 128.
 */
export const weightBlockBytes = (size: number): number => groupSize * size + 3 * groupSize * 4;

/** Rows that attention processes together. Buffers of rows are padded to a multiple of it. */
export const tileRows = 4;

/** Rows that are multiplied with a matrix together: as many as the vector registers allow. There must be at least as many. */
export const matmulRows = 6;

/** Numbers of a token. */
export const tokenSize = 384;

/** Numbers of a token in one attention head. */
export const headSize = 32;

/** Floats or integers in one vector. */
export const lanes = 4;

export const floatBytes = 4;
export const vectorBytes = 16;

/** Bytes from a token's queries to the next token's; its keys and values are between them. */
export const tokenStride = 3 * tokenSize * floatBytes;

/** Scale and minimum of one block. */
export const rangeBytes = 2 * floatBytes;

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
export const variables = (count: number, make: () => Local): Local[] => upTo(count).map(make);
export const times = (address: Code, factor: number): Code => integer.multiply(address, integer.constant(factor));
export const advance = (address: Local, bytes: Code): Code => set(address, integer.add(get(address), bytes));

/** Sets all lanes of a vector to the result of `combine` over the four. */
export function acrossLanes(value: Local, combine: (first: Code, second: Code) => Code): Code {
  const swap = (order: readonly number[]) =>
    set(value, combine(get(value), vector.shuffle(get(value), get(value), order)));
  return [...swap([2, 3, 0, 1]), ...swap([1, 0, 3, 2])];
}

/** Adding this to a float below 2^22 leaves its nearest integer in the lowest bits. */
export const roundingFloat = 1.5 * 2 ** 23;

/** The polynomial with these coefficients, highest power first. */
export const polynomial = (variable: Code, coefficients: readonly number[]): Code =>
  coefficients
    .slice(1)
    .reduce<Code>(
      (sum, coefficient) => floats.multiplyAdd(sum, variable, floats.constant(coefficient)),
      floats.constant(coefficients[0]!),
    );
