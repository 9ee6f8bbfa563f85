import type { ComparedCell, ComparedRow, ComparisonReport } from '../../../../shared/contract/comparison-results.ts';
import type { Check, CheckResult } from '../../../../shared/contract/checks.ts';
import type { Comparison } from '../../../../shared/contract/comparisons.ts';
import { digitsFor } from '../../../../shared/statistics/sentences.ts';
import { formatCost, formatRunDuration, formatWhole } from '../../../components/format.ts';

export type Difference = NonNullable<ComparisonReport['variants'][number]['difference']>;

/** The open cell: the index of its row in the list, and its variant. */
export interface OpenCell {
  index: number;
  variant: number;
}

/** `A` to `Z`. */
export function letterOf(variant: number): string {
  return String.fromCharCode(65 + variant);
}

const checkNames: Readonly<Record<Check['kind'], string>> = {
  equals: 'Equals',
  contains: 'Contains',
  regularExpression: 'Pattern',
  jsonSchema: 'Schema',
  field: 'Field',
  length: 'Length',
  latency: 'Latency',
  cost: 'Cost',
  similarity: 'Similarity',
  moderation: 'Moderation',
  refusal: 'Refusal',
  toolCall: 'Tool call',
  citation: 'Citation',
  javascript: 'Script',
  judge: 'Judge',
  all: 'All of',
  any: 'Any of',
};

/** The name that a person gave a check, or its kind with what it is about. */
export function checkName(check: Check): string {
  if (check.name !== undefined) return check.name;
  const name = check.kind === 'field' ? `Field ${check.path}` : checkNames[check.kind];
  return check.not ? `Not: ${name}` : name;
}

/** Whether a judge is among the checks, also of those inside others. */
export function hasJudgeIn(checks: readonly Check[]): boolean {
  return checks.some((check) => ('checks' in check ? hasJudgeIn(check.checks) : check.kind === 'judge'));
}

/** The cells of one variant in a row, in the order of its repeats. */
export function repeatsOf({ cells }: ComparedRow, variant: number, repeats: number): ComparedCell[] {
  return cells.slice(variant * repeats, (variant + 1) * repeats);
}

export type CellTone = 'positive' | 'negative' | 'caution' | 'tertiary' | 'accent';

/** What a cell of the table says. */
export interface CellSummary {
  word: string;
  tone: CellTone;
  /** The repeat whose answer is shown, from 0: the first that fails, or else the first with an answer or a part of it. */
  shown: number;
  /** For each repeat the number of its answer, from 0 in the order of appearance; null without an answer. */
  answers: (number | null)[];
  distinct: number;
  /** Repeats without a usable answer. */
  failed: number;
}

const stateWords: Partial<Record<ComparedCell['state'], [word: string, tone: CellTone]>> = {
  Running: ['Running', 'accent'],
  Waiting: ['Queued', 'tertiary'],
  Stopped: ['Stopped', 'tertiary'],
  Skipped: ['Skipped', 'caution'],
  Failed: ['Failed', 'negative'],
};

function verdictOf(repeats: readonly ComparedCell[]): [word: string, tone: CellTone] {
  const completed = repeats.filter(({ state }) => state === 'Completed');
  const judged = completed.filter(({ passed }) => passed !== null);
  const passes = judged.filter(({ passed }) => passed === true).length;
  if (completed.length === 0) {
    for (const state of ['Running', 'Waiting', 'Stopped', 'Skipped', 'Failed'] as const)
      if (repeats.some((cell) => cell.state === state)) return stateWords[state]!;
  }
  if (judged.length === 0)
    return completed.every(({ checks }) => checks.length === 0) ? ['Done', 'tertiary'] : ['Not judged', 'tertiary'];
  if (passes === judged.length) return ['Passes', 'positive'];
  if (passes === 0) return ['Fails', 'negative'];
  return [`Passes ${passes} of ${judged.length}`, 'caution'];
}

/** Sums up the repeats of a variant in a row. */
export function summarize(repeats: readonly ComparedCell[]): CellSummary {
  const numbers = new Map<string, number>();
  const answers = repeats.map(({ state, answerHash }) => {
    if (state !== 'Completed' || answerHash === null) return null;
    const number = numbers.get(answerHash) ?? numbers.size;
    numbers.set(answerHash, number);
    return number;
  });
  const [word, tone] = verdictOf(repeats);
  const failing = repeats.findIndex(({ passed }) => passed === false);
  const completed = repeats.findIndex(({ state }) => state === 'Completed');
  const answered = completed >= 0 ? completed : repeats.findIndex(({ answer }) => answer !== null);
  return {
    word,
    tone,
    shown: Math.max(0, failing >= 0 ? failing : answered),
    answers,
    distinct: numbers.size,
    failed: repeats.filter(({ state }) => state === 'Failed' || state === 'Skipped').length,
  };
}

/** `3 identical`, `2 distinct`, `1 failed`. */
export function repeatWords({ answers, distinct, failed }: CellSummary): string {
  const known = answers.filter((answer) => answer !== null).length;
  if (failed > 0) return `${failed} failed`;
  if (known === 0) return '';
  if (known < answers.length) return `${known} of ${answers.length}`;
  return distinct === 1 ? `${known} identical` : `${distinct} distinct`;
}

/** `1 and 3 identical`; empty unless some repeats are, and not all. */
export function identicalWords({ answers }: CellSummary): string {
  const groups = Map.groupBy(answers.keys(), (repeat) => answers[repeat]!);
  if (groups.size < 2) return '';
  const equal = [...groups].filter(([answer, repeats]) => answer !== null && repeats.length > 1);
  return equal.map(([, repeats]) => `${repeats.map((repeat) => repeat + 1).join(' and ')} identical`).join(', ');
}

