import type { AuditBucket, AuditSummary } from '../../../../shared/contract/audit.ts';

export const chartWidth = 240;
export const chartHeight = 32;

/** Bars over time: x, y, width and height in the chart's own units; nothing stands where there is no value. */
export function barsOf(values: readonly number[]): { x: number; y: number; width: number; height: number }[] {
  const most = Math.max(...values, 0);
  const step = chartWidth / Math.max(1, values.length);
  const gap = step > 4 ? Math.min(2, step / 4) : 0;
  return values.map((value, index) => {
    const height = most === 0 || value <= 0 ? 0 : Math.max(1, (value / most) * chartHeight);
    return { x: index * step, y: chartHeight - height, width: Math.max(0.5, step - gap), height };
  });
}

/** Points of lines over time, broken where there is no value; a value alone is a line of its own width. */
export function linesOf(values: readonly (number | null)[], [low, high]: readonly [number, number]): string[] {
  const step = chartWidth / Math.max(1, values.length);
  const span = high - low || 1;
  const lines: string[][] = [];
  let isOpen = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isOpen = false;
      continue;
    }
    const y = (chartHeight - 2 - ((value - low) / span) * (chartHeight - 4)).toFixed(1);
    const x = index * step + step / 2;
    if (!isOpen) lines.push([`${(x - Math.min(2, step / 2)).toFixed(1)},${y}`]);
    lines.at(-1)?.push(`${x.toFixed(1)},${y}`);
    isOpen = true;
  }
  return lines.map((points) => points.join(' '));
}

/** A day of the calendar is one in UTC, as the buckets are; moments inside a day are shown by the local clock. */
const labels: Record<AuditSummary['bucketSize'], Intl.DateTimeFormat> = {
  minute: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  hour: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
  week: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
  month: new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
};

/** When a bucket is: `14 Nov 2026`, `week of 9 Nov 2026`, `November 2026`. */
export function bucketLabel({ start }: Pick<AuditBucket, 'start'>, size: AuditSummary['bucketSize']): string {
  const text = labels[size].format(new Date(start));
  return size === 'week' ? `week of ${text}` : text;
}

const unitMilliseconds = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** The last moment of a bucket; both ends of a filter's dates are included. */
export function bucketEnd({ start }: Pick<AuditBucket, 'start'>, size: AuditSummary['bucketSize']): string {
  const begin = new Date(start);
  const next =
    size === 'month'
      ? Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 1)
      : begin.getTime() + unitMilliseconds[size];
  return new Date(next - 1).toISOString();
}
