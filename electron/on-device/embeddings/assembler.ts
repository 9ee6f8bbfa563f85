/**
 * Writes WebAssembly modules from TypeScript, so that inner loops can be unrolled and the build needs no compiler. An instruction
 * is the list of its bytes; operands precede the operation, as on a stack machine. Supports only what `kernels.ts` needs.
 */

/** Bytes of instructions that leave at most one value on the stack. */
export type Code = readonly number[];

/** A variable of a function. */
export interface Local {
  readonly index: number;
}

export interface FunctionScope {
  /** A variable for an address or a count. */
  integer(): Local;
  /** A variable for four floats, four integers or sixteen bytes. */
  vector(): Local;
}

export interface FunctionDefinition {
  readonly name: string;
  /** All parameters are 32-bit integers, nothing is returned. */
  readonly parameters: number;
  readonly build: (scope: FunctionScope, parameters: readonly Local[]) => Code;
}

const integerType = 0x7f;
const vectorType = 0x7b;
const noResult = 0x40;

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = rest === (low & 0x40 ? -1 : 0);
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}

const operation =
  (...bytes: readonly number[]) =>
  (...operands: readonly Code[]): Code => [...operands.flat(), ...bytes];

const vectorOperation = (code: number) => operation(0xfd, ...unsigned(code));

export const get = ({ index }: Local): Code => [0x20, ...unsigned(index)];
export const set = ({ index }: Local, value: Code): Code => [...value, 0x21, ...unsigned(index)];

export const integer = {
  constant: (value: number): Code => [0x41, ...signed(value)],
  add: operation(0x6a),
  subtract: operation(0x6b),
  multiply: operation(0x6c),
  /** Integer part of a quotient. */
  divide: operation(0x6d),
  min: (first: Code, second: Code): Code => [...first, ...second, ...first, ...second, 0x48, 0x1b],
};

/** All sixteen bytes. */
export const vector = {
  load: (address: Code, offset = 0): Code => [...address, 0xfd, 0, 4, ...unsigned(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0xfd, 11, 4, ...unsigned(offset)],
  /** The same four bytes in all four lanes. */
  loadSplat: (address: Code, offset = 0): Code => [...address, 0xfd, 9, 2, ...unsigned(offset)],
  /** Four of the bytes, by default the first four. */
  storeLane: (address: Code, value: Code, offset = 0, lane = 0): Code => [
    ...address,
    ...value,
    0xfd,
    0x5a,
    2,
    ...unsigned(offset),
    lane,
  ],
  zero: [0xfd, 12, ...Array.from({ length: 16 }, () => 0)] as Code,
  and: vectorOperation(0x4e),
  exclusiveOr: vectorOperation(0x51),
  /** Takes lanes 0 to 3 from the first operand, 4 to 7 from the second. */
  shuffle: (first: Code, second: Code, lanes: readonly number[]): Code => [
    ...first,
    ...second,
    0xfd,
    13,
    ...lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte)),
  ],
};

export const floats = {
  constant(value: number): Code {
    const bytes = [...new Uint8Array(Float32Array.of(value, value, value, value).buffer)];
    return [0xfd, 12, ...bytes];
  },
  add: vectorOperation(0xe4),
  subtract: vectorOperation(0xe5),
  multiply: vectorOperation(0xe6),
  /** Product of two factors plus a third operand, rounded once (as on every processor of the last ten years). */
  multiplyAdd: vectorOperation(0x105),
  divide: vectorOperation(0xe7),
  squareRoot: vectorOperation(0xe3),
  /** The larger of two numbers. The sign of zero doesn't matter here, and NaN doesn't occur. */
  min: vectorOperation(0xea),
  max: vectorOperation(0xeb),
  absolute: vectorOperation(0xe0),
  fromIntegers: vectorOperation(0xfa),
};

export const integers = {
  constant(value: number): Code {
    return [0xfd, 12, ...new Uint8Array(Int32Array.of(value, value, value, value).buffer)];
  },
  add: vectorOperation(0xae),
  subtract: vectorOperation(0xb1),
  shiftLeft: (value: Code, bits: number): Code => [...value, ...integer.constant(bits), 0xfd, ...unsigned(0xab)],
  /** Eight 16-bit integers from twice four, and sixteen unsigned bytes from twice eight. */
  narrow: vectorOperation(0x85),
  narrowToBytes: vectorOperation(0x66),
  narrowToSignedBytes: vectorOperation(0x65),
};

