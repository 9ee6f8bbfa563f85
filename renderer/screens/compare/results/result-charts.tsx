import type { ComparisonReport } from '../../../../shared/contract/comparison-results.ts';
import { formatCost, formatPlural, formatRunDuration } from '../../../components/format.ts';
import { letterOf, type Scale } from './cell-model.ts';
import { IntervalBar } from './grid-head.tsx';

type VariantReport = ComparisonReport['variants'][number];

interface Measured {
  mean: number;
  interval: readonly [number, number] | null;
  rows: number;
}

interface Chart {
  title: string;
  /** What a better value is. */
  hint: string;
  of: (variant: VariantReport) => Measured | null;
  format: (value: number) => string;
  /** The sentence about the difference to the baseline. */
  sentence: (variant: VariantReport) => string | undefined;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

const charts: readonly Chart[] = [
  {
    title: 'Pass rate',
    hint: 'Share of rows that pass',
    of: ({ passRate, interval, rows }) => (passRate === null ? null : { mean: passRate, interval, rows }),
    format: percent,
    sentence: ({ differences }) => differences?.passRate.sentence,
  },
  {
    title: 'Score',
    hint: 'Mean score of the checks, from 0 to 1',
    of: ({ score }) => score,
    format: (value) => value.toFixed(2),
    sentence: ({ differences }) => differences?.score.sentence,
  },
  {
    title: 'Cost',
    hint: 'Mean cost of a run',
    of: ({ cost }) => cost,
    format: formatCost,
    sentence: ({ differences }) => differences?.cost.sentence,
  },
  {
    title: 'Latency',
    hint: 'Mean time of a run',
    of: ({ latency }) => latency,
    format: formatRunDuration,
    sentence: ({ differences }) => differences?.latency.sentence,
  },
];

/** From the lowest to the highest end, with some space. Rates and costs don't go below zero. */
function scaleOf(values: readonly Measured[]): Scale {
  const ends = values.flatMap(({ mean, interval }) => interval ?? [mean]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const space = (high - low || Math.abs(high) || 1) * 0.08;
  return { low: low < 0 ? low - space : Math.max(0, low - space), high: high + space };
}

function ChartView({ chart, report }: { chart: Chart; report: ComparisonReport }) {
  const values = report.variants.map((variant) => chart.of(variant));
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const scale = scaleOf(known);
  const base = values[report.variants.findIndex(({ name }) => name === report.baseline)] ?? null;
  return (
    <section className="result-chart" aria-label={chart.title}>
      <div className="header">
        <h3>{chart.title}</h3>
        <span className="caption tertiary truncate">{chart.hint}</span>
      </div>
      <ul>
        {report.variants.map((variant, index) => {
          const value = values[index];
          const isBase = variant.name === report.baseline;
          const range = value?.interval
            ? `95 % between ${chart.format(value.interval[0])} and ${chart.format(value.interval[1])}`
            : 'too few rows for an interval';
          return (
            <li key={variant.name}>
              <span className="row result-chart__name">
                <span className="column-letter">{letterOf(index)}</span>
                <span className="truncate">{variant.name}</span>
              </span>
              {value ? (
                <>
                  <IntervalBar
                    interval={value.interval}
                    at={value.mean}
                    scale={scale}
                    reference={isBase ? null : (base?.mean ?? value.mean)}
                    label={`${variant.name}: ${chart.format(value.mean)}, ${range}`}
                  />
                  <span className="numbers medium result-chart__value">{chart.format(value.mean)}</span>
                  <span className="caption tertiary result-chart__words">
                    {isBase ? `Baseline, ${range}, ${formatPlural(value.rows, 'row')}` : chart.sentence(variant)}
                  </span>
                </>
              ) : (
                <span className="caption tertiary">No value</span>
              )}
            </li>
          );
        })}
      </ul>
      <div className="result-chart__scale caption tertiary numbers" aria-hidden="true">
        <span>{chart.format(scale.low)}</span>
        <span>{chart.format(scale.high)}</span>
      </div>
    </section>
  );
}

/** Pass rate, score, cost and latency of all variants with their intervals: the baseline in grey and as a dashed line. */
export function ResultCharts({ report }: { report: ComparisonReport }) {
  return (
    <div className="scroll result-charts" tabIndex={0} role="region" aria-label="Charts">
      {charts.map((chart) => (
        <ChartView key={chart.title} chart={chart} report={report} />
      ))}
      <RepeatRates report={report} />
    </div>
  );
}

/** How likely one of several repeats passes, and all of them do. */
function RepeatRates({ report }: { report: ComparisonReport }) {
  const counts = report.variants.flatMap(({ repeatRates }) => repeatRates.map(({ repeats }) => repeats));
  const shown = [...new Set(counts)].filter((count) => count > 1).toSorted((one, other) => one - other);
  if (shown.length === 0) return null;
  const cell = ({ mean, interval }: { mean: number; interval: readonly [number, number] | null }) =>
    `${percent(mean)}${interval ? ` (${Math.round(interval[0] * 100)} to ${Math.round(interval[1] * 100)})` : ''}`;
  return (
    <section className="result-chart" aria-label="Repeats">
      <div className="header">
        <h3>Repeats</h3>
        <span className="caption tertiary truncate">Of so many repeats of a row, with 95 % intervals</span>
      </div>
      <table className="result-table">
        <thead>
          <tr>
            <th scope="col">Variant</th>
            {shown.flatMap((count) => [
              <th key={`any-${count}`} scope="col">
                At least 1 of {count} passes
              </th>,
              <th key={`all-${count}`} scope="col">
                All {count} pass
              </th>,
            ])}
          </tr>
        </thead>
        <tbody>
          {report.variants.map((variant) => (
            <tr key={variant.name}>
              <th scope="row">{variant.name}</th>
              {shown.flatMap((count) => {
                const found = variant.repeatRates.find(({ repeats }) => repeats === count);
                return [
                  <td key={`any-${count}`}>{found ? cell(found.anyPasses) : '–'}</td>,
                  <td key={`all-${count}`}>{found ? cell(found.allPass) : '–'}</td>,
                ];
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
