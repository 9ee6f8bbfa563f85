import { type CSSProperties, memo } from 'react';
import type { ComparisonReport } from '../../../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { Badge } from '../../../components/badges.tsx';
import { classNames } from '../../../components/class-names.ts';
import { formatCost, formatRange, formatRunDuration, formatWhole } from '../../../components/format.ts';
import { differenceWords, letterOf, positionOn, rateScale, type Scale } from './cell-model.ts';
import { shownChecks, shownMarks } from './grid-row.tsx';
import { VariantMenu } from './variant-menu.tsx';

type VariantReport = ComparisonReport['variants'][number];

const percent = (share: number) => Math.round(share * 100);

interface IntervalProps {
  interval: readonly [number, number] | null;
  at: number;
  scale: Scale;
  /** The value of the baseline; null for the baseline itself. */
  reference: number | null;
  label: string;
}

/** A value with its interval on a scale, and the baseline as a dashed line. */
export function IntervalBar({ interval, at, scale, reference, label }: IntervalProps) {
  const [low, high] = interval ?? [at, at];
  const style = {
    '--low': `${positionOn(scale, low)}%`,
    '--high': `${positionOn(scale, high)}%`,
    '--at': `${positionOn(scale, at)}%`,
    '--reference': `${positionOn(scale, reference ?? at)}%`,
  } as CSSProperties;
  return (
    <div
      className={classNames('interval', reference === null && 'interval--base')}
      style={style}
      role="img"
      aria-label={label}
    >
      {interval && <b />}
      {reference !== null && <i />}
    </div>
  );
}

function Rate({
  report,
  scale,
  baseline,
  isFinal,
  hasChecks,
}: {
  report: VariantReport;
  scale: Scale;
  baseline: VariantReport;
  isFinal: boolean;
  hasChecks: boolean;
}) {
  const { passRate, interval, rows, passes, difference } = report;
  if (passRate === null) {
    const words = isFinal ? 'Nothing could be judged' : 'Nothing is judged yet';
    return <p className="result__diff caption tertiary">{hasChecks ? words : 'No checks, so no pass rate'}</p>;
  }
  const range = interval
    ? `95 % between ${percent(interval[0])} and ${percent(interval[1])}`
    : 'too few rows for an interval';
  const words = difference && differenceWords(difference, isFinal);
  return (
    <>
      <div className="row result__rate" title={`${formatWhole(passes)} of ${formatWhole(rows)} rows pass`}>
        <span className="result__figure">
          {percent(passRate)}
          <small>%</small>
        </span>
        <IntervalBar
          interval={interval}
          at={passRate}
          scale={scale}
          reference={report === baseline ? null : baseline.passRate}
          label={`${percent(passRate)} percent, ${range}`}
        />
      </div>
      <p className="result__diff" title={difference?.sentence}>
        <span className={classNames('medium', words?.tone)}>{words?.word ?? 'Baseline'}</span>
        <span className="caption tertiary">{words?.detail ?? range}</span>
      </p>
    </>
  );
}

function Totals({ cost, latency, tokens }: VariantReport) {
  return (
    <dl className="totals">
      <div>
        <dt>Cost</dt>
        <dd>{cost ? formatCost(cost.total) : '–'}</dd>
      </div>
      <div>
        <dt>p50</dt>
        <dd>{latency ? formatRunDuration(latency.p50) : '–'}</dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>{tokens === null ? '–' : formatWhole(Math.round(tokens))}</dd>
      </div>
    </dl>
  );
}

function CheckRate({ variant, check }: { variant: VariantReport; check: number }) {
  const { passes, judged } = variant.checks[check] ?? { passes: 0, judged: 0 };
  const words = `${variant.name}: ${formatWhole(passes)} of ${formatWhole(judged)} answers pass`;
  return <span title={words}>{judged === 0 ? '–' : percent(passes / judged)}</span>;
}

/** From the worst to the best variant, in percent. */
function RateRange({ variants, check }: { variants: readonly VariantReport[]; check: number }) {
  const rates = variants.flatMap(({ checks }) => {
    const { passes, judged } = checks[check] ?? { passes: 0, judged: 0 };
    return judged === 0 ? [] : percent(passes / judged);
  });
  if (rates.length === 0) return <span>–</span>;
  return <span title="From the worst to the best variant">{formatRange(rangeOf(rates), String)}</span>;
}

const rangeOf = (values: readonly number[]) => ({ low: Math.min(...values), high: Math.max(...values) });

/** Pass rates of each check, in the same order as in the rows. */
function CheckRates({ report, checks }: { report: ComparisonReport; checks: readonly string[] }) {
  const shown = checks.length > shownChecks ? checks.slice(0, shownChecks - 1) : checks;
  const hasMarks = report.variants.length <= shownMarks;
  return (
    <>
      <span className="checks__row checks__title">
        <span className="medium">Checks</span>
        {hasMarks &&
          report.variants.map(({ name }, variant) => (
            <span key={name} title={name}>
              {letterOf(variant)}
            </span>
          ))}
      </span>
      {shown.map((name, check) => (
        <span key={check} className="checks__row">
          <span className="truncate" title={name}>
            {name}
          </span>
          {hasMarks ? (
            report.variants.map((variant) => <CheckRate key={variant.name} variant={variant} check={check} />)
          ) : (
            <RateRange variants={report.variants} check={check} />
          )}
        </span>
      ))}
      <span className="grow" />
      {checks.length > 0 && <span className="caption tertiary">Answers that pass, in %</span>}
    </>
  );
}

interface GridHeadProps {
  comparison: Comparison;
  report: ComparisonReport;
  baseline: string;
  checks: readonly string[];
  onBaseline: (name: string) => void;
}

/** For each variant its pass rate with an interval, the difference in words, cost, time and tokens. */
export const GridHead = memo(function GridHead({ comparison, report, baseline, checks, onBaseline }: GridHeadProps) {
  const scale = rateScale(report.variants);
  const base = report.variants.find(({ name }) => name === report.baseline) ?? report.variants[0]!;
  const hasRates = report.variants.some(({ passRate }) => passRate !== null);
  return (
    <div className="results__row results__head" role="row" aria-rowindex={1}>
      <div className="cell cell--input" role="columnheader">
        <span className="medium">{comparison.titleColumn ?? 'Row'}</span>
        <span className="grow" />
        {hasRates && (
          <span className="caption tertiary">
            Bar: 95 % interval, scale {percent(scale.low)} to {percent(scale.high)} %. Dashed: baseline.
          </span>
        )}
      </div>
      <div
        className={classNames('cell checks', report.variants.length > shownMarks && 'checks--many')}
        role="columnheader"
      >
        <CheckRates report={report} checks={checks} />
      </div>
      {comparison.variants.map((variant, index) => {
        const found = report.variants[index]!;
        return (
          <div key={variant.name} className="cell" role="columnheader">
            <div className="row">
              <span className="column-letter">{letterOf(index)}</span>
              <span className="strong truncate grow" title={`${variant.name}, ${variant.model}`}>
                {variant.name}
              </span>
              {variant.versionNumber !== null && <Badge isOutlined>v{variant.versionNumber}</Badge>}
              <VariantMenu
                comparison={comparison}
                variant={variant}
                letter={letterOf(index)}
                isBaseline={variant.name === baseline}
                onBaseline={() => onBaseline(variant.name)}
              />
            </div>
            <Rate report={found} scale={scale} baseline={base} isFinal={report.isFinal} hasChecks={checks.length > 0} />
            <span className="grow" />
            <Totals {...found} />
          </div>
        );
      })}
    </div>
  );
});
