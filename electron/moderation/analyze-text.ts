import { categories, type Category } from '../../shared/contract/moderation.ts';
import { textFeatures } from './features.ts';
import { ngramSum, type ModerationWeights } from './linear-model.ts';
import { normalizeText, type NormalizedText } from './normalize-text.ts';
import { cutWindows, splitSentences, type Span } from './windows.ts';

/** Most windows of one text that are looked at with the embedding model, which bounds the time for a text of any length. */
export const maximumWindows = 16;

/** A passage with what the words and their parts say about it. */
export interface Passage {
  /** Normalized text, as the embedding model gets it. */
  readonly text: string;
  /** Place in the text that was sent, without white space around. */
  readonly place: Span;
  readonly sums: Readonly<Record<Category, number>>;
}

export interface AnalyzedWindow extends Passage {
  readonly sentences: readonly Passage[];
}

/** Place of a span of the normalized text in the original, without the white space around it. */
function placeOf({ text, starts, ends }: NormalizedText, span: Span): Span {
  let { start, end } = span;
  while (start < end && /\s/.test(text[start]!)) start += 1;
  while (end > start && /\s/.test(text[end - 1]!)) end -= 1;
  return start === end ? { start: 0, end: 0 } : { start: starts[start]!, end: ends[end - 1]! };
}

function sumsOf(text: string, weights: ModerationWeights): Record<Category, number> {
  const features = textFeatures(text, weights.rarity, weights.lexicon);
  return Object.fromEntries(
    categories.map((category) => [category, ngramSum(weights.heads[category], features)]),
  ) as Record<Category, number>;
}

/** How near the words alone bring a window to a flag, over all categories. */
function urgency({ sums }: Passage, { heads }: ModerationWeights): number {
  return Math.max(
    ...categories.map((category) => {
      const { slope, offset, threshold } = heads[category];
      return slope * sums[category] + offset - Math.log(threshold / (1 - threshold));
    }),
  );
}

/** The texts of a text's windows, as they are learned from and judged by. */
export function windowTexts(input: string): string[] {
  const { text } = normalizeText(input);
  return cutWindows(splitSentences(text)).map(({ start, end }) => text.slice(start, end).trim());
}

/**
 * Cuts a text into windows and says what the words alone tell of each. Of a long text it gives the 16 windows that look worst, in
 * the order of the text; a window that repeats another one to the letter is left out.
 */
export function analyzeText(input: string, weights: ModerationWeights): AnalyzedWindow[] {
  const normalized = normalizeText(input);
  const sentences = splitSentences(normalized.text);
  const passage = (span: Span): Passage => {
    const text = normalized.text.slice(span.start, span.end).trim();
    return { text, place: placeOf(normalized, span), sums: sumsOf(text, weights) };
  };
  const known = new Set<string>();
  const windows: { readonly span: Span; readonly passage: Passage }[] = [];
  for (const span of cutWindows(sentences)) {
    const text = normalized.text.slice(span.start, span.end).trim();
    if (known.has(text)) continue;
    known.add(text);
    windows.push({ span, passage: passage(span) });
  }
  const worst = windows
    .map((window) => ({ ...window, urgency: urgency(window.passage, weights) }))
    .toSorted((a, b) => b.urgency - a.urgency)
    .slice(0, maximumWindows)
    .toSorted((a, b) => a.span.start - b.span.start);
  return worst.map(({ span, passage: window }) => ({
    ...window,
    sentences: sentences.filter(({ start, end }) => start >= span.start && end <= span.end).map(passage),
  }));
}
