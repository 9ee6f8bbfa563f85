import { categories, type Category } from '../../shared/contract/moderation.ts';
import { textFeatures } from './features.ts';
import { type ModerationWeights, ngramSum, sentenceMargin } from './linear-model.ts';
import { type NormalizedText, normalizeText } from './normalize-text.ts';

/** Max windows of a text that the embedding model reads, which bounds the time for a text of any length. */
export const maximumWindows = 16;

/** Sentences of a window that are also classified separately, so that harmless sentences around them don't hide them. */
export const suspectsOfWindow = 2;

/** A passage with the scores of its words and parts. */
export interface Passage {
  /** Normalized text for the embedding model. */
  readonly text: string;
  /** Offsets in the original text, without surrounding white space. */
  readonly location: Span;
  readonly sums: Readonly<Record<Category, number>>;
}

export interface AnalyzedWindow extends Passage {
  /** Empty if the window is one sentence. */
  readonly sentences: readonly Passage[];
  /** The sentences whose words score highest; at most two. */
  readonly suspects: readonly Passage[];
}

/** The training texts of a window and its sentences. A window with one sentence has no sentences. */
export interface WindowText {
  readonly text: string;
  readonly sentences: readonly string[];
}

interface TextWindow {
  readonly span: Span;
  readonly sentences: readonly Span[];
}

/** Windows with their sentences, in linear time: both are in the order of the text. */
function cut(text: string): TextWindow[] {
  const sentences = splitSentences(text);
  let first = 0;
  return splitIntoWindows(sentences).map((span) => {
    while (sentences[first]!.start < span.start) first += 1;
    let after = first;
    while (after < sentences.length && sentences[after]!.end <= span.end) after += 1;
    return { span, sentences: after - first > 1 ? sentences.slice(first, after) : [] };
  });
}

/** Offsets of a span of the normalized text in the original, without surrounding white space. */
function locationOf({ text, starts, ends }: NormalizedText, span: Span): Span {
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

/** The highest score of a passage in any category by its words alone. */
const urgencyOf = (sums: Passage['sums']) => Math.max(...Object.values(sums));

/** The given number of items with the highest scores, in their original order. */
export function topByUrgency<Item>(items: readonly Item[], count: number, urgency: (item: Item) => number): Item[] {
  if (items.length <= count) return [...items];
  const worst = items
    .map((item, index) => ({ item, index, urgency: urgency(item) }))
    .toSorted((a, b) => b.urgency - a.urgency)
    .slice(0, count);
  return worst.toSorted((a, b) => a.index - b.index).map(({ item }) => item);
}

/** The sentences of a window that are also classified separately. */
export function suspectsOf<Item extends { readonly sums: Passage['sums'] }>(sentences: readonly Item[]): Item[] {
  return topByUrgency(sentences, suspectsOfWindow, ({ sums }) => urgencyOf(sums));
}

/** The texts of windows and sentences for training and classification. */
export function windowTexts(input: string): WindowText[] {
  const { text } = normalizeText(input);
  const textOf = ({ start, end }: Span) => text.slice(start, end).trim();
  return cut(text).map(({ span, sentences }) => ({ text: textOf(span), sentences: sentences.map(textOf) }));
}

/**
 * Splits a text into windows and scores each by its words. For a long text it returns the 16 windows with the highest scores, of
 * the whole or of one of their sentences, in the order of the text. A window that repeats another one exactly is skipped.
 */
export function analyzeText(input: string, weights: ModerationWeights): AnalyzedWindow[] {
  const normalized = normalizeText(input);
  const passage = (span: Span): Passage => {
    const text = normalized.text.slice(span.start, span.end).trim();
    return { text, location: locationOf(normalized, span), sums: sumsOf(text, weights) };
  };
  /** By their start, because overlapping windows share sentences. */
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
  return topByUrgency([...windows.values()], maximumWindows, ({ sums, suspects }) =>
    Math.max(urgencyOf(sums), ...suspects.map((each) => urgencyOf(each.sums) - sentenceMargin)),
  );
}

/** A range of a text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Characters of one window: about 110 tokens, which fit the embedding model. */
export const windowCharacters = 500;

/** A window repeats about this much of the previous one, so that every sentence has context. */
const overlapCharacters = 120;

/** A longer sentence is split at a space, or anywhere if there is none. */
const sentenceCharacters = 240;

const endSigns = new Set('.!?…。！？');
const closingSigns = new Set('"\'”’)]');
const isSpace = (character: string | undefined): boolean => character === ' ' || character === '\n';

/** Never splits a surrogate pair. */
function wholeCharacterAt(text: string, position: number): number {
  const code = text.charCodeAt(position);
  return code >= 0xdc00 && code <= 0xdfff ? position + 1 : position;
}

function splitLongSentence(text: string, { start, end }: Span): Span[] {
  const segments: Span[] = [];
  let from = start;
  while (end - from > sentenceCharacters) {
    const space = text.slice(from, from + sentenceCharacters).lastIndexOf(' ');
    const to = space > sentenceCharacters / 2 ? from + space + 1 : wholeCharacterAt(text, from + sentenceCharacters);
    segments.push({ start: from, end: to });
    from = to;
  }
  if (end > from) segments.push({ start: from, end });
  return segments;
}

/** Offset after the sentence end or the line end that starts here, or the same offset if there is none. One step per character. */
function endOfSentence(text: string, position: number): { readonly next: number; readonly isEnd: boolean } {
  let next = position;
  if (text[next] === '\n') {
    while (text[next] === '\n') next += 1;
    return { next, isEnd: true };
  }
  while (endSigns.has(text[next]!)) next += 1;
  if (next === position) return { next: position + 1, isEnd: false };
  while (closingSigns.has(text[next]!)) next += 1;
  return { next, isEnd: next === text.length || isSpace(text[next]) };
}

/** Splits a text into sentences of at most 240 characters. Together they are the whole text without gaps. A blank text has none. */
export function splitSentences(text: string): Span[] {
  const sentences: Span[] = [];
  let start = 0;
  let hasContent = false;
  for (let position = 0; position < text.length;) {
    hasContent ||= !isSpace(text[position]);
    const { next, isEnd } = endOfSentence(text, position);
    position = next;
    if (!hasContent || (!isEnd && position < text.length)) continue;
    sentences.push(...splitLongSentence(text, { start, end: position }));
    start = position;
    hasContent = false;
  }
  const last = sentences.at(-1);
  // White space at the end belongs to the last sentence.
  if (last && start < text.length) sentences[sentences.length - 1] = { start: last.start, end: text.length };
  return sentences;
}

/** Overlapping windows of at most 500 characters (600 with the overlap), split between sentences. */
export function splitIntoWindows(sentences: readonly Span[]): Span[] {
  const windows: Span[] = [];
  let first = 0;
  while (first < sentences.length) {
    const { start } = sentences[first]!;
    let last = first;
    while (last + 1 < sentences.length && sentences[last + 1]!.end - start <= windowCharacters) last += 1;
    windows.push({ start, end: sentences[last]!.end });
    if (last + 1 >= sentences.length) break;
    let next = last + 1;
    while (next - 1 > first && sentences[last]!.end - sentences[next - 1]!.start <= overlapCharacters) next -= 1;
    first = next;
  }
  return windows;
}
