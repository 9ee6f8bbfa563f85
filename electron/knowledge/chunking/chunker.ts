import {
  createPassageBuilder,
  type ChunkedPassage,
  fillOf,
  minFill,
  maxSize,
  type PassageLimit,
  target,
  type Segment,
} from './passage-builder.ts';
import { linesOf, chunksOf, sentencesOf, type TextPart } from './sentences.ts';
import { endWithin, estimateEmbeddingTokens } from './token-estimate.ts';

interface HeadingPath {
  /** Call it for each heading in the order of the text; `level` counts from 0, the outermost. */
  enter(level: number, text: string): void;
  /** The headings above the next block; `null` before the first one. */
  readonly text: string | null;
  readonly tokens: number;
}

const separator = ' › ';
const maxCharacters = 200;
const maxCharactersEach = 100;
/** A passage needs the space itself: embeddings read 256 tokens of both together. */
const maxTokens = 48;

function shorten(heading: string): string {
  const plain = heading.replace(/\s+/gu, ' ').trim();
  const end = endWithin(plain, 0, Math.min(plain.length, maxCharactersEach), maxTokens / 2);
  if (end >= plain.length) return plain;
  return `${plain
    .slice(0, Math.max(1, end - 1))
    .toWellFormed()
    .replace(/\uFFFD$/u, '')
    .trimEnd()}…`;
}

/** The innermost headings are the most specific, so outer ones are dropped first. */
function joinWithin(headings: readonly string[]): string {
  for (let first = 0; ; first += 1) {
    const joined = (first > 0 ? ['…', ...headings.slice(first)] : headings).join(separator);
    const fits = joined.length <= maxCharacters && estimateEmbeddingTokens(joined) <= maxTokens;
    if (fits || first >= headings.length - 1) return joined;
  }
}

function createHeadingPath(): HeadingPath {
  let stack: { readonly level: number; readonly text: string }[] = [];
  let text: string | null = null;
  let tokens = 0;
  return {
    enter(level, heading) {
      const short = shorten(heading);
      if (short === '') return;
      stack = stack.filter((above) => above.level < level);
      // A title is often repeated as the first heading.
      if (stack.at(-1)?.text === short) stack.pop();
      stack.push({ level, text: short });
      text = joinWithin(stack.map((entry) => entry.text));
      tokens = estimateEmbeddingTokens(text);
    },
    get text() {
      return text;
    },
    get tokens() {
      return tokens;
    },
  };
}

/** `prose` is split between sentences, `lines` (tables, code, records) between lines. */
export type BlockKind = 'prose' | 'lines';

/** Chunks a text while it is read. It gets one block after the other and stores only the current passage. */
export interface Chunker {
  /**
   * A heading; `level` from 0 (a title) inwards. It belongs to the blocks after it, up to the next heading of its level. `name` is
   * its text without markup.
   */
  heading(level: number, start: number, text: string, name?: string): void;
  /** A paragraph, list item, table or code block; `start` is its offset in the whole text. */
  block(kind: BlockKind, start: number, text: string): void;
  /** The chunks, in order. */
  finish(): readonly ChunkedPassage[];
}

/** From this length on, a passage ends before a paragraph that would have to be split. */
const fillToEndBeforeProse = 0.6;

export function createChunker(): Chunker {
  const path = createHeadingPath();
  const builder = createPassageBuilder();

  function unitOf(kind: Segment['kind'], { start, text }: TextPart, offset = 0): Segment {
    const tokens = estimateEmbeddingTokens(text);
    return { kind, start: start + offset, text, tokens, heading: path.text, headingTokens: path.tokens };
  }

  const fillAlone = (segment: Segment, limit: PassageLimit) =>
    fillOf(segment.text.length, segment.tokens, path.tokens, limit);

  const room = () => ({ characters: target.characters, tokens: target.tokens - path.tokens });

  /** A single sentence or line. One that is too long for a passage is split further. */
  function addPart(kind: BlockKind, part: TextPart, offset: number): void {
    const segment = unitOf(kind, part, offset);
    if (fillAlone(segment, target) <= 1) return builder.add(segment, target);
    if (kind === 'lines') {
      for (const sentence of sentencesOf(part.text)) addPart('prose', sentence, offset + part.start);
      return;
    }
    for (const chunk of chunksOf(part.text, room())) builder.add(unitOf('prose', chunk, offset + part.start), target);
  }

  /** Adds the whole block as one unit, unless the passage before it would then end too early. */
  function addWhole(kind: BlockKind, part: TextPart): boolean {
    const [limit, fillToEndBefore] = kind === 'lines' ? [maxSize, minFill] : [target, fillToEndBeforeProse];
    if (part.text.length > limit.characters) return false;
    const segment = unitOf(kind, part);
    if (fillAlone(segment, limit) > 1) return false;
    if (builder.wouldEnd(segment, limit) && builder.fill() < fillToEndBefore) return false;
    builder.add(segment, limit);
    return true;
  }

  return {
    heading(level, start, text, name = text) {
      if (builder.isContinued() || builder.fill() >= minFill) builder.endSection();
      path.enter(level, name);
      for (const chunk of chunksOf(text, room())) builder.add(unitOf('heading', chunk, start), target);
    },
    block(kind, start, text) {
      // The first line of code keeps its leading white space.
      const content = kind === 'lines' ? text.trimEnd().replace(/^\s*\n/u, '') : text.trim();
      if (content.trim() === '') return;
      const part = { start: start + text.indexOf(content), text: content };
      if (addWhole(kind, part)) return;
      for (const each of kind === 'lines' ? linesOf(content) : sentencesOf(content)) addPart(kind, each, part.start);
    },
    finish() {
      builder.endSection();
      return builder.passages;
    },
  };
}
