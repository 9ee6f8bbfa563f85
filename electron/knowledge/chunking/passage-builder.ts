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

/** The passage that is being filled. */
class PendingPassage {
  readonly segments: Segment[];
  /** Number of segments, and of their tokens, that repeat the end of the last passage. */
  readonly carried: number;
  readonly carriedTokens: number;
  #tokens: number;
  #headingTokens: number;

  constructor(segments: Segment[], { isRepeated }: { readonly isRepeated: boolean }) {
    this.segments = segments;
    this.#tokens = tokensOf(segments);
    this.carried = isRepeated ? segments.length : 0;
    this.carriedTokens = isRepeated ? this.#tokens : 0;
    this.#headingTokens = Math.max(0, ...segments.map((segment) => segment.headingTokens));
  }

  get isOnlyRepetition(): boolean {
    return this.segments.length === this.carried;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** Max tokens of the headings above the passage. They change while short sections are combined. */
  get headingTokens(): number {
    return this.#headingTokens;
  }

  add(segment: Segment): void {
    this.segments.push(segment);
    this.#tokens += segment.tokens;
    this.#headingTokens = Math.max(this.#headingTokens, segment.headingTokens);
  }

  fillWith(segment: Segment, limit: PassageLimit): number {
    const first = this.segments[0] ?? segment;
    const headingTokens = Math.max(this.#headingTokens, segment.headingTokens);
    return fillOf(endOf(segment) - first.start, this.#tokens + segment.tokens, headingTokens, limit);
  }

  /** The new share of a passage, without its repetition. */
  fill(): number {
    const first = this.segments[this.carried];
    if (!first) return 0;
    const characters = endOf(this.segments.at(-1)!) - first.start;
    return fillOf(characters, this.#tokens - this.carriedTokens, this.#headingTokens, target);
  }
}

interface BuiltPassage extends ChunkedPassage {
  readonly headingTokens: number;
}

/** A passage of segments, the first of which may repeat the end of the last passage. */
function passageOf(segments: readonly Segment[], carried: number): BuiltPassage {
  const own = segments.slice(carried);
  const { heading, headingTokens } = own.find((segment) => segment.kind !== 'heading') ?? own.at(-1)!;
  const tokens = Math.ceil(tokensOf(segments));
  return { start: segments[0]!.start, end: endOf(segments.at(-1)!), heading, headingTokens, tokens };
}

export function createPassageBuilder(): PassageBuilder {
  const passages: BuiltPassage[] = [];
  let pending = new PendingPassage([], { isRepeated: false });

  /** Ends the passage. The next one starts with the end of this one, or with its trailing headings. */
  function endPassage(): void {
    const { segments: all, carried } = pending;
    let length = all.length;
    while (length > carried && all[length - 1]!.kind === 'heading') length -= 1;
    if (length === carried) length = all.length;
    const segments = all.slice(0, length);
    const headings = all.slice(length);
    passages.push(passageOf(segments, carried));
    const isRepeated = headings.length === 0;
    pending = new PendingPassage(isRepeated ? overlapOf(segments) : headings, { isRepeated });
  }

  /** Adds a short end of a section to the previous passage if it has room. */
  function joinsLast(): boolean {
    const before = passages.at(-1);
    if (pending.carried === 0 || !before || pending.fill() >= minFill) return false;
    const end = endOf(pending.segments.at(-1)!);
    const tokens = Math.ceil(before.tokens + pending.tokens - pending.carriedTokens);
    const headingTokens = Math.max(pending.headingTokens, before.headingTokens);
    if (fillOf(end - before.start, tokens, headingTokens, maxSize) > 1) return false;
    passages[passages.length - 1] = { ...before, end, tokens };
    return true;
  }

  function endSection(): void {
    if (!pending.isOnlyRepetition && !joinsLast()) passages.push(passageOf(pending.segments, pending.carried));
    pending = new PendingPassage([], { isRepeated: false });
  }

  const wouldEnd = (segment: Segment, limit: PassageLimit) =>
    !pending.isOnlyRepetition && pending.fillWith(segment, limit) > 1;

  function add(segment: Segment, limit: PassageLimit): void {
    // Twice, because remaining headings may leave no room for the segment either.
    while (wouldEnd(segment, limit)) endPassage();
    const isOverlapTooMuch = pending.isOnlyRepetition && pending.fillWith(segment, limit) > 1;
    if (isOverlapTooMuch) pending = new PendingPassage([], { isRepeated: false });
    pending.add(segment);
  }

  return {
    add,
    wouldEnd,
    fill: () => pending.fill(),
    isContinued: () => pending.carried > 0,
    endSection,
    passages,
  };
}
