import { type FrameTiming, maxFrameEntries } from '../../shared/contract/conversations.ts';

/** Where the frames of a body end: at an empty line, or at the comma before the next element of an array. */
export type FrameKind = 'events' | 'array';

/** When the chunks of a body came. Frames are counted in the whole body: for each chunk, that would slow a fast stream down. */
export interface ChunkArrivals {
  readonly atMs: readonly number[];
  /** Where each chunk ends in the body. */
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

/** The offsets at which frames end, in order. */
function* frameEnds(bytes: Buffer, kind: FrameKind): Generator<number, void, void> {
  const isWindows = kind === 'events' && !bytes.includes('\n\n');
  const end = Buffer.from(kind === 'array' ? '\n,' : isWindows ? '\r\n\r\n' : '\n\n');
  for (let index = bytes.indexOf(end); index !== -1; index = bytes.indexOf(end, index + end.length))
    yield index + end.length;
  if (kind === 'events') return;
  const last = bytes.lastIndexOf('\n]');
  if (last !== -1) yield last + 2;
}

/** A tenth of a millisecond is as exact as the clock is. */
const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

interface Entry {
  readonly atMs: number;
  readonly frames: number;
}

/** The number of frames that end in each chunk, without chunks that end none. */
function framesOf(body: Uint8Array, kind: FrameKind, { atMs, ends }: ChunkArrivals): Entry[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const entries: Entry[] = [];
  let chunk = 0;
  let frames = 0;
  const flush = (): void => {
    if (frames > 0) entries.push({ atMs: atMs[chunk]!, frames });
    frames = 0;
  };
  for (const end of frameEnds(bytes, kind)) {
    while (chunk < ends.length - 1 && ends[chunk]! < end) {
      flush();
      chunk += 1;
    }
    frames += 1;
  }
  flush();
  return entries;
}

/** Joins each two entries. */
function merged(entries: readonly Entry[]): Entry[] {
  return entries.flatMap(({ atMs, frames }, index) =>
    index % 2 === 1 ? [] : [{ atMs, frames: frames + (entries[index + 1]?.frames ?? 0) }],
  );
}

/** When the frames of a body arrived; null for a body without frames. */
export function frameTiming(body: Uint8Array, kind: FrameKind, arrivals: ChunkArrivals): FrameTiming | null {
  const entries = framesOf(body, kind, arrivals);
  const [first] = entries;
  if (!first) return null;
  const gaps = entries.slice(1).map(({ atMs }, index) => atMs - entries[index]!.atMs);
  let series: readonly Entry[] = entries;
  while (series.length > maxFrameEntries) series = merged(series);
  return {
    count: entries.reduce((sum, { frames }) => sum + frames, 0),
    firstMs: rounded(first.atMs),
    lastMs: rounded(entries.at(-1)!.atMs),
    longestGapMs: rounded(gaps.reduce((longest, gap) => Math.max(longest, gap), 0)),
    series: series.map(({ atMs, frames }) => ({ atMs: rounded(atMs), frames })),
  };
}
