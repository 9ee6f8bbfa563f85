/**
 * `dot-products.wat`, assembled: JavaScript has no vector instructions, and takes twenty times as long for a hundred thousand
 * vectors.
 */
export const dotProductsModule = `
  AGFzbQEAAAABCQFgBX9/f39/AAIQAQRob3N0Bm1lbW9yeQIAAAMCAQAHDwELZG90UHJvZHVjdHMAAArOAQHLAQICfwJ7IAAgASACbGohBQJAA0AgACAFTw0B
  /QwAAAAAAAAAAAAAAAAAAAAAIQf9DAAAAAAAAAAAAAAAAAAAAAAhCEEAIQYDQCAHIAAgBmr9AQMAIAMgBkEBdGr9AAQA/boB/a4BIQcgCCAAIAZq/QEDCCAD
  IAZBAXRq/QAEEP26Af2uASEIIAZBEGoiBiACSQ0ACyAHIAj9rgEhByAEIAf9GwAgB/0bAWogB/0bAiAH/RsDamo2AgAgACACaiEAIARBBGohBAwACwsL`;

/** Memory of WebAssembly; growing it makes a new buffer. */
export interface ByteMemory {
  readonly buffer: ArrayBuffer;
  /** Pages are of 64 KB. */
  grow(pages: number): number;
}

/** The part of WebAssembly that is used here; the types of Node do not have it. */
interface WebAssemblyParts {
  readonly Memory: new (size: { initial: number }) => ByteMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** Where the three areas lie in the memory, in bytes; the query is i16, the vectors i8 and the results i32. */
export type DotProducts = (vectors: number, count: number, dimensions: number, query: number, results: number) => void;

/** Memory of so many pages, with what computes the dot products of a query and many vectors in it; `dimensions` has to be a multiple of 16. */
export function createDotProducts(pages: number): { memory: ByteMemory; dotProducts: DotProducts } {
  const { Memory, Module, Instance } = Reflect.get(globalThis, 'WebAssembly') as WebAssemblyParts;
  const memory = new Memory({ initial: pages });
  const { exports } = new Instance(new Module(Buffer.from(dotProductsModule, 'base64')), { host: { memory } });
  return { memory, dotProducts: exports['dotProducts'] as DotProducts };
}
