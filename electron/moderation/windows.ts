import { categories, type Category } from '../../shared/contract/moderation.ts';
import { textFeatures } from './features.ts';
import { type ModerationWeights, ngramSum, sentenceMargin } from './linear-model.ts';
import { type NormalizedText, normalizeText } from './normalize-text.ts';

/** Max windows of a text that the embedding model reads, which bounds the time for a text of any length. */
export const maximumWindows = 16;

/** Sentences of a window that are also classified separately, so that harmless sentences around them don't hide them. */
export const suspectsOfWindow = 2;

/** A passage with what the words and their parts say about it. */
export interface Passage {
  /** Normalized text, as the embedding model gets it. */
  readonly text: string;
  /** Place in the text that was sent, without white space around. */
  readonly location: Span;
  readonly sums: Readonly<Record<Category, number>>;
}

export interface AnalyzedWindow extends Passage {
  /** None where the window is one sentence. */
  readonly sentences: readonly Passage[];
  /** Those of the sentences whose words look worst; at most two. */
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

/** Windows with their sentences, in time that grows linearly: both are in the order of the text. */
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

/** Place of a span of the normalized text in the original, without the white space around it. */
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

/** How bad a passage looks by its words alone, in the category where it looks worst. */
const urgencyOf = (sums: Passage['sums']) => Math.max(...Object.values(sums));

/** The given number of items that look worst, in the order in which they were. */
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
 * Cuts a text into windows and says what the words alone tell of each. Of a long text it gives the 16 windows that look worst, as
 * a whole or in one of their sentences, in the order of the text; a window that repeats another one to the letter is left out.
 */
export function analyzeText(input: string, weights: ModerationWeights): AnalyzedWindow[] {
  const normalized = normalizeText(input);
  const passage = (span: Span): Passage => {
    const text = normalized.text.slice(span.start, span.end).trim();
    return { text, location: locationOf(normalized, span), sums: sumsOf(text, weights) };
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
  return topByUrgency([...windows.values()], maximumWindows, ({ sums, suspects }) =>
    Math.max(urgencyOf(sums), ...suspects.map((each) => urgencyOf(each.sums) - sentenceMargin)),
  );
}

/** A piece of a text, in UTF-16 units; `end` is the first one after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Characters of one window: about 110 tokens, which the embedding model reads whole. */
export const windowCharacters = 500;

/** A window repeats about this much of the one before, so that nothing is judged without what leads to it. */
const overlapCharacters = 120;

/** A sentence longer than this is cut at a space, or anywhere when there is none. */
const sentenceCharacters = 240;

const endSigns = new Set('.!?…。！？');
const closingSigns = new Set('"\'”’)]');
const isSpace = (character: string | undefined): boolean => character === ' ' || character === '\n';

/** Never between the halves of a character outside the basic plane. */
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

/** Place after the sentence end or the line end that begins here; the place itself where there is none. One step per character. */
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

/**
 * Cuts a text into sentences of at most 240 characters. Together they are the whole text, without gaps, but for a text of
 * nothing but white space, which has none.
 */
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

/** Overlapping windows of at most 500 characters (600 with the overlap), on the borders of sentences. */
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
