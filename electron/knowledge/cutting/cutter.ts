import { createHeadingPath } from './heading-path.ts';
import { createPassageBuilder, leastFill, type CutPassage } from './passage-builder.ts';
import { linesOf, piecesOf, sentencesOf, type TextPart } from './sentences.ts';
import { estimateEmbeddingTokens } from './token-estimate.ts';
import { fillOf, most, target, type PassageLimit, type Unit } from './unit.ts';

/** `prose` is cut between sentences, `lines` (tables, code, records) between lines. */
export type BlockKind = 'prose' | 'lines';

/** Cuts a text while it is being read: told of its blocks one after the other, it keeps no more than the passage it is at. */
export interface Cutter {
  /**
   * A heading; `level` from 0 (a title) inwards. It stands with what follows, and above everything until the next one of its
   * level; there it is called `name` where its text has signs around it.
   */
  heading(level: number, start: number, text: string, name?: string): void;
  /** A paragraph, list item, table or piece of code; `start` is its place in the whole text. */
  block(kind: BlockKind, start: number, text: string): void;
  /** What was cut, in order. */
  finish(): readonly CutPassage[];
}

/** From here on a passage ends before a paragraph that would have to be cut. */
const fillToEndBeforeProse = 0.6;

export function createCutter(): Cutter {
  const path = createHeadingPath();
  const builder = createPassageBuilder();

  function unitOf(kind: Unit['kind'], { start, text }: TextPart, offset = 0): Unit {
    const tokens = estimateEmbeddingTokens(text);
    return { kind, start: start + offset, text, tokens, heading: path.text, headingTokens: path.tokens };
  }

  const fillAlone = (unit: Unit, limit: PassageLimit) => fillOf(unit.text.length, unit.tokens, path.tokens, limit);

  const room = () => ({ characters: target.characters, tokens: target.tokens - path.tokens });

  /** A single sentence or line; one that is too long for a passage is cut further. */
  function addPart(kind: BlockKind, part: TextPart, offset: number): void {
    const unit = unitOf(kind, part, offset);
    if (fillAlone(unit, target) <= 1) return builder.add(unit, target);
    if (kind === 'lines') {
      for (const sentence of sentencesOf(part.text)) addPart('prose', sentence, offset + part.start);
      return;
    }
    for (const piece of piecesOf(part.text, room())) builder.add(unitOf('prose', piece, offset + part.start), target);
  }

  /** The whole block as one unit, unless the passage before it would have to end too early for that. */
  function addWhole(kind: BlockKind, part: TextPart): boolean {
    const [limit, fillToEndBefore] = kind === 'lines' ? [most, leastFill] : [target, fillToEndBeforeProse];
    if (part.text.length > limit.characters) return false;
    const unit = unitOf(kind, part);
    if (fillAlone(unit, limit) > 1) return false;
    if (builder.wouldEnd(unit, limit) && builder.fill() < fillToEndBefore) return false;
    builder.add(unit, limit);
    return true;
  }

  return {
    heading(level, start, text, name = text) {
      if (builder.goesOn() || builder.fill() >= leastFill) builder.endSection();
      path.enter(level, name);
      for (const piece of piecesOf(text, room())) builder.add(unitOf('heading', piece, start), target);
    },
    block(kind, start, text) {
      // The first line of code keeps the white space that it begins with.
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
