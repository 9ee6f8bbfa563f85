import type { BatchResult, CategoryScores } from '../../../shared/contract/moderation-window.ts';
import { categories, type Category, type ModerationPreset } from '../../../shared/contract/moderation.ts';

/** Quality of a threshold on human-labelled texts; a figure without texts is null. */
export interface Quality {
  readonly category: Category;
  /** Texts with this label. */
  readonly positives: number;
  /** Texts with a label and a score. */
  readonly labelled: number;
  readonly flagged: number;
  readonly precision: number | null;
  readonly recall: number | null;
}

interface Judged {
  readonly score: number;
  readonly isPositive: boolean;
}

function judgedTexts(results: readonly BatchResult[], lane: number, category: Category): Judged[] {
  const at = categories.indexOf(category);
  return results.flatMap(({ labels, scores }) => {
    const isPositive = labels?.[category] ?? null;
    const score = scores[lane]?.[at];
    return isPositive === null || score === undefined ? [] : [{ score, isPositive }];
  });
}

const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);

/** Quality of the classifier at index `place`, at one threshold. */
export function qualityAt(
  results: readonly BatchResult[],
  lane: number,
  category: Category,
  threshold: number,
): Quality {
  let [positives, flagged, found] = [0, 0, 0];
  const judged = judgedTexts(results, lane, category);
  for (const { score, isPositive } of judged) {
    if (isPositive) positives += 1;
    if (score < threshold) continue;
    flagged += 1;
    if (isPositive) found += 1;
  }
  const figures = { precision: share(found, flagged), recall: share(found, positives) };
  return { category, positives, labelled: judged.length, flagged, ...figures };
}

export interface CurvePoint {
  readonly threshold: number;
  readonly precision: number | null;
  readonly recall: number | null;
}

const steps = 100;

/** Precision and recall at 0, 0.01, ... 1, in one pass over the texts sorted by score. */
export function curveOf(results: readonly BatchResult[], lane: number, category: Category): CurvePoint[] {
  const judged = judgedTexts(results, lane, category).toSorted((one, other) => other.score - one.score);
  const positives = judged.filter(({ isPositive }) => isPositive).length;
  const points: CurvePoint[] = [];
  let [flagged, found] = [0, 0];
  for (let step = steps; step >= 0; step -= 1) {
    const threshold = step / steps;
    for (let next = judged[flagged]; next && next.score >= threshold; next = judged[flagged]) {
      flagged += 1;
      if (next.isPositive) found += 1;
    }
    points.push({ threshold, precision: share(found, flagged), recall: share(found, positives) });
  }
  return points.toReversed();
}

/** The lowest threshold at which at least this share of the flags is right; null if there is none. */
export function thresholdFor(curve: readonly CurvePoint[], precision: number): CurvePoint | null {
  return curve.find((point) => (point.precision ?? 0) >= precision && (point.recall ?? 0) > 0) ?? null;
}

/** The flagged categories of a text; none without scores. */
export function flagsAt(scores: readonly number[] | null | undefined, thresholds: CategoryScores): Category[] {
  return scores ? categories.filter((category, at) => scores[at]! >= thresholds[category]) : [];
}

export interface FlaggedShare {
  /** Indices of the texts that the first classifier flags. */
  readonly flagged: readonly number[];
  /** Indices of the texts that the two classifiers flag for different categories. */
  readonly differ: readonly number[];
  /** Texts that the first classifier has scored. */
  readonly judged: number;
  /** Texts that every classifier has scored. */
  readonly compared: number;
}

export function flaggedShare(results: readonly BatchResult[], thresholds: CategoryScores): FlaggedShare {
  const flagged: number[] = [];
  const differ: number[] = [];
  let judged = 0;
  let compared = 0;
  for (const [index, { scores }] of results.entries()) {
    const [first, second] = scores;
    if (first) judged += 1;
    if (scores.every((each) => each !== null)) compared += 1;
    const flags = flagsAt(first, thresholds);
    if (flags.length > 0) flagged.push(index);
    if (first && second && flags.join() !== flagsAt(second, thresholds).join()) differ.push(index);
  }
  return { flagged, differ, judged, compared };
}

export function scoresOf(scores: readonly number[]): CategoryScores {
  return Object.fromEntries(categories.map((category, at) => [category, scores[at]!])) as CategoryScores;
}

export interface Nearest {
  readonly category: Category;
  readonly score: number;
  readonly threshold: number;
}

/** The category with the highest score relative to its threshold; null without scores. */
export function nearestCategory(scores: Partial<CategoryScores> | null, thresholds: CategoryScores): Nearest | null {
  const all = categories.flatMap((category): Nearest[] => {
    const score = scores?.[category];
    return score === undefined ? [] : [{ category, score, threshold: thresholds[category] }];
  });
  const closeness = ({ score, threshold }: Nearest) => (threshold === 0 ? Infinity : score / threshold);
  return all.toSorted((one, other) => closeness(other) - closeness(one))[0] ?? null;
}

/** `0.18 of 0.31`, with a third decimal if two would not show which is larger. */
export function writeNearest({ score, threshold }: Nearest): string {
  const decimals = score.toFixed(2) === threshold.toFixed(2) ? 3 : 2;
  return `${score.toFixed(decimals)} of ${threshold.toFixed(decimals)}`;
}

interface PresetFigures {
  readonly precision: string;
  readonly recall: string;
}

/** One row of the table in `docs/moderation-model-card.md`. */
interface CardLine {
  readonly category: Category;
  readonly presets: Readonly<Record<ModerationPreset, PresetFigures>>;
}

const line = (category: Category, ...figures: readonly [string, string][]): CardLine => {
  const [strict, balanced, lenient] = figures.map(([precision, recall]) => ({ precision, recall }));
  return { category, presets: { strict: strict!, balanced: balanced!, lenient: lenient! } };
};

/** Measured precision and recall of the on-device classifier for each preset, as in the model card. */
export const cardFigures: readonly CardLine[] = [
  line('sexual', ['.88', '.93'], ['.93', '.91'], ['.94', '.89']),
  line('hatred', ['.46', '.95'], ['.56', '.80'], ['.67', '.63']),
  line('harassment', ['.42', '.55'], ['.64', '.48'], ['.69', '.44']),
  line('selfHarm', ['.57', '.88'], ['.62', '.85'], ['.88', '.48']),
  line('violence', ['.27', '.81'], ['.41', '.52'], ['.82', '.25']),
];
