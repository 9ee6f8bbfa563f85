import { clamp, defaultConfidence, type Interval } from './proportions.ts';
import { rowsForRates } from './rows-needed.ts';

/** What is compared. Pass rates and scores are better if higher, costs and latencies if lower. */
export type Measure = 'passRate' | 'score' | 'cost' | 'latency';

/** `unclear`: the interval of the difference includes 0. */
export type Verdict = 'better' | 'worse' | 'unclear';

/** The largest dataset. */
const maxRows = 100_000;

const words: Readonly<Record<Measure, readonly [better: string, worse: string]>> = {
  passRate: ['better', 'worse'],
  score: ['better', 'worse'],
  cost: ['cheaper', 'more expensive'],
  latency: ['faster', 'slower'],
};

interface Unit {
  readonly scale: number;
  readonly before: string;
  readonly after: string;
}

function unitOf(measure: Measure, largest: number): Unit {
  if (measure === 'passRate') return { scale: 100, before: '', after: ' points' };
  if (measure === 'cost') return { scale: 1, before: '$', after: ' a run' };
  if (measure === 'score') return { scale: 1, before: '', after: '' };
  return largest >= 1000 ? { scale: 0.001, before: '', after: ' s' } : { scale: 1, before: '', after: ' ms' };
}

type Ends = [low: number, middle: number, high: number];

/** As many digits as the interval justifies, and so many that an end near 0 isn't rounded to 0 if that decides the verdict. */
export function digitsFor([low, middle, high]: Ends, isClear: boolean): number {
  const digitsOf = (size: number) => (size > 0 ? -Math.floor(Math.log10(size)) : 0);
  const forWidth = digitsOf((high - low) / 2 || Math.abs(middle) / 10);
  const forEnd = isClear ? digitsOf(Math.min(Math.abs(low), Math.abs(high))) : 0;
  return clamp(Math.max(forWidth, forEnd), [0, 8]);
}

function roundedUp(rows: number): string {
  const step = 10 ** Math.max(Math.floor(Math.log10(rows)) - 1, 0);
  return (Math.ceil(rows / step) * step).toLocaleString('en-US');
}

function plural(rows: number): string {
  return rows === 1 ? '1 row' : `${rows.toLocaleString('en-US')} rows`;
}

export interface Finding {
  readonly measure: Measure;
  /** Of the variant that the sentence is about. */
  readonly name: string;
  readonly estimate: number;
  readonly interval: Interval | null;
  readonly verdict: Verdict;
  /** Rows that both variants have. */
  readonly rows: number;
  /** Rows of the dataset while it runs; null for the end. */
  readonly rowsPlanned: number | null;
  readonly rowsNeeded: number | null;
}

/** Says whether a variant is better, with the interval and the rows, or how many rows would tell. Never only a percentage. */
export function describeDifference(finding: Finding): string {
  const { measure, name, estimate, interval, verdict, rows, rowsPlanned, rowsNeeded } = finding;
  if (rows === 0) return 'Cannot tell: no row has a result of both variants';
  const rowText = rowsPlanned === null ? plural(rows) : `${rows.toLocaleString('en-US')} of ${plural(rowsPlanned)}`;
  const start = rowsPlanned === null ? '' : 'So far: ';
  if (!interval) return `${start}Cannot tell from ${rowText}`;

  const unit = unitOf(measure, Math.max(...interval.map(Math.abs)));
  const values = [interval[0], estimate, interval[1]].map((value) => value * unit.scale) as Ends;
  const digits = digitsFor(values, verdict !== 'unclear');
  const format = (value: number, before = '') => {
    const text = Math.abs(value).toLocaleString('en-US', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    return `${value < 0 && /[1-9]/.test(text) ? '−' : ''}${before}${text}`;
  };
  if (verdict === 'unclear') {
    const [low, , high] = values;
    const range = `95 %: ${format(low, unit.before)} to ${format(high, unit.before)}${unit.after}`;
    return `${start}Cannot tell (${range}), ${rowText}: ${remedy(rowsNeeded)}`;
  }
  const [nearest, middle, farthest] = values.map(Math.abs).toSorted((one, other) => one - other) as Ends;
  const comparative = words[measure][verdict === 'better' ? 0 : 1];
  const size = `${format(middle, unit.before)}${unit.after} (95 %: ${format(nearest)} to ${format(farthest)})`;
  return `${start}${name} is ${comparative} by ${size}, ${rowText}`;
}

function remedy(rowsNeeded: number | null): string {
  if (rowsNeeded === null) return 'no difference seen';
  if (rowsNeeded > maxRows) return `more than ${maxRows.toLocaleString('en-US')} rows would`;
  return `about ${roundedUp(rowsNeeded)} rows would`;
}

/** The share of rows that only one of two variants passes, before anything is known about them. */
const assumedDiscordance = 0.2;

/** Says before a comparison which difference of pass rates so many rows can detect. Null for one variant, which is compared with none. */
export function describeDetectable(rows: number, variants: number): string | null {
  if (variants < 2 || rows < 1) return null;
  const confidence = 1 - (1 - defaultConfidence) / (variants - 1);
  const needed = (points: number) => rowsForRates(points / 100, assumedDiscordance, confidence) ?? Infinity;
  const assumption = 'if two variants differ on one row in five';
  const points = Array.from({ length: 100 }, (_, index) => index + 1).find((one) => needed(one) <= rows);
  if (points === undefined)
    return `${plural(rows)} can't detect a difference. To detect 20 points, use about ${roundedUp(needed(20))}.`;
  const start = `${plural(rows)} can detect a difference of ${points} points or more, ${assumption}.`;
  const half = Math.floor(points / 2);
  return half < 1 ? start : `${start} To detect ${half}, use about ${roundedUp(needed(half))}.`;
}
