/** What is used of WebAssembly here; the types of Node have none, and those of a page are not for the host. */
interface WebAssemblyInterface {
  readonly Memory: new (size: { initial: number; maximum: number; shared: true }) => SharedMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => CompiledModule;
  readonly Instance: new (
    module: CompiledModule,
    imports: { host: { memory: SharedMemory } },
  ) => { readonly exports: Readonly<Record<string, (...parameters: number[]) => void>> };
}

/** A memory that several threads may use. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

/** Code for this processor; threads may share it. */
export type CompiledModule = object & { readonly CompiledModule?: never };

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyInterface }).WebAssembly;

export const pageBytes = 65_536;

/** The most that a memory can have. */
export const maximumPages = 65_536;
