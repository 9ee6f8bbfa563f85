import { type FrameTiming, maxFrameEntries } from '../../shared/contract/conversations.ts';

const lineFeed = 10;
const frameEnd = Buffer.from('\n\n');
const windowsFrameEnd = Buffer.from('\r\n\r\n');

function countOf(bytes: Buffer, end: Buffer): number {
  let count = 0;
  for (let index = bytes.indexOf(end); index !== -1; index = bytes.indexOf(end, index + end.length)) count += 1;
  return count;
}

/** A tenth of a millisecond is as exact as the clock is. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

/** Notes when the frames of a stream arrive, in a fixed space. */
export class FrameTimes {
  #series: { atMs: number; frames: number }[] = [];
  #count = 0;
  #lastMs = 0;
  #longestGapMs = 0;
  #endsLine = false;

  /** The frames that end in a chunk. */
  add(chunk: Uint8Array, atMs: number): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const isSplit = this.#endsLine && bytes[0] === lineFeed && bytes[1] !== lineFeed;
    const frames = (countOf(bytes, frameEnd) || countOf(bytes, windowsFrameEnd)) + (isSplit ? 1 : 0);
    this.#endsLine = bytes.at(-1) === lineFeed && bytes.at(-2) !== lineFeed;
    if (frames === 0) return;
    if (this.#count > 0) this.#longestGapMs = Math.max(this.#longestGapMs, atMs - this.#lastMs);
    this.#count += frames;
    this.#lastMs = atMs;
    this.#series.push({ atMs, frames });
    if (this.#series.length >= 2 * maxFrameEntries) this.#merge();
  }

  /** Null for a response without frames. */
  get timing(): FrameTiming | null {
    if (this.#count === 0) return null;
    if (this.#series.length > maxFrameEntries) this.#merge();
    return {
      count: this.#count,
      firstMs: rounded(this.#series[0]!.atMs),
      lastMs: rounded(this.#lastMs),
      longestGapMs: rounded(this.#longestGapMs),
      series: this.#series.map(({ atMs, frames }) => ({ atMs: rounded(atMs), frames })),
    };
  }

  /** Joins each two entries. */
  #merge(): void {
    this.#series = this.#series.flatMap(({ atMs, frames }, index) =>
      index % 2 === 1 ? [] : [{ atMs, frames: frames + (this.#series[index + 1]?.frames ?? 0) }],
    );
  }
}
