import { open, type FileHandle } from 'node:fs/promises';

/** Bytes that are collected before they are written. */
const bufferBytes = 256 * 1024;

/** A file that grows at its end and can be gone on with from any length that it had. */
export class OutputFile {
  readonly #handle: FileHandle;
  #pending: string[] = [];
  #pendingLength = 0;
  #bytes: number;

  private constructor(handle: FileHandle, bytes: number) {
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** Opens a file and cuts off what was written after `bytes`. */
  static async open(file: string, bytes: number): Promise<OutputFile> {
    const handle = await open(file, bytes === 0 ? 'w' : 'r+', 0o600);
    try {
      await handle.truncate(bytes);
      return new OutputFile(handle, bytes);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Bytes that are written; what was only collected is not counted. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(text: string): Promise<void> {
    this.#pending.push(text);
    this.#pendingLength += text.length;
    if (this.#pendingLength >= bufferBytes) await this.#flush();
  }

  /** Resolves when the disk has everything. */
  async sync(): Promise<void> {
    await this.#flush();
    await this.#handle.datasync();
  }

  /** Closes without writing what was only collected. */
  close(): Promise<void> {
    return this.#handle.close();
  }

  async #flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(''), 'utf8');
    this.#pending = [];
    this.#pendingLength = 0;
    for (let written = 0; written < bytes.length;) {
      const result = await this.#handle.write(bytes, written, bytes.length - written, this.#bytes + written);
      written += result.bytesWritten;
    }
    this.#bytes += bytes.length;
  }
}
