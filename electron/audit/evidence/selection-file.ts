import { open, rename, writeFile, type FileHandle } from 'node:fs/promises';
import type { SelectedConversation } from '../query/selection.ts';

/**
 * What goes into a pack, in its order, as it was when the pack was begun (the form is that of `Selection`). It lies on disk,
 * so that a pack can be gone on with after a crash. Resolves with the number of conversations.
 */
export async function writeSelection(file: string, numbers: Int32Array): Promise<number> {
  await writeFile(`${file}.partial`, new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), {
    mode: 0o600,
    flush: true,
  });
  await rename(`${file}.partial`, file);
  let count = 0;
  for (let at = 0; at < numbers.length; at += 2 + numbers[at + 1]!) count += 1;
  return count;
}

const readNumbers = 16_384;

/** Reads a selection from a number of conversations on. */
export async function* readSelection(file: string, from: Position): AsyncGenerator<SelectedConversation & Position> {
  const handle = await open(file, 'r');
  try {
    let { offset } = from;
    let numbers: Int32Array = new Int32Array(0);
    let at = 0;
    for (;;) {
      let length = at + 1 < numbers.length ? 2 + numbers[at + 1]! : 2;
      if (at + length > numbers.length) {
        numbers = await readFrom(handle, offset, Math.max(readNumbers, length));
        at = 0;
        if (numbers.length < 2) return;
        length = 2 + numbers[1]!;
        if (length > numbers.length) numbers = await readFrom(handle, offset, length);
      }
      offset += length * 4;
      yield { conversation: numbers[at]!, runs: [...numbers.subarray(at + 2, at + length)], offset };
      at += length;
    }
  } finally {
    await handle.close();
  }
}

/** Bytes of the selection that lie behind. */
export interface Position {
  readonly offset: number;
}

async function readFrom(handle: FileHandle, offset: number, count: number): Promise<Int32Array> {
  const bytes = new Uint8Array(count * 4);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return new Int32Array(bytes.buffer, 0, Math.floor(filled / 4));
}
