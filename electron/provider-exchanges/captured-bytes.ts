import { maxExchangeBodyBytes, type ExchangeText } from '../../shared/contract/provider-exchanges.ts';
import { redactText } from './redact.ts';

const initialBytes = 4096;

/**
 * Copies the start of a body as it passes. Holding on to the chunks themselves would also hold the socket buffers that they
 * are slices of, which are many times larger.
 */
export class CapturedBytes {
  #buffer: Buffer | null = null;
  #length = 0;
  #total = 0;

  append(chunk: Uint8Array): void {
    this.#total += chunk.length;
    const room = maxExchangeBodyBytes - this.#length;
    if (room === 0) return;
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#reserve(this.#length + part.length).set(part, this.#length);
    this.#length += part.length;
  }

  get size(): number {
    return this.#length;
  }

  read(secrets: readonly string[]): ExchangeText {
    const text = this.#buffer?.toString('utf8', 0, this.#length) ?? '';
    const isCut = this.#total > this.#length;
    return { text: withoutSecrets(text, isCut, secrets), bytes: this.#total, isCut };
  }

  #reserve(length: number): Buffer {
    const capacity = this.#buffer?.length ?? 0;
    if (this.#buffer && capacity >= length) return this.#buffer;
    const larger = Buffer.allocUnsafe(Math.min(maxExchangeBodyBytes, Math.max(initialBytes, capacity * 2, length)));
    if (this.#buffer) larger.set(this.#buffer.subarray(0, this.#length));
    return (this.#buffer = larger);
  }
}

/** The start of a text that is in memory anyway. */
export function captureText(text: string, secrets: readonly string[]): ExchangeText {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxExchangeBodyBytes) return { text: redactText(text, secrets), bytes, isCut: false };
  const start = Buffer.from(text.slice(0, maxExchangeBodyBytes)).toString('utf8', 0, maxExchangeBodyBytes);
  return { text: withoutSecrets(start, true, secrets), bytes, isCut: true };
}

/** The cut may leave the first half of a credential at the end, which no search for the whole would find. */
function withoutSecrets(text: string, isCut: boolean, secrets: readonly string[]): string {
  const clean = redactText(text, secrets);
  const longest = secrets[0]?.length ?? 0;
  return isCut && longest > 0 ? clean.slice(0, 1 - longest) : clean;
}
