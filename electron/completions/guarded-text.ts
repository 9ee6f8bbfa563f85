import { categories as allCategories, type Category, type GuardFinding } from '../../shared/contract/moderation.ts';
import { AppError } from '../../shared/app-error.ts';
import { hasCodes, unescapeJson } from '../../shared/json-escapes.ts';
import type { ModelPart, ToolCallModelPart } from '../providers/provider.ts';
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

/** A text with its JSON escapes decoded. Models and tools can read `\u006b`, classifiers can't. */
function readable(text: string): string {
  return hasCodes(text) ? `${text}\n${unescapeJson(text)}` : text;
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
      const { model, categories, categoryScores } = await this.#classifier.classify(readable(segment), { signal });
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

/** The parts of calls, until each call is complete. Half a JSON text can't be checked. */
class PendingCalls {
  readonly #parts = new Map<number, ToolCallModelPart[]>();

  add(part: ToolCallModelPart): void {
    const parts = this.#parts.get(part.index);
    if (parts) parts.push(part);
    else this.#parts.set(part.index, [part]);
  }

  /** Removes and returns the parts of complete calls; of all calls at the end of the answer. */
  take(part: ModelPart): ToolCallModelPart[] {
    if (part.type === 'tool-call-end') {
      const parts = this.#parts.get(part.index) ?? [];
      this.#parts.delete(part.index);
      return parts;
    }
    if (part.type !== 'finish') return [];
    const parts = [...this.#parts.values()].flat();
    this.#parts.clear();
    return parts;
  }
}

function textOfParts(parts: readonly ToolCallModelPart[]): string {
  const texts = parts.map((part) =>
    part.type === 'tool-call-start' ? `${part.name} ` : part.type === 'tool-call-delta' ? part.text : '\n',
  );
  return texts.join('').trimEnd();
}

/** The end of an answer that the guard blocked at this part. */
function blockedEnd(part: ModelPart): ScreenedPart {
  const usage =
    part.type === 'finish' ? { usage: part.usage, ...(part.rawUsage && { rawUsage: part.rawUsage }) } : { usage: null };
  return { type: 'finish', finishReason: 'ContentFilter', ...usage };
}

/** Pieces that arrived together are checked one after the other. A flagged one must not withhold those before it. */
async function* separatePieces(parts: AsyncIterable<ModelPart>): AsyncGenerator<ModelPart, void, void> {
  for await (const part of parts) {
    if (part.type !== 'text-delta' || !part.pieces) yield part;
    else for (const text of part.pieces) yield { type: 'text-delta', text };
  }
}

/**
 * Passes an answer on sentence by sentence, and its tool calls one by one. Each is checked together with the text before it. The first
 * flagged one ends the answer with `ContentFilter` and aborts the provider's call.
 */
export async function* screenAnswer(
  parts: AsyncIterable<ModelPart>,
  answer: GuardedText,
  unchecked: (failure: string) => AppError,
): AsyncGenerator<ScreenedPart, void, void> {
  const { signal } = new AbortController();
  const calls = new PendingCalls();
  let pending = '';
  let context = '';

  async function isFree(segment: string): Promise<boolean> {
    const categories = await answer.check(context + segment, { signal });
    if (answer.failure !== null) throw unchecked(answer.failure);
    if (categories.length > 0) return false;
    context = (context + segment).slice(-contextCharacters);
    return true;
  }

  for await (const part of separatePieces(parts)) {
    if (part.type === 'reasoning-delta') {
      yield part;
      continue;
    }
    if (part.type === 'text-delta') pending += part.text;
    const isText = part.type === 'text-delta';
    // The text before a call is complete.
    const segment = pending.slice(0, isText ? endOfSentences(pending) : pending.length);
    if (segment !== '') {
      if (!(await isFree(segment))) {
        answer.withheld = pending;
        yield blockedEnd(part);
        return;
      }
      pending = pending.slice(segment.length);
      yield { type: 'text-delta', text: segment };
    }
    if (isText) continue;
    if (part.type !== 'finish') calls.add(part);
    const complete = calls.take(part);
    if (complete.length > 0) {
      const text = textOfParts(complete);
      if (!(await isFree(text))) {
        answer.withheld = text;
        yield blockedEnd(part);
        return;
      }
      yield* complete;
    }
    if (part.type === 'finish') yield part;
  }
}
