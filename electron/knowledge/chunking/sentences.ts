import { endWithin } from './token-estimate.ts';

/** A part of a text, without surrounding white space. */
export interface TextPart {
  readonly start: number;
  readonly text: string;
}

/** A very long paragraph (a whole book on one line) is scanned in windows of this many characters. */
const windowCharacters = 4096;

/** Characters around an offset that are searched for a word boundary. No word is longer. */
const maxLookback = 200;
const maxLookahead = 40;

/** Created when a text is split for the first time: they load data of many languages. */
const segmenters = new Map<'sentence' | 'word', Intl.Segmenter>();

function segmentsOf(text: string, granularity: 'sentence' | 'word'): Intl.Segments {
  const segmenter = segmenters.get(granularity) ?? new Intl.Segmenter('en', { granularity });
  segmenters.set(granularity, segmenter);
  return segmenter.segment(text);
}

/** The part from `start` to `end` without surrounding white space; `null` if it is blank. */
export function trimmedPart(text: string, start: number, end: number): TextPart | null {
  const part = text.slice(start, end);
  const content = part.trim();
  return content === '' ? null : { start: start + part.indexOf(content.charAt(0)), text: content };
}

/** Moves an index back so that it splits no surrogate pair and no combining sequence. */
function wholeCharacter(text: string, index: number): number {
  const isInside = (at: number) => {
    const code = text.charCodeAt(at);
    return (code >= 0xdc00 && code <= 0xdfff) || /^[\p{Mn}\u200d]/u.test(text.charAt(at));
  };
  let cut = index;
  while (cut > 0 && cut > index - 16 && isInside(cut)) cut -= 1;
  const isSecondHalf = cut < text.length && (text.charCodeAt(cut) & 0xfc00) === 0xdc00;
  return isSecondHalf ? cut - 1 : cut;
}

/** The last word end in the text, at most `maxEnd`. For a longer word it is `maxEnd`, moved so that it splits no character. */
function endOfWord(text: string, start: number, maxEnd: number): number {
  if (maxEnd >= text.length) return text.length;
  const near = Math.max(start, maxEnd - maxLookback);
  const tail = text.slice(near, maxEnd + 1);
  const space = tail.search(/\s\S*$/);
  if (space >= 0 && near + space > start) return near + space;
  // No white space: a script without it, or no language at all.
  let end = start;
  for (const { index, segment } of segmentsOf(text.slice(near, maxEnd + maxLookahead), 'word')) {
    const next = near + index + segment.length;
    if (next > maxEnd) break;
    end = next;
  }
  return end > start ? end : Math.max(start + 1, wholeCharacter(text, maxEnd));
}

/** The sentences of a text in order; line ends within it count as spaces. */
export function* sentencesOf(text: string): Generator<TextPart> {
  for (let offset = 0; offset < text.length;) {
    const window = text.slice(offset, offset + windowCharacters).replaceAll('\n', ' ');
    const isLast = offset + windowCharacters >= text.length;
    const sentences = [...segmentsOf(window, 'sentence')];
    // The window may end in the middle of its last sentence.
    if (!isLast && sentences.length > 1) sentences.pop();
    const last = sentences.at(-1)!;
    let end = offset + last.index + last.segment.length;
    if (!isLast && sentences.length === 1) end = endOfWord(text, offset, end);
    for (const { index, segment } of sentences) {
      const part = trimmedPart(text, offset + index, Math.min(end, offset + index + segment.length));
      if (part) yield part;
    }
    offset = end;
  }
}

/** The non-empty lines of a text in order. Leading white space stays, because it matters in code. */
export function* linesOf(text: string): Generator<TextPart> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end).trimEnd();
    if (line.trim() !== '') yield { start, text: line };
    start = end < 0 ? text.length : end + 1;
  }
}

export interface ChunkLimits {
  readonly characters: number;
  readonly tokens: number;
}

/** Splits a text between words into chunks within the limits. */
export function* chunksOf(text: string, limits: ChunkLimits): Generator<TextPart> {
  for (let start = 0; start < text.length;) {
    const maxEnd = endWithin(text, start, Math.min(text.length, start + limits.characters), limits.tokens);
    const end = endOfWord(text, start, Math.max(maxEnd, start + 1));
    const part = trimmedPart(text, start, end);
    if (part) yield part;
    start = end;
  }
}

/** The end of a text, at most so many characters, starting at a word; `null` if no word starts there. */
export function endingOf(text: string, characters: number): TextPart | null {
  if (text.length <= characters) return null;
  const space = text.slice(-characters).search(/\s/);
  return space < 0 ? null : trimmedPart(text, text.length - characters + space, text.length);
}
