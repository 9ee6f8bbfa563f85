import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react';
import type { AuditBucket, AuditSummary } from '../../../../shared/contract/audit.ts';
import { classNames } from '../../../components/class-names.ts';

const chartWidth = 240;
const chartHeight = 32;

/** Bars over time: x, y, width and height in the chart's own units; no bar for a missing or unknown value. */
export function barsOf(values: readonly (number | null)[]): { x: number; y: number; width: number; height: number }[] {
  const max = Math.max(...values.map((value) => value ?? 0), 0);
  const step = chartWidth / Math.max(1, values.length);
  const gap = step > 4 ? Math.min(2, step / 4) : 0;
  return values.map((value, index) => {
    const height = max === 0 || value === null || value <= 0 ? 0 : Math.max(1, (value / max) * chartHeight);
    return { x: index * step, y: chartHeight - height, width: Math.max(0.5, step - gap), height };
  });
}

/** Points of lines over time, interrupted by missing values; a single value is a dot. */
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

/** Days are in UTC like the buckets; times within a day are local. */
const labels: Record<AuditSummary['bucketSize'], Intl.DateTimeFormat> = {
  minute: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  hour: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
  week: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
  month: new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
};

/** The label of a bucket: `14 Nov 2026`, `week of 9 Nov 2026`, `November 2026`. */
export function bucketLabel({ start }: Pick<AuditBucket, 'start'>, size: AuditSummary['bucketSize']): string {
  const text = labels[size].format(new Date(start));
  return size === 'week' ? `week of ${text}` : text;
}

const unitMilliseconds = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** The last millisecond of a bucket; a filter includes both ends. */
export function bucketEnd({ start }: Pick<AuditBucket, 'start'>, size: AuditSummary['bucketSize']): string {
  const begin = new Date(start);
  const next =
    size === 'month'
      ? Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 1)
      : begin.getTime() + unitMilliseconds[size];
  return new Date(next - 1).toISOString();
}

interface ChartFrameProps {
  name: string;
  value: ReactNode;
  note: ReactNode;
  /** Replaces the note for one bucket: `14 Nov 2026: 1,204`. */
  readings: readonly string[];
  /** Filters the list by one bucket. */
  onChoose: (index: number) => void;
  children: (marked: number | null) => ReactNode;
}

function stepOf(key: string, index: number, last: number): number | null {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, index - 1);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, index + 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

/** A figure over time. Pointer or arrow keys show single values; Enter or a click filters the list by one bucket. */
function ChartFrame({ name, value, note, readings, onChoose, children }: ChartFrameProps) {
  const [marked, setMarked] = useState<number | null>(null);
  const last = readings.length - 1;
  const shown = marked !== null && marked <= last ? marked : null;
  const onPointerMove = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setMarked(Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * readings.length))));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = stepOf(event.key, shown ?? last, last);
    if (next !== null) setMarked(next);
    else if (event.key === 'Enter' && shown !== null) onChoose(shown);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <figure className="chart">
      <figcaption>
        <span className="tertiary truncate">{name}</span>
        <span className="chart__value">{value}</span>
        {(shown !== null || note !== '') && (
          <span className={classNames('chart__note', shown !== null && 'accent')}>
            {shown === null ? note : readings[shown]}
          </span>
        )}
      </figcaption>
      <div
        className="chart__plot"
        role="slider"
        aria-label={`${name} over time`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={shown ?? Math.max(0, last)}
        aria-valuetext={readings[shown ?? last] ?? 'no runs'}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setMarked(null)}
        onFocus={(event) => event.currentTarget.matches(':focus-visible') && setMarked(last)}
        onBlur={() => setMarked(null)}
        onClick={() => shown !== null && onChoose(shown)}
      >
        <svg viewBox={`0 0 ${chartWidth} ${chartHeight}`} preserveAspectRatio="none" aria-hidden="true">
          {children(shown)}
        </svg>
      </div>
    </figure>
  );
}

type ChartProps = Omit<ChartFrameProps, 'children'>;

export function BarChart({ values, ...frame }: ChartProps & { values: readonly (number | null)[] }) {
  return (
    <ChartFrame {...frame}>
      {(marked) =>
        barsOf(values).map((bar, index) => (
          <rect key={bar.x} {...bar} className={index === marked ? 'is-selected' : undefined} />
        ))
      }
    </ChartFrame>
  );
}

interface LineChartProps extends ChartProps {
  values: readonly (number | null)[];
  /** A second, grey line. */
  second?: readonly (number | null)[];
  range: readonly [number, number];
  /** A value with a reference line, such as zero. */
  base?: number;
}

export function LineChart({ values, second, range, base, ...frame }: LineChartProps) {
  const step = chartWidth / Math.max(1, values.length);
  const [level] = base === undefined ? [] : linesOf([base, base], range);
  return (
    <ChartFrame {...frame}>
      {(marked) => (
        <>
          {level && (
            <polyline points={level.replace(/ .*/, ` ${chartWidth},${level.split(',').at(-1)}`)} className="is-base" />
          )}
          {marked !== null && (
            <line x1={(marked + 0.5) * step} x2={(marked + 0.5) * step} y1={0} y2={chartHeight} className="is-marked" />
          )}
          {second &&
            linesOf(second, range).map((points) => <polyline key={points} points={points} className="is-second" />)}
          {linesOf(values, range).map((points) => (
            <polyline key={points} points={points} />
          ))}
        </>
      )}
    </ChartFrame>
  );
}
