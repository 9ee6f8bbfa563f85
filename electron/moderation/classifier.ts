import { categories, type Category, type Highlight, type ModerationPreset } from '../../shared/contract/moderation.ts';

export type CategoryValues<Value> = Readonly<Record<Category, Value>>;

/** Makes one value per category, in the order of the contract. */
export function forEachCategory<Value>(valueOf: (category: Category) => Value): Record<Category, Value> {
  return Object.fromEntries(categories.map((category) => [category, valueOf(category)])) as Record<Category, Value>;
}

export type Presets = Readonly<Record<ModerationPreset, CategoryValues<number>>>;

/** Presets of classifiers that we have not measured: the same for each category. */
export const unmeasuredPresets: Presets = {
  strict: forEachCategory(() => 0.3),
  balanced: forEachCategory(() => 0.5),
  lenient: forEachCategory(() => 0.7),
};

/** What a classifier found, whoever it is. */
export interface Classification {
  /** Which classifier answered: `on-device/<name>` or `<aiSystem>/<model>`. */
  readonly model: string;
  readonly scores: CategoryValues<number>;
  readonly highlights: readonly Highlight[];
  /** What a provider answered, word for word; null on the device. */
  readonly rawAnswer: unknown;
}

export interface ClassifyOptions {
  /** Scores from which on a passage is worth pointing at. */
  readonly thresholds: CategoryValues<number>;
  readonly signal: AbortSignal;
}

/** One way to judge a text. Throws `AppError` with the code that the failure has for a caller. */
export interface Classifier {
  /** Minimum scores at which a text is flagged, for each preset. */
  readonly presets: Presets;
  classify(input: string, options: ClassifyOptions): Promise<Classification>;
}
