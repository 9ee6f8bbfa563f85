import type { AuditSummary, Percentiles } from '../../../shared/contract/audit.ts';

type BucketSize = AuditSummary['bucketSize'];

const maxBuckets = 400;
const lengths = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
/** 1970 began on a Thursday; weeks begin on Monday. */
const firstMonday = 4 * lengths.day;
const sizes: readonly BucketSize[] = ['minute', 'hour', 'day', 'week', 'month'];

function startOf(time: number, size: BucketSize): number {
  if (size === 'month') {
    const date = new Date(time);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  }
  const shift = size === 'week' ? firstMonday : 0;
  return Math.floor((time - shift) / lengths[size]) * lengths[size] + shift;
}

function after(start: number, size: BucketSize): number {
  if (size !== 'month') return start + lengths[size];
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

function startsOf(first: number, last: number, size: BucketSize): number[] {
  const starts: number[] = [];
  for (let start = startOf(first, size); start <= last && starts.length <= maxBuckets; start = after(start, size)) {
    starts.push(start);
  }
  return starts;
}

/** Buckets from the first to the last time, of the requested or else the smallest size that doesn't exceed the maximum number. */
export function timeBuckets(
  first: number,
  last: number,
  requestedSize: BucketSize | undefined,
): { bucketSize: BucketSize; starts: number[] } {
  const max = requestedSize === undefined ? 120 : maxBuckets;
  for (const bucketSize of sizes.slice(requestedSize === undefined ? 0 : sizes.indexOf(requestedSize))) {
    const starts = startsOf(first, last, bucketSize);
    if (starts.length <= max) return { bucketSize, starts };
  }
  // Of more than thirty years, the oldest months are left out.
  return { bucketSize: 'month', starts: startsOf(last - maxBuckets * 27 * lengths.day, last, 'month') };
}

/** Each class is 1 % wider than the previous one. */
export const classRatio = Math.log(1.01);
/** From 1/100 ms to about 12 days. */
export const classCount = 2600;
export const classOffset = Math.log(0.01);

/** The class of a duration. */
export function classOf(milliseconds: number): number {
  if (milliseconds <= 0.01) return 0;
  return Math.min(classCount - 1, Math.floor((Math.log(milliseconds) - classOffset) / classRatio));
}

/** Counts durations by class, so that percentiles need neither sorting nor a copy. */
export class Histogram {
  readonly #counts = new Uint32Array(classCount);
  #max = 0;
  count = 0;

  /** `index` is the class of the duration, which several histograms can share. */
  add(milliseconds: number, index = classOf(milliseconds)): void {
    this.#counts[index]! += 1;
    this.count += 1;
    if (milliseconds > this.#max) this.#max = milliseconds;
  }

  /** Adds durations of one class whose longest is known. */
  addClass(index: number, count: number, max: number): void {
    this.#counts[index]! += count;
    this.count += count;
    if (max > this.#max) this.#max = max;
  }

  /** Null if it is empty. */
  at(share: number): number | null {
    if (this.count === 0) return null;
    let rest = Math.ceil(this.count * share);
    for (let index = 0; index < classCount; index += 1) {
      rest -= this.#counts[index]!;
      if (rest <= 0) return Math.min(this.#max, Math.exp(classOffset + (index + 0.5) * classRatio));
    }
    return this.#max;
  }

  percentiles(): Percentiles | null {
    if (this.count === 0) return null;
    const at = (share: number) => this.at(share) ?? 0;
    return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), max: this.#max };
  }
}