/** `sum` plus, in each of four lanes, the products of four pairs of bytes. The result for bytes from 128 on depends on the processor. */
export const relaxedByteProducts = (sum: Code, first: Code, second: Code): Code =>
  vectorOperation(0x113)(first, second, sum);

/** The same for signed and unsigned bytes, on all processors. The operands are read twice and must be variables. */
export function plainByteProducts(sum: Code, first: Code, second: Code): Code {
  const products = (signedHalf: number, unsignedHalf: number) =>
    vectorOperation(0xba)(vectorOperation(signedHalf)(first), vectorOperation(unsignedHalf)(second));
  const [low, high] = [products(0x87, 0x89), products(0x88, 0x8a)];
  const even = vector.shuffle(low, high, [0, 2, 4, 6]);
  const odd = vector.shuffle(low, high, [1, 3, 5, 7]);
  return integers.add(sum, integers.add(even, odd));
}

/** Runs `body` with `index` from 0 to `count` - 1. */
export function repeat(index: Local, count: Code, body: Code): Code {
  const isDone = [...get(index), ...count, 0x4e];
  const step = set(index, integer.add(get(index), integer.constant(1)));
  const leave = [0x0d, 1];
  const again = [0x0c, 0];
  const end = 0x0b;
  return [
    ...set(index, integer.constant(0)),
    ...[0x02, noResult, 0x03, noResult],
    ...isDone,
    ...leave,
    ...body,
    ...step,
    ...again,
    ...[end, end],
  ];
}

const list = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()];
const withLength = (bytes: readonly number[]): number[] => [...unsigned(bytes.length), ...bytes];
const text = (value: string): number[] => withLength([...new TextEncoder().encode(value)]);
const section = (id: number, content: readonly number[]): number[] => [id, ...withLength(content)];

function functionBody({ parameters, build }: FunctionDefinition): number[] {
  const types: number[] = [];
  const local = (type: number): Local => ({ index: parameters + types.push(type) - 1 });
  const scope: FunctionScope = { integer: () => local(integerType), vector: () => local(vectorType) };
  const code = build(
    scope,
    Array.from({ length: parameters }, (_, index) => ({ index })),
  );
  return withLength([...list(types.map((type) => [1, type])), ...code, 0x0b]);
}

/** A module that exports `functions` and imports the memory `host.memory`, which threads may share, of at most `maximumPages`. */
export function assemble(functions: readonly FunctionDefinition[], maximumPages: number): Uint8Array<ArrayBuffer> {
  const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const types = functions.map(({ parameters }) => [
    0x60,
    ...list(Array.from({ length: parameters }, () => [integerType])),
    0,
  ]);
  const sharedMemory = [0x02, 0x03, 0, ...unsigned(maximumPages)];
  return Uint8Array.from([
    ...header,
    ...section(1, list(types)),
    ...section(2, list([[...text('host'), ...text('memory'), ...sharedMemory]])),
    ...section(3, list(functions.map((_, index) => unsigned(index)))),
    ...section(7, list(functions.map(({ name }, index) => [...text(name), 0, ...unsigned(index)]))),
    ...section(10, list(functions.map(functionBody))),
  ]);
}

/** The parts of WebAssembly that are used here. Node's types have none, and the DOM's types are not for the host. */
interface WebAssemblyInterface {
  readonly Memory: new (size: { initial: number; maximum: number; shared: true }) => SharedMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => CompiledModule;
  readonly Instance: new (
    module: CompiledModule,
    imports: { host: { memory: SharedMemory } },
  ) => { readonly exports: Readonly<Record<string, (...parameters: number[]) => void>> };
}

/** A memory that several threads can use. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

/** Compiles code for this processor; threads can share it. */
export type CompiledModule = object & { readonly CompiledModule?: never };

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface }).WebAssembly;

export const pageBytes = 65_536;

/** The largest size of a memory. */
export const maximumPages = 65_536;
