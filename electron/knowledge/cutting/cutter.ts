import { createHeadingPath } from './heading-path.ts';
import { overlapOf } from './overlap.ts';
import { linesOf, piecesOf, sentencesOf, type TextPart } from './sentences.ts';
import { estimateEmbeddingTokens } from './token-estimate.ts';
import { endOf, fillOf, most, target, tokensOf, type PassageLimit, type Unit } from './unit.ts';

/** One passage without its text, which is the extracted text from `start` to `end`. */
export interface CutPassage {
  readonly start: number;
  readonly end: number;
  readonly heading: string | null;
  readonly tokens: number;
}

/** `prose` is cut between sentences, `lines` (tables, code, records) between lines. */
export type BlockKind = 'prose' | 'lines';

/** Cuts a text while it is being read: told of its blocks one after the other, it keeps no more than the passage it is at. */
export interface Cutter {
  /** A heading; `level` from 0 (a title) inwards. It stands with what follows, and above everything until the next one of its level. */
  heading(level: number, start: number, text: string): void;
  /** A paragraph, list item, table or piece of code; `start` is its place in the whole text. */
  block(kind: BlockKind, start: number, text: string): void;
  /** What was cut, in order. */
  finish(): readonly CutPassage[];
}

/** A section below this part of a passage is not left to itself: it goes with its neighbours. */
const leastFill = 0.25;
/** From here on a passage ends before a paragraph that would have to be cut. */
const fillToEndBeforeProse = 0.6;

export function createCutter(): Cutter {
  const path = createHeadingPath();
  const passages: (CutPassage & { readonly headingTokens: number })[] = [];
  let pending: Unit[] = [];
  let pendingTokens = 0;
  /** So many of the pending units, and so many of their tokens, repeat the end of the last passage. */
  let carried = 0;
  let carriedTokens = 0;
  /** What the headings above the passage may take at most; they change while short sections are put together. */
  let headingTokens = 0;

  function begin(units: Unit[], { isRepeated }: { readonly isRepeated: boolean }): void {
    pending = units;
    pendingTokens = tokensOf(units);
    carried = isRepeated ? units.length : 0;
    carriedTokens = isRepeated ? pendingTokens : 0;
    headingTokens = Math.max(0, ...units.map((unit) => unit.headingTokens));
  }

  function fillWith(unit: Unit, limit: PassageLimit): number {
    const first = pending[0] ?? unit;
    const tokens = pendingTokens + unit.tokens;
    return fillOf(endOf(unit) - first.start, tokens, Math.max(headingTokens, unit.headingTokens), limit);
  }

  /** Which part of a passage is new, not counting what it repeats. */
  function freshFill(): number {
    const first = pending[carried];
    if (!first) return 0;
    return fillOf(endOf(pending.at(-1)!) - first.start, pendingTokens - carriedTokens, headingTokens, target);
  }

  function emit(units: readonly Unit[]): void {
    const own = units.slice(carried);
    const speaking = own.find((unit) => unit.kind !== 'heading') ?? own.at(-1)!;
    const { heading } = speaking;
    const tokens = Math.ceil(tokensOf(units));
    passages.push({
      start: units[0]!.start,
      end: endOf(units.at(-1)!),
      heading,
      headingTokens: speaking.headingTokens,
      tokens,
    });
  }

  /** Ends the passage; the next one begins with the end of this one, or with the headings that stood last in it. */
  function endPassage(): void {
    let length = pending.length;
    while (length > carried && pending[length - 1]!.kind === 'heading') length -= 1;
    if (length === carried) length = pending.length;
    const units = pending.slice(0, length);
    const headings = pending.slice(length);
    emit(units);
    if (headings.length > 0) begin(headings, { isRepeated: false });
    else begin(overlapOf(units), { isRepeated: true });
  }

  /** A short end of a section joins the passage before it, if that still has room. */
  function joinsLast(): boolean {
    const before = passages.at(-1);
    if (carried === 0 || !before || freshFill() >= leastFill) return false;
    const end = endOf(pending.at(-1)!);
    const tokens = Math.ceil(before.tokens + pendingTokens - carriedTokens);
    if (fillOf(end - before.start, tokens, Math.max(headingTokens, before.headingTokens), most) > 1) return false;
    passages[passages.length - 1] = { ...before, end, tokens };
    return true;
  }

  function endSection(): void {
    if (pending.length > carried && !joinsLast()) emit(pending);
    begin([], { isRepeated: false });
  }

  function add(unit: Unit, limit = target): void {
    // Twice where headings were left over that leave the unit no room either.
    while (pending.length > carried && fillWith(unit, limit) > 1) endPassage();
    const isOverlapTooMuch = pending.length === carried && fillWith(unit, limit) > 1;
    if (isOverlapTooMuch) begin([], { isRepeated: false });
    pending.push(unit);
    pendingTokens += unit.tokens;
    headingTokens = Math.max(headingTokens, unit.headingTokens);
  }

  function unitOf(kind: Unit['kind'], { start, text }: TextPart, offset = 0): Unit {
    const tokens = estimateEmbeddingTokens(text);
    return { kind, start: start + offset, text, tokens, heading: path.text, headingTokens: path.tokens };
  }

  const fillAlone = (unit: Unit, limit: PassageLimit) => fillOf(unit.text.length, unit.tokens, path.tokens, limit);

  const room = () => ({ characters: target.characters, tokens: target.tokens - path.tokens });

  /** A single sentence or line; one that is too long for a passage is cut further. */
  function addPart(kind: BlockKind, part: TextPart, offset: number): void {
    const unit = unitOf(kind, part, offset);
    if (fillAlone(unit, target) <= 1) return add(unit);
    if (kind === 'lines') {
      for (const sentence of sentencesOf(part.text)) addPart('prose', sentence, offset + part.start);
      return;
    }
    for (const piece of piecesOf(part.text, room())) add(unitOf('prose', piece, offset + part.start));
  }

  /** The whole block as one unit, unless the passage before it would have to end too early for that. */
  function addWhole(kind: BlockKind, part: TextPart): boolean {
    const [limit, fillToEndBefore] = kind === 'lines' ? [most, leastFill] : [target, fillToEndBeforeProse];
    if (part.text.length > limit.characters) return false;
    const unit = unitOf(kind, part);
    if (fillAlone(unit, limit) > 1) return false;
    const wouldEnd = pending.length > carried && fillWith(unit, limit) > 1;
    if (wouldEnd && freshFill() < fillToEndBefore) return false;
    add(unit, limit);
    return true;
  }

  return {
    heading(level, start, text) {
      if (carried > 0 || freshFill() >= leastFill) endSection();
      path.enter(level, text);
      for (const piece of piecesOf(text, room())) add(unitOf('heading', piece, start));
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
      endSection();
      return passages;
    },
  };
}