export interface TextPart {
  text: string;
  isQuoted: boolean;
}

/** Quotes in a reason, longest first. A very short one says nothing about where it is. */
function quotesIn(reason: string): string[] {
  const quotes = [...reason.matchAll(/"((?:[^"\\]|\\.){3,400})"|“([^”]{3,400})”/g)].map(([, plain, curly]) => {
    if (curly !== undefined) return curly;
    try {
      return JSON.parse(`"${plain}"`) as string;
    } catch {
      return plain!;
    }
  });
  return quotes.toSorted((one, other) => other.length - one.length);
}

/** An answer with the part highlighted that a failed check quotes. */
export function quotedParts(answer: string, checks: readonly CheckResult[]): TextPart[] {
  for (const { pass, reason } of checks) {
    if (pass !== false) continue;
    for (const quote of quotesIn(reason)) {
      const start = answer.indexOf(quote);
      if (start < 0) continue;
      const end = start + quote.length;
      return [
        { text: answer.slice(0, start), isQuoted: false },
        { text: quote, isQuoted: true },
        { text: answer.slice(end), isQuoted: false },
      ].filter(({ text }) => text !== '');
    }
  }
  return answer === '' ? [] : [{ text: answer, isQuoted: false }];
}

/** Fields that a cell has as expected: from the expected object, or else from the checks of fields. Null without any. */
export function fieldCount({
  fields,
  checks,
}: ComparedCell): { agreeing: number; total: number; wrong: string[] } | null {
  if (fields) return fields;
  const results = checks.filter(({ kind, pass }) => kind === 'field' && pass !== null);
  if (results.length < 2) return null;
  const wrong = results.filter(({ pass }) => pass === false).map(({ name, reason }) => name ?? reason);
  return { agreeing: results.length - wrong.length, total: results.length, wrong };
}

/** A difference in words: `+9 points` with `95 % between +2 and +16`, or `Cannot tell yet`. */
export function differenceWords(
  { verdict, estimate, interval, rows, rowsNeeded }: Difference,
  isFinal: boolean,
): { word: string; detail: string; tone: 'positive' | 'negative' | 'secondary' } {
  if (verdict === 'unclear' || !interval) {
    const detail =
      rows === 0
        ? 'No row has both results'
        : rowsNeeded === null
          ? 'No difference seen'
          : rowsNeeded > 100_000
            ? 'More than 100,000 rows would'
            : `About ${formatWhole(rounded(rowsNeeded))} rows would`;
    return { word: isFinal ? 'Cannot tell' : 'Cannot tell yet', detail, tone: 'secondary' };
  }
  const ends = [interval[0], estimate, interval[1]].map((share) => share * 100) as [number, number, number];
  const digits = digitsFor(ends, true);
  const [low, middle, high] = ends.map((points) => `${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(digits)}`);
  return {
    word: `${middle} ${/^.1$/.test(middle!) ? 'point' : 'points'}`,
    detail: `95 % between ${low} and ${high}`,
    tone: verdict === 'better' ? 'positive' : 'negative',
  };
}

/** Two digits, rounded up: more would pretend to be exact. */
function rounded(rows: number): number {
  const step = 10 ** Math.max(Math.floor(Math.log10(rows)) - 1, 0);
  return Math.ceil(rows / step) * step;
}

export interface Scale {
  low: number;
  high: number;
}

/** A scale for all intervals: it starts where the lowest does, in steps of ten points. */
export function rateScale(variants: ComparisonReport['variants']): Scale {
  const ends = variants.flatMap(({ interval }) => interval ?? []);
  if (ends.length === 0) return { low: 0, high: 1 };
  const low = Math.floor(Math.min(...ends) * 10) / 10;
  const high = Math.ceil(Math.max(...ends) * 10) / 10;
  return high - low < 0.1 ? { low: Math.max(0, high - 0.1), high } : { low, high };
}

/** The place of a value on a scale, in percent. */
export function positionOn({ low, high }: Scale, value: number): number {
  return high === low ? 0 : Math.min(100, Math.max(0, ((value - low) / (high - low)) * 100));
}

/** The title and the text of a row: the values of its title column, and of the others that are text. */
export function rowWords(
  { values }: ComparedRow,
  columns: readonly { name: string; type: string }[],
  titleColumn: string | null,
) {
  const asText = (value: unknown) =>
    value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const title = titleColumn === null ? '' : asText(values[titleColumn]);
  const inputs = columns.filter(({ name, type }) => type !== 'expected' && name !== titleColumn);
  const texts = inputs
    .map(({ name, type }) => (type === 'file' ? `File in ${name}` : asText(values[name])))
    .filter((text) => text !== '');
  return { title, text: texts.join('\n') };
}

/** `1.8 s` and `$0.0006` of a cell. */
export function cellNumbers({ totalMs, cost }: ComparedCell): string[] {
  return [totalMs === null ? [] : formatRunDuration(totalMs), cost === null ? [] : formatCost(cost)].flat();
}

/** Elapsed and remaining time by the rate since the window saw it start. */
export function timeWords(
  { startedAt, completedAt, state, cells }: Comparison,
  { now, perSecond }: { now: number | null; perSecond: number | null },
  formatDuration: (milliseconds: number) => string,
): string[] {
  if (startedAt === null) return [];
  if (completedAt !== null) return [`took ${formatDuration(Date.parse(completedAt) - Date.parse(startedAt))}`];
  if (state !== 'Running' || now === null) return [];
  const left = cells.waiting + cells.running;
  return [
    `${formatDuration(Math.max(0, now - Date.parse(startedAt)))} elapsed`,
    ...(perSecond && left > 0 ? [`about ${formatDuration((left / perSecond) * 1000)} left`] : []),
  ];
}
