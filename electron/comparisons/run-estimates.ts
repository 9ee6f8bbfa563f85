import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Variant } from '../../shared/contract/comparisons.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import type { Judge } from '../../shared/contract/judges.ts';
import { clamp } from '../../shared/statistics/proportions.ts';
import { estimateTokens } from '../common/estimate-tokens.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { EarlierRun, EarlierRuns } from '../storage/earlier-runs.ts';

export interface EstimateOptions {
  readonly providers: Pick<Providers, 'resolve' | 'cost'>;
  readonly earlierRuns: EarlierRuns;
  /** Null for a judge that was deleted. */
  readonly findJudge: (id: string) => Judge | null;
}

export interface Range {
  readonly low: number;
  readonly high: number;
}

export const none: Range = { low: 0, high: 0 };
export const plus = (one: Range, other: Range): Range => ({ low: one.low + other.low, high: one.high + other.high });
export const times = ({ low, high }: Range, factor: number): Range => ({ low: low * factor, high: high * factor });

/** The sum; null if one of them is unknown. */
export function sumOf(ranges: readonly (Range | null)[]): Range | null {
  return ranges.reduce((sum, range) => sum && range && plus(sum, range), none);
}

/** Rows from which the cost is estimated. */
export const sampledRows = 20;
export const sampleBytes = 1_048_576;
/** Fewer say too little about the next ones. */
const minEarlierRuns = 5;
/** Bytes of prompts that are rendered for each variant. */
const maxRenderedBytes = 2 * 1_048_576;

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Where the mean of so many further values will be, about 95 %. */
function furtherMean(values: readonly number[], further: number): Range {
  const mean = meanOf(values);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(values.length - 1, 1);
  const margin = 2 * Math.sqrt(variance * (1 / values.length + 1 / further));
  const seen = [Math.min(...values), Math.max(...values)] as const;
  return { low: clamp(mean - margin, seen), high: clamp(mean + margin, seen) };
}

/** Where the mean of all rows is, from the first ones. */
function meanOfRows(values: readonly number[], rowCount: number): Range {
  const further = rowCount - values.length;
  const mean = meanOf(values);
  if (further <= 0) return { low: mean, high: mean };
  return times(
    plus(times(furtherMean(values, further), further), times({ low: mean, high: mean }, values.length)),
    1 / rowCount,
  );
}

/** The prompts of the first rows. */
interface PromptSample {
  readonly bytes: readonly number[];
  readonly lowTokens: readonly number[];
  readonly highTokens: readonly number[];
}

export async function samplePrompts(
  rows: readonly DatasetRow[],
  render: (row: DatasetRow) => string,
): Promise<PromptSample> {
  const [bytes, lowTokens, highTokens]: number[][] = [[], [], []];
  let rendered = 0;
  for (const row of rows) {
    if (rendered > maxRenderedBytes) break;
    const text = render(row);
    rendered += text.length;
    bytes!.push(Buffer.byteLength(text));
    lowTokens!.push(text.length / 5);
    highTokens!.push(estimateTokens(text));
    await nextTurn();
  }
  return { bytes: bytes!, lowTokens: lowTokens!, highTokens: highTokens! };
}

/** What is known about the runs of a variant or a judge. */
export interface KnownRuns {
  readonly sample: PromptSample;
  readonly rowCount: number;
  readonly runs: number;
  readonly earlier: readonly EarlierRun[];
  /** Tokens of an answer without earlier runs. */
  readonly guess: Range;
  /** Tokens that the prompts have beyond the sample, such as passages; null if none. */
  readonly more: Range | null;
}

/** Tokens of a prompt: as many per byte as earlier runs had, or a guess for any tokenizer. */
function inputTokens({ sample, earlier, rowCount, runs, more }: KnownRuns): Range {
  const { bytes, lowTokens, highTokens } = sample;
  if (earlier.length > 0) {
    const counted = earlier.map(({ promptTokens }) => promptTokens);
    const tokensPerByte = meanOf(counted) / meanOf(earlier.map(({ promptBytes }) => promptBytes));
    if (more || !Number.isFinite(tokensPerByte)) return furtherMean(counted, runs);
    return times(meanOfRows(bytes, rowCount), tokensPerByte);
  }
  const shown = { low: meanOfRows(lowTokens, rowCount).low, high: meanOfRows(highTokens, rowCount).high };
  return plus(shown, more ?? none);
}

function outputTokens({ earlier, runs, guess }: KnownRuns): Range {
  if (earlier.length === 0) return guess;
  return furtherMean(
    earlier.map(({ completionTokens }) => completionTokens),
    runs,
  );
}

/** What the runs of a variant or a judge take together. */
export interface Part {
  readonly runs: number;
  readonly cost: Range | null;
  readonly tokens: Range;
  readonly earlierRuns: number;
  /** Tokens of one answer. */
  readonly output: Range;
}

type NamedModel = Pick<Variant, 'aiSystem' | 'model'>;

export function partOf(known: KnownRuns, model: NamedModel, { providers }: EstimateOptions): Part {
  const [input, output] = [inputTokens(known), outputTokens(known)];
  const costOf = (end: keyof Range, target: ReturnType<Providers['resolve']>) => {
    const [prompt, completion] = [Math.round(input[end]), Math.round(output[end])];
    const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
    return providers.cost(target, usage, null)?.amount ?? null;
  };
  let cost: Range | null = null;
  try {
    const target = providers.resolve(model.aiSystem, model.model);
    const [low, high] = [costOf('low', target), costOf('high', target)];
    if (low !== null && high !== null) cost = times({ low, high }, known.runs);
  } catch {
    // A provider without a key has no price here. The comparison says so when it starts.
  }
  const { runs, earlier } = known;
  const tokens = times(plus(input, output), runs);
  return {
    runs,
    cost,
    tokens: { low: Math.floor(tokens.low), high: Math.ceil(tokens.high) },
    earlierRuns: earlier.length,
    output,
  };
}

/** Milliseconds of one run; null if nothing is known. */
export function timeOf(
  earlier: readonly EarlierRun[],
  runs: number,
  model: NamedModel,
  { earlierRuns }: EstimateOptions,
) {
  const own = earlier.flatMap(({ totalMs }) => totalMs ?? []);
  const known = own.length >= minEarlierRuns ? own : earlierRuns.timesOf(model);
  return known.length === 0 ? null : furtherMean(known, runs);
}

/** Runs from which something is known; none if they are too few. */
export const ifEnough = (earlier: EarlierRun[]): EarlierRun[] => (earlier.length < minEarlierRuns ? [] : earlier);
