import { useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { classNames } from '../../../components/class-names.ts';
import { barsOf, chartHeight, chartWidth, linesOf } from './chart-model.ts';

interface ChartFrameProps {
  name: string;
  value: ReactNode;
  note: ReactNode;
  /** What stands in place of the note for one bucket: `14 Nov 2026: 1,204`. */
  readings: readonly string[];
  /** Narrows the list to one bucket. */
  onChoose: (index: number) => void;
  children: (marked: number | null) => ReactNode;
}

function stepOf(key: string, index: number, last: number): number | null {
  if (key === 'ArrowLeft' || key === 'ArrowDown') return Math.max(0, index - 1);
  if (key === 'ArrowRight' || key === 'ArrowUp') return Math.min(last, index + 1);
  if (key === 'Home') return 0;
  return key === 'End' ? last : null;
}

/** A figure with its course over time. Pointer or arrows read single values; Enter or a press narrows the list to one. */
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

export function BarChart({ values, ...frame }: ChartProps & { values: readonly number[] }) {
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

export interface LineChartProps extends ChartProps {
  values: readonly (number | null)[];
  /** A second, grey line. */
  second?: readonly (number | null)[];
  range: readonly [number, number];
  /** A value that is worth a line of its own, such as zero. */
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
