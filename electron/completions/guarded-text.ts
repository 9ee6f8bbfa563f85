import { categories as allCategories, type Category, type GuardFinding } from '../../shared/contract/moderation.ts';
import { AppError } from '../../shared/app-error.ts';
import type { ModelPart } from '../providers/provider.ts';
import type { Usage } from '../../shared/contract/completions.ts';

/** A classifier's verdict on one text. */
export interface Verdict {
  /** The classifier's model. */
  readonly model: string;
  /** Whether each category is at or above its threshold. */
  readonly categories: Readonly<Record<Category, boolean>>;
  readonly categoryScores: Readonly<Record<Category, number>>;
}

/** Classifies texts of any length in bounded time. Throws `AppError` if it can't, and `AbortError` after an abort. */
export interface TextClassifier {
  classify(text: string, options: { readonly signal: AbortSignal }): Promise<Verdict>;
}

/** The prompt or the answer of a run, with the findings of its checks so far. An answer is checked in segments. */
export class GuardedText {
  readonly mode: 'note' | 'refuse';
  /** The part of the text that the caller doesn't get. */
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

  /** Why the last check failed. */
  get failure(): string | null {
    return this.#failure;
  }

  get hasChecked(): boolean {
    return this.#scores !== null || this.#failure !== null;
  }

  /** The categories that flag this segment; none if the check failed (see `failure`). */
  async check(segment: string, { signal }: { signal: AbortSignal }): Promise<Category[]> {
    const startedAt = performance.now();
    try {
      const { model, categories, categoryScores } = await this.#classifier.classify(segment, { signal });
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

/** A part that may be passed on. A blocked answer ends without usage, because the provider hasn't reported it yet. */
export type ScreenedPart =
  | Exclude<ModelPart, { type: 'finish' }>
  | (Omit<Extract<ModelPart, { type: 'finish' }>, 'usage'> & { readonly usage: Usage | null });

/** A text without a sentence end is checked after this many characters. */
const maxSegmentCharacters = 500;

/** This much of the previous text is checked again with every segment, because a sentence alone can look harmless. */
const contextCharacters = 300;

const sentenceEnds = /[.!?…]["'”’)\]]*\s|[。！？\n]/g;

/** The end of the last complete sentence; 0 if there is none yet. */
function endOfSentences(text: string): number {
  let end = 0;
  for (const match of text.matchAll(sentenceEnds)) end = match.index + match[0].length;
  if (end > 0 || text.length < maxSegmentCharacters) return end;
  const space = text.lastIndexOf(' ');
  return space > 0 ? space + 1 : text.length;
}

/**
 * Passes an answer on sentence by sentence. Each sentence is checked together with the text before it. The first flagged sentence ends
 * the answer with `ContentFilter` and aborts the provider's call.
 */
export async function* screenAnswer(
  parts: AsyncIterable<ModelPart>,
  answer: GuardedText,
  unchecked: (failure: string) => AppError,
): AsyncGenerator<ScreenedPart, void, void> {
  const { signal } = new AbortController();
  let pending = '';
  let context = '';

  /** Whether the pending text up to `end` may be passed on. */
  async function isFree(end: number): Promise<boolean> {
    const segment = pending.slice(0, end);
    const categories = await answer.check(context + segment, { signal });
    if (answer.failure !== null) throw unchecked(answer.failure);
    if (categories.length > 0) return false;
    pending = pending.slice(end);
    context = (context + segment).slice(-contextCharacters);
    return true;
  }

  for await (const part of parts) {
    if (part.type === 'reasoning-delta') {
      yield part;
      continue;
    }
    if (part.type === 'text-delta') pending += part.text;
    const end = part.type === 'finish' ? pending.length : endOfSentences(pending);
    const segment = pending.slice(0, end);
    if (segment !== '') {
      if (!(await isFree(end))) {
        answer.withheld = pending;
        yield {
          type: 'finish',
          finishReason: 'ContentFilter',
          ...(part.type === 'finish'
            ? { usage: part.usage, ...(part.rawUsage && { rawUsage: part.rawUsage }) }
            : { usage: null }),
        };
        return;
      }
      yield { type: 'text-delta', text: segment };
    }
    if (part.type === 'finish') yield part;
  }
}
