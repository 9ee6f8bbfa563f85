import { endingOf, linesOf, sentencesOf } from './sentences.ts';
import { estimateEmbeddingTokens } from './token-estimate.ts';

/** The smallest part of a passage: a heading, a sentence or a line, or a whole block that fits. */
export interface Segment {
  readonly kind: 'heading' | 'prose' | 'lines';
  /** Offset in the whole text. */
  readonly start: number;
  readonly text: string;
  readonly tokens: number;
  /** The headings above it. */
  readonly heading: string | null;
  readonly headingTokens: number;
}

export interface PassageLimit {
  readonly characters: number;
  /** Tokens of the passage together with the headings above it. */
  readonly tokens: number;
}

/**
 * Most passages end near this: long enough to be useful, short enough to be cited, and within the limit of the embeddings in
 * languages with a token for every three letters, such as German. Sources that were chunked with other limits stay valid until they
 * are indexed again.
 */
export const target: PassageLimit = { characters: 700, tokens: 190 };

/**
 * A block that belongs together (a table, code, a short end) may have this many tokens. Embeddings read 256 tokens, two of them
 * their own.
 */
export const maxSize: PassageLimit = { characters: 950, tokens: 252 };

/** The share of a passage that so much text takes, above 1 if it is too much. */
export function fillOf(characters: number, tokens: number, headingTokens: number, limit: PassageLimit): number {
  return Math.max(characters / limit.characters, tokens / (limit.tokens - headingTokens));
}

export function endOf(segment: Segment): number {
  return segment.start + segment.text.length;
}

export function tokensOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.tokens, 0);
}

/** The approximate share of a passage that the next one repeats, so that text across the boundary is complete in one of them. */
const overlap = 0.15;
/** Whole sentences up to this share; a longer one is repeated from one of its last words on. */
const maxOverlap = 0.25;
/** The end of a shorter passage isn't repeated. */
const minFillToRepeat = 0.5;

function partsOf(segment: Segment): Segment[] {
  const parts = segment.kind === 'lines' ? linesOf(segment.text) : sentencesOf(segment.text);
  return [...parts].map(({ start, text }) => ({
    ...segment,
    start: segment.start + start,
    text,
    tokens: estimateEmbeddingTokens(text),
  }));
}

const segmentFill = (segment: Segment) => fillOf(segment.text.length, segment.tokens, 0, target);

function endOfLongSentence(segment: Segment): Segment[] {
  const ending = endingOf(segment.text, Math.floor(overlap * target.characters));
  if (!ending) return [];
  const tokens = estimateEmbeddingTokens(ending.text);
  const repeated = { ...segment, start: segment.start + ending.start, text: ending.text, tokens };
  return segmentFill(repeated) <= maxOverlap ? [repeated] : [];
}

/** The last sentences or lines of a passage, with which the next one starts; none for a table, which would lose its header. */
function overlapOf(segments: readonly Segment[]): Segment[] {
  const characters = endOf(segments.at(-1)!) - segments[0]!.start;
  if (fillOf(characters, tokensOf(segments), 0, target) < minFillToRepeat) return [];
  const repeated: Segment[] = [];
  let filled = 0;
  for (const segment of segments.toReversed()) {
    if (segment.kind === 'heading') break;
    for (const part of partsOf(segment).toReversed()) {
      const next = filled + segmentFill(part);
      if (next > (filled === 0 ? maxOverlap : overlap)) {
        return repeated.length > 0 || part.kind === 'lines' ? repeated : endOfLongSentence(part);
      }
      repeated.unshift(part);
      filled = next;
    }
  }
  return repeated;
}

/** One passage without its text, which is the extracted text from `start` to `end`. */
export interface ChunkedPassage {
  readonly start: number;
  readonly end: number;
  readonly heading: string | null;
  readonly tokens: number;
}

