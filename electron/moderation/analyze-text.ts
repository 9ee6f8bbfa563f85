import { categories, type Category } from '../../shared/contract/moderation.ts';
import { textFeatures } from './features.ts';
import { ngramSum, sentenceMargin, type ModerationWeights } from './linear-model.ts';
import { normalizeText, type NormalizedText } from './normalize-text.ts';
import { cutWindows, splitSentences, type Span } from './windows.ts';

/** Most windows of one text that are looked at with the embedding model, which bounds the time for a text of any length. */
export const maximumWindows = 16;

/** Sentences of a window that are looked at by themselves as well, so that harmless ones around them do not hide them. */
export const suspectsOfWindow = 2;

/** A passage with what the words and their parts say about it. */
export interface Passage {
  /** Normalized text, as the embedding model gets it. */
  readonly text: string;
  /** Place in the text that was sent, without white space around. */
  readonly place: Span;
  readonly sums: Readonly<Record<Category, number>>;
}

export interface AnalyzedWindow extends Passage {
  /** None where the window is one sentence. */
  readonly sentences: readonly Passage[];
  /** Those of the sentences whose words look worst; at most two. */
  readonly suspects: readonly Passage[];
}

/** A window and its sentences as they are learned from; none where the window is one sentence. */
export interface WindowText {
  readonly text: string;
  readonly sentences: readonly string[];
}

interface CutWindow {
  readonly span: Span;
  readonly sentences: readonly Span[];
}

/** Windows with their sentences, in time that grows linearly: both are in the order of the text. */
function cut(text: string): CutWindow[] {
  const sentences = splitSentences(text);
  let first = 0;
  return cutWindows(sentences).map((span) => {
    while (sentences[first]!.start < span.start) first += 1;
    let after = first;
    while (after < sentences.length && sentences[after]!.end <= span.end) after += 1;
    return { span, sentences: after - first > 1 ? sentences.slice(first, after) : [] };
  });
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

/** How bad a passage looks by its words alone, in the category where it looks worst. */
const urgencyOf = (sums: Passage['sums']) => Math.max(...Object.values(sums));

/** The given number of items that look worst, in the order in which they were. */
export function mostUrgent<Item>(items: readonly Item[], count: number, urgency: (item: Item) => number): Item[] {
  if (items.length <= count) return [...items];
  const worst = items
    .map((item, index) => ({ item, index, urgency: urgency(item) }))
    .toSorted((a, b) => b.urgency - a.urgency)
    .slice(0, count);
  return worst.toSorted((a, b) => a.index - b.index).map(({ item }) => item);
}

/** The sentences of a window that are judged by themselves, too. */
export function suspectsOf<Item extends { readonly sums: Passage['sums'] }>(sentences: readonly Item[]): Item[] {
  return mostUrgent(sentences, suspectsOfWindow, ({ sums }) => urgencyOf(sums));
}

/** The texts of a text's windows and their sentences, as they are learned from and judged by. */
export function windowTexts(input: string): WindowText[] {
  const { text } = normalizeText(input);
  const textOf = ({ start, end }: Span) => text.slice(start, end).trim();
  return cut(text).map(({ span, sentences }) => ({ text: textOf(span), sentences: sentences.map(textOf) }));
}

/**
 * Cuts a text into windows and says what the words alone tell of each. Of a long text it gives the 16 windows that look worst, as
 * a whole or in one of their sentences, in the order of the text; a window that repeats another one to the letter is left out.
 */
export function analyzeText(input: string, weights: ModerationWeights): AnalyzedWindow[] {
  const normalized = normalizeText(input);
  const passage = (span: Span): Passage => {
    const text = normalized.text.slice(span.start, span.end).trim();
    return { text, place: placeOf(normalized, span), sums: sumsOf(text, weights) };
  };
  /** By their start: overlapping windows share sentences. */
  const sentences = new Map<number, Passage>();
  const sentence = (span: Span): Passage => {
    const known = sentences.get(span.start) ?? passage(span);
    sentences.set(span.start, known);
    return known;
  };
  const windows = new Map<string, AnalyzedWindow>();
  for (const { span, sentences: spans } of cut(normalized.text)) {
    const text = normalized.text.slice(span.start, span.end).trim();
    if (windows.has(text)) continue;
    const inside = spans.map(sentence);
    windows.set(text, { ...passage(span), sentences: inside, suspects: suspectsOf(inside) });
  }
  return mostUrgent([...windows.values()], maximumWindows, ({ sums, suspects }) =>
    Math.max(urgencyOf(sums), ...suspects.map((each) => urgencyOf(each.sums) - sentenceMargin)),
  );
}
