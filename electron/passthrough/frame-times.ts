import { type FrameTiming, maxFrameEntries } from '../../shared/contract/conversations.ts';

/** When the chunks of a body, or of a part of it, came. */
export interface ChunkArrivals {
  readonly atMs: readonly number[];
  /** Where each chunk ends in the body, or in its part. */
  readonly ends: readonly number[];
}

/** Chunks that are noted one by one; later ones share entries. */
const maxArrivals = 2048;

/** Every second value, of which the first or the last is left. */
const halved = (values: readonly number[], offset: 0 | 1): number[] =>
  values.filter((_, index) => index % 2 === offset || (offset === 1 && index === values.length - 1));

/** Notes when chunks arrive, in a fixed space. */
export class ChunkTimes {
  #atMs: number[] = [];
  #ends: number[] = [];
  #bytes = 0;

  add(bytes: number, atMs: number): void {
    this.#bytes += bytes;
    this.#atMs.push(atMs);
    this.#ends.push(this.#bytes);
    if (this.#ends.length < maxArrivals) return;
    this.#atMs = halved(this.#atMs, 0);
    this.#ends = halved(this.#ends, 1);
  }

  get arrivals(): ChunkArrivals {
    return { atMs: this.#atMs, ends: this.#ends };
  }
}

/** A tenth of a millisecond is as exact as the clock is. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

interface Entry {
  readonly atMs: number;
  frames: number;
}

/** Joins each two entries. */
function merged(entries: readonly Entry[]): Entry[] {
  return entries.flatMap(({ atMs, frames }, index) =>
    index % 2 === 1 ? [] : [{ atMs, frames: frames + (entries[index + 1]?.frames ?? 0) }],
  );
}

/** Counts the frames of a stream by the time of the chunk that ended them, in a fixed space. */
export class FrameTimes {
  #entries: Entry[] = [];
  #count = 0;
  #lastMs = 0;
  #longestGapMs = 0;

  /** Notes frames that ended at the same time. */
  note(atMs: number, frames = 1): void {
    const isFirst = this.#count === 0;
    this.#count += frames;
    if (!isFirst && atMs === this.#lastMs) {
      this.#entries.at(-1)!.frames += frames;
      return;
    }
    if (!isFirst) this.#longestGapMs = Math.max(this.#longestGapMs, atMs - this.#lastMs);
    this.#lastMs = atMs;
    if (this.#entries.length >= maxArrivals) this.#entries = merged(this.#entries);
    this.#entries.push({ atMs, frames });
  }

  /** Null for a body without frames. */
  get timing(): FrameTiming | null {
    if (this.#count === 0) return null;
    let series: readonly Entry[] = this.#entries;
    while (series.length > maxFrameEntries) series = merged(series);
    return {
      count: this.#count,
      firstMs: rounded(series[0]!.atMs),
      lastMs: rounded(this.#lastMs),
      longestGapMs: rounded(this.#longestGapMs),
      series: series.map(({ atMs, frames }) => ({ atMs: rounded(atMs), frames })),
    };
  }
}

/** The offsets at which the elements of a streamed array end: at the comma before the next one, or at the last bracket. */
function* elementEnds(bytes: Buffer): Generator<number, void, void> {
  for (let index = bytes.indexOf('\n,'); index !== -1; index = bytes.indexOf('\n,', index + 2)) yield index + 2;
  const last = bytes.lastIndexOf('\n]');
  if (last !== -1) yield last + 2;
}

/** When the elements of a streamed array arrived; null for a body without any. */
export function arrayTiming(body: Uint8Array, { atMs, ends }: ChunkArrivals): FrameTiming | null {
  const times = new FrameTimes();
  let chunk = 0;
  for (const end of elementEnds(Buffer.from(body.buffer, body.byteOffset, body.length))) {
    while (chunk < ends.length - 1 && ends[chunk]! < end) chunk += 1;
    times.note(atMs[chunk]!);
  }
  return times.timing;
}
