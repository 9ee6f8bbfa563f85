/// <reference lib="esnext.float16" />
import { closeSync, openSync, readSync } from 'node:fs';

export interface Safetensors {
  /** The numbers of a tensor, row by row. Throws for a name that the file has not, and for other types than 16-bit floats. */
  read(name: string): Float16Array<ArrayBuffer>;
  close(): void;
}

interface Entry {
  readonly dtype: string;
  readonly data_offsets: readonly [number, number];
}

/** Opens a file of tensors; they are read one by one, so that the whole never is in memory. */
export function openSafetensors(path: string): Safetensors {
  const file = openSync(path, 'r');
  const readBytes = (bytes: number, position: number): ArrayBuffer => {
    const buffer = new ArrayBuffer(bytes);
    const found = readSync(file, new Uint8Array(buffer), 0, bytes, position);
    if (found < bytes) throw new Error(`${path} ends too early`);
    return buffer;
  };
  const lengthBytes = 8;
  const headerBytes = Number(new DataView(readBytes(lengthBytes, 0)).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(readBytes(headerBytes, lengthBytes))) as Record<string, Entry>;
  return {
    read(name) {
      const entry = header[name];
      if (entry?.dtype !== 'F16') throw new Error(`${path} has no tensor \`${name}\` of 16-bit floats`);
      const [start, end] = entry.data_offsets;
      return new Float16Array(readBytes(end - start, lengthBytes + headerBytes + start));
    },
    close: () => closeSync(file),
  };
}
