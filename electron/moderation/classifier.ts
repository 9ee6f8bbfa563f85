import { categories, type Category, type Highlight } from '../../shared/contract/moderation.ts';

export type CategoryValues<Value> = Readonly<Record<Category, Value>>;

/** Makes one value per category, in the order of the contract. */
export function forEachCategory<Value>(valueOf: (category: Category) => Value): Record<Category, Value> {
  return Object.fromEntries(categories.map((category) => [category, valueOf(category)])) as Record<Category, Value>;
}

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
  /** Scores from which on a text is flagged, unless the person chose others. */
  readonly defaultThresholds: CategoryValues<number>;
  classify(input: string, options: ClassifyOptions): Promise<Classification>;
}