/** Combines segments into passages; buffers only the current one. */
export interface PassageBuilder {
  /** Adds a segment to the current passage if it fits the limit, otherwise to the next one. */
  add(segment: Segment, limit: PassageLimit): void;
  /** Whether the segment would start a new passage. */
  wouldEnd(segment: Segment, limit: PassageLimit): boolean;
  /** The fill level of the current passage, without its repetition of the previous one. */
  fill(): number;
  /** Whether the current passage starts with the end of the previous one. */
  isContinued(): boolean;
  /** Starts an unrelated part: the next passage repeats nothing. */
  endSection(): void;
  readonly passages: readonly ChunkedPassage[];
}

/** A section below this share of a passage is combined with its neighbours. */
export const minFill = 0.25;

export function createPassageBuilder(): PassageBuilder {
  const passages: (ChunkedPassage & { readonly headingTokens: number })[] = [];
  let pending: Segment[] = [];
  let pendingTokens = 0;
  /** Number of pending units, and of their tokens, that repeat the end of the last passage. */
  let carried = 0;
  let carriedTokens = 0;
  /** Max tokens of the headings above the passage. They change while short sections are combined. */
  let headingTokens = 0;

  function begin(segments: Segment[], { isRepeated }: { readonly isRepeated: boolean }): void {
    pending = segments;
    pendingTokens = tokensOf(segments);
    carried = isRepeated ? segments.length : 0;
    carriedTokens = isRepeated ? pendingTokens : 0;
    headingTokens = Math.max(0, ...segments.map((segment) => segment.headingTokens));
  }

  function fillWith(segment: Segment, limit: PassageLimit): number {
    const first = pending[0] ?? segment;
    const tokens = pendingTokens + segment.tokens;
    return fillOf(endOf(segment) - first.start, tokens, Math.max(headingTokens, segment.headingTokens), limit);
  }

  /** The new share of a passage, without its repetition. */
  function fill(): number {
    const first = pending[carried];
    if (!first) return 0;
    return fillOf(endOf(pending.at(-1)!) - first.start, pendingTokens - carriedTokens, headingTokens, target);
  }

  function emit(segments: readonly Segment[]): void {
    const own = segments.slice(carried);
    const speaking = own.find((segment) => segment.kind !== 'heading') ?? own.at(-1)!;
    const { heading } = speaking;
    const tokens = Math.ceil(tokensOf(segments));
    passages.push({
      start: segments[0]!.start,
      end: endOf(segments.at(-1)!),
      heading,
      headingTokens: speaking.headingTokens,
      tokens,
    });
  }

  /** Ends the passage. The next one starts with the end of this one, or with its trailing headings. */
  function endPassage(): void {
    let length = pending.length;
    while (length > carried && pending[length - 1]!.kind === 'heading') length -= 1;
    if (length === carried) length = pending.length;
    const segments = pending.slice(0, length);
    const headings = pending.slice(length);
    emit(segments);
    if (headings.length > 0) begin(headings, { isRepeated: false });
    else begin(overlapOf(segments), { isRepeated: true });
  }

  /** Adds a short end of a section to the previous passage if it has room. */
  function joinsLast(): boolean {
    const before = passages.at(-1);
    if (carried === 0 || !before || fill() >= minFill) return false;
    const end = endOf(pending.at(-1)!);
    const tokens = Math.ceil(before.tokens + pendingTokens - carriedTokens);
    if (fillOf(end - before.start, tokens, Math.max(headingTokens, before.headingTokens), maxSize) > 1) return false;
    passages[passages.length - 1] = { ...before, end, tokens };
    return true;
  }

  function endSection(): void {
    if (pending.length > carried && !joinsLast()) emit(pending);
    begin([], { isRepeated: false });
  }

  const wouldEnd = (segment: Segment, limit: PassageLimit) => pending.length > carried && fillWith(segment, limit) > 1;

  function add(segment: Segment, limit: PassageLimit): void {
    // Twice, because remaining headings may leave no room for the unit either.
    while (wouldEnd(segment, limit)) endPassage();
    const isOverlapTooMuch = pending.length === carried && fillWith(segment, limit) > 1;
    if (isOverlapTooMuch) begin([], { isRepeated: false });
    pending.push(segment);
    pendingTokens += segment.tokens;
    headingTokens = Math.max(headingTokens, segment.headingTokens);
  }

  return { add, wouldEnd, fill, isContinued: () => carried > 0, endSection, passages };
}
