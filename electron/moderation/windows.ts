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

function cutLongSentence(text: string, { start, end }: Span): Span[] {
  const pieces: Span[] = [];
  let from = start;
  while (end - from > sentenceCharacters) {
    const space = text.slice(from, from + sentenceCharacters).lastIndexOf(' ');
    const to = space > sentenceCharacters / 2 ? from + space + 1 : wholeCharacterAt(text, from + sentenceCharacters);
    pieces.push({ start: from, end: to });
    from = to;
  }
  if (end > from) pieces.push({ start: from, end });
  return pieces;
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
    sentences.push(...cutLongSentence(text, { start, end: position }));
    start = position;
    hasContent = false;
  }
  const last = sentences.at(-1);
  // White space at the end belongs to the last sentence.
  if (last && start < text.length) sentences[sentences.length - 1] = { start: last.start, end: text.length };
  return sentences;
}

/** Overlapping windows of at most 500 characters (600 with the overlap), on the borders of sentences. */
export function cutWindows(sentences: readonly Span[]): Span[] {
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
