/// <reference lib="esnext.float16" />
import { closeSync, openSync, readSync } from 'node:fs';

export interface Safetensors {
  /** How many numbers a tensor has. Throws for a name that the file has not, and for other types than 16-bit floats. */
  size(name: string): number;
  /** Writes the numbers of a tensor, row by row, to `target`. */
  read(name: string, target: Float16Array): void;
  close(): void;
}

interface Entry {
  readonly dtype: string;
  readonly data_offsets: readonly [number, number];
}

/** Opens a file of tensors; they are read one by one, so that the whole never is in memory. */
export function openSafetensors(path: string): Safetensors {
  const file = openSync(path, 'r');
  const readBytes = (target: NodeJS.ArrayBufferView, position: number): void => {
    const found = readSync(file, target, 0, target.byteLength, position);
    if (found < target.byteLength) throw new Error(`${path} ends too early`);
  };
  const length = new DataView(new ArrayBuffer(8));
  readBytes(length, 0);
  const headerBytes = Number(length.getBigUint64(0, true));
  const headerText = new Uint8Array(headerBytes);
  readBytes(headerText, length.byteLength);
  const header = JSON.parse(new TextDecoder().decode(headerText)) as Record<string, Entry>;
  const place = (name: string): { readonly start: number; readonly bytes: number } => {
    const entry = header[name];
    if (entry?.dtype !== 'F16') throw new Error(`${path} has no tensor \`${name}\` of 16-bit floats`);
    const [start, end] = entry.data_offsets;
    return { start: length.byteLength + headerBytes + start, bytes: end - start };
  };
  return {
    size: (name) => place(name).bytes / Float16Array.BYTES_PER_ELEMENT,
    read(name, target) {
      const { start, bytes } = place(name);
      if (bytes !== target.byteLength) throw new Error(`The tensor \`${name}\` has another size than is expected`);
      readBytes(target, start);
    },
    close: () => closeSync(file),
  };
}
