import type { AuditSummary } from '../../../shared/contract/audit.ts';

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

/** Spans of time from a first to a last moment: of the asked size, or the smallest, that needs no more than is shown at once. */
export function timeBuckets(
  first: number,
  last: number,
  asked: BucketSize | undefined,
): { bucketSize: BucketSize; starts: number[] } {
  const most = asked === undefined ? 120 : maxBuckets;
  for (const bucketSize of sizes.slice(asked === undefined ? 0 : sizes.indexOf(asked))) {
    const starts = startsOf(first, last, bucketSize);
    if (starts.length <= most) return { bucketSize, starts };
  }
  // More than thirty years: the oldest months are left out.
  return { bucketSize: 'month', starts: startsOf(last - maxBuckets * 27 * lengths.day, last, 'month') };
}
