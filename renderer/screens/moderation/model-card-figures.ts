import type { Category, ModerationPreset } from '../../../shared/contract/moderation.ts';

interface PresetFigures {
  readonly precision: string;
  readonly recall: string;
}

/** One line of the table in `docs/moderation-model-card.md`, as it is written there. */
interface CardLine {
  readonly category: Category;
  readonly presets: Readonly<Record<ModerationPreset, PresetFigures>>;
}

const line = (category: Category, ...figures: readonly [string, string][]): CardLine => {
  const [strict, balanced, lenient] = figures.map(([precision, recall]) => ({ precision, recall }));
  return { category, presets: { strict: strict!, balanced: balanced!, lenient: lenient! } };
};

/** Measured precision and recall of the on-device classifier for each preset; the same as in the model card. */
export const cardFigures: readonly CardLine[] = [
  line('sexual', ['.88', '.93'], ['.93', '.91'], ['.94', '.89']),
  line('hatred', ['.46', '.95'], ['.56', '.80'], ['.67', '.63']),
  line('harassment', ['.42', '.55'], ['.64', '.48'], ['.69', '.44']),
  line('selfHarm', ['.57', '.88'], ['.62', '.85'], ['.88', '.48']),
  line('violence', ['.27', '.81'], ['.41', '.52'], ['.82', '.25']),
];
