import { categories as allCategories, type Category, type GuardFinding } from '../../shared/contract/moderation.ts';
import { AppError } from '../../shared/app-error.ts';

/** What a classifier says of one text. */
export interface Verdict {
  /** Which classifier answered. */
  readonly model: string;
  /** Whether each category is at or above its threshold. */
  readonly categories: Readonly<Record<Category, boolean>>;
  readonly categoryScores: Readonly<Record<Category, number>>;
}

/** Judges texts of any length in bounded time. Throws `AppError` when it cannot, an `AbortError` when the signal ended it. */
export interface TextClassifier {
  classify(text: string, options: { readonly signal: AbortSignal }): Promise<Verdict>;
}

/** One side of a run with everything that its checks have found so far; an answer is checked in pieces. */
export class GuardedText {
  readonly mode: 'note' | 'refuse';
  /** The part of the text that its caller does not get. */
  withheld: string | null = null;
  readonly #classifier: TextClassifier;
  readonly #categories = new Set<Category>();
  #scores: Record<Category, number> | null = null;
  #model = '';
  #milliseconds = 0;
  #failure: string | null = null;

  constructor(classifier: TextClassifier, mode: 'note' | 'refuse') {
    this.#classifier = classifier;
    this.mode = mode;
  }

  /** Why the last check could not be made. */
  get failure(): string | null {
    return this.#failure;
  }

  get hasChecked(): boolean {
    return this.#scores !== null || this.#failure !== null;
  }

  /** The categories that this piece is flagged for; none when it could not be checked, which `failure` then tells. */
  async check(piece: string, { signal }: { signal: AbortSignal }): Promise<Category[]> {
    const startedAt = performance.now();
    try {
      const { model, categories, categoryScores } = await this.#classifier.classify(piece, { signal });
      this.#model = model;
      const flagged = allCategories.filter((category) => categories[category]);
      for (const category of flagged) this.#categories.add(category);
      this.#raise(categoryScores);
      return flagged;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failure = error instanceof AppError ? error.message : 'The classifier failed.';
      return [];
    } finally {
      this.#milliseconds += performance.now() - startedAt;
    }
  }

  #raise(scores: Readonly<Record<Category, number>>): void {
    const before = this.#scores;
    const raised = allCategories.map((category) => [category, Math.max(before?.[category] ?? 0, scores[category])]);
    this.#scores = Object.fromEntries(raised) as Record<Category, number>;
  }

  finding(): GuardFinding {
    return {
      mode: this.mode,
      model: this.#model,
      categories: allCategories.filter((category) => this.#categories.has(category)),
      categoryScores: this.#scores,
      milliseconds: this.#milliseconds,
      withheld: this.withheld,
      failure: this.#failure,
    };
  }
}
