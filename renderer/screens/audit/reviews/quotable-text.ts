/** Choosing a passage of a text by keys: the selection of the document moves by sentences, and its ends by words. */

/** Of a longer line only so much is searched for the ends of sentences. */
const maxLineCharacters = 4000;

interface TextPart {
  readonly node: Text;
  /** Of its first character in the line. */
  readonly start: number;
}

/** Text of one block of the page, such as a paragraph or an item of a list. */
interface Line {
  readonly text: string;
  readonly parts: readonly TextPart[];
}

interface Position {
  readonly line: number;
  readonly offset: number;
}

interface Span {
  readonly start: Position;
  readonly end: Position;
}

const blockTags = 'p, li, pre, td, th, dd, dt, h1, h4, h5, h6, blockquote, div, article';
/** Names of turns and runs, buttons, and what is folded. */
const unquotable = 'h3, button, summary, details:not([open]), [data-unquotable]';

function partsOfNode(node: Text, start: number): TextPart[] {
  return node.data === '' ? [] : [{ node, start }];
}

/** The blocks with text, in their order. */
function linesIn(region: Element): Line[] {
  const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
  const lines: { block: Element | null; text: string; parts: TextPart[] }[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const parent = node.parentElement;
    if (!parent || parent.closest(unquotable)) continue;
    const block = parent.closest(blockTags);
    const last = lines.at(-1);
    if (last && last.block === block) {
      last.parts.push(...partsOfNode(node, last.text.length));
      last.text += node.data;
    } else lines.push({ block, text: node.data, parts: partsOfNode(node, 0) });
  }
  return lines.filter(({ text }) => text.trim() !== '');
}

function lineAt(lines: readonly Line[], node: Node, offset: number): Position | null {
  for (const [line, { parts }] of lines.entries()) {
    const part = parts.find((one) => one.node === node);
    if (part) return { line, offset: part.start + offset };
  }
  return null;
}

/** The selection as positions; null if it doesn't begin and end in the text. */
function selectedSpan(lines: readonly Line[]): Span | null {
  const selection = document.getSelection();
  if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const { startContainer, startOffset, endContainer, endOffset } = selection.getRangeAt(0);
  const start = lineAt(lines, startContainer, startOffset);
  const end = lineAt(lines, endContainer, endOffset);
  return start && end && { start, end };
}

function boundaryOf({ parts }: Line, offset: number, isEnd: boolean): [Text, number] {
  // The end of a part is also the start of the next one.
  const part = parts.findLast(({ start }) => (isEnd ? start < offset : start <= offset)) ?? parts[0]!;
  return [part.node, Math.min(offset - part.start, part.node.data.length)];
}

function select(lines: readonly Line[], { start, end }: Span): void {
  const range = document.createRange();
  range.setStart(...boundaryOf(lines[start.line]!, start.offset, false));
  range.setEnd(...boundaryOf(lines[end.line]!, end.offset, true));
  const selection = document.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

const segmenters = {
  sentence: new Intl.Segmenter(undefined, { granularity: 'sentence' }),
  word: new Intl.Segmenter(undefined, { granularity: 'word' }),
};

/** Where sentences or words of a line start and end, without the spaces after them, near an offset. */
function segmentsAt({ text }: Line, kind: keyof typeof segmenters, offset: number) {
  const from = text.length <= maxLineCharacters ? 0 : Math.max(0, offset - maxLineCharacters / 2);
  const near = text.slice(from, from + maxLineCharacters);
  return [...segmenters[kind].segment(near)].flatMap(({ segment, index, isWordLike }) => {
    const length = segment.trimEnd().length;
    const start = from + index + (segment.length - segment.trimStart().length);
    const isShown = length > 0 && (kind === 'sentence' || isWordLike === true);
    return isShown ? [{ start, end: from + index + length }] : [];
  });
}

type Kind = keyof typeof segmenters;

/** The sentence or word that ends after a position; null at the end of the text. */
function after(lines: readonly Line[], { line, offset }: Position, kind: Kind): Span | null {
  const found = segmentsAt(lines[line]!, kind, offset).find(({ end }) => end > offset);
  if (found) return { start: { line, offset: found.start }, end: { line, offset: found.end } };
  return line + 1 < lines.length ? after(lines, { line: line + 1, offset: -1 }, kind) : null;
}

/** The sentence or word that starts before a position; null at the start of the text. */
function before(lines: readonly Line[], { line, offset }: Position, kind: Kind): Span | null {
  const found = segmentsAt(lines[line]!, kind, offset).findLast(({ start }) => start < offset);
  if (found) return { start: { line, offset: found.start }, end: { line, offset: found.end } };
  return line === 0 ? null : before(lines, { line: line - 1, offset: lines[line - 1]!.text.length }, kind);
}

const isBefore = (one: Position, other: Position): boolean =>
  one.line < other.line || (one.line === other.line && one.offset < other.offset);

/** A key of the keyboard, with Shift for the end of the selection. */
export type QuoteKey = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

/** The selection after a key; null if the text has no more there. */
function moved(lines: readonly Line[], { start, end }: Span, key: QuoteKey, isEnd: boolean): Span | null {
  const kind = key === 'ArrowUp' || key === 'ArrowDown' ? 'sentence' : 'word';
  const isForward = key === 'ArrowDown' || key === 'ArrowRight';
  if (isEnd) {
    // What ends before the end: without its last sentence or word.
    const last = before(lines, end, kind);
    const next = isForward ? after(lines, end, kind) : last && before(lines, last.start, kind);
    return next && isBefore(start, next.end) ? { start, end: next.end } : null;
  }
  if (kind === 'sentence') return isForward ? after(lines, end, kind) : before(lines, start, kind);
  if (!isForward) {
    const earlier = before(lines, start, kind);
    return earlier && { start: earlier.start, end };
  }
  const first = after(lines, start, kind);
  const second = first && after(lines, first.end, kind);
  return second && isBefore(second.start, end) ? { start: second.start, end } : null;
}

function bringIntoView(region: Element): void {
  const selection = document.getSelection();
  if (!selection || selection.rangeCount === 0) return;
  const { top, bottom } = selection.getRangeAt(0).getBoundingClientRect?.() ?? { top: 0, bottom: 0 };
  const view = region.getBoundingClientRect();
  const margin = Math.min(48, view.height / 4);
  // The start of a passage that is higher than the view.
  if (top < view.top + margin || bottom - top > view.height) region.scrollTop += top - view.top - margin;
  else if (bottom > view.bottom - margin) region.scrollTop += bottom - view.bottom + margin;
}

/** Selects the first sentence in view, unless something is selected. False if there is no text. */
export function selectFirst(region: Element): boolean {
  const lines = linesIn(region);
  if (selectedSpan(lines)) return true;
  const { top } = region.getBoundingClientRect();
  const isInView = ({ parts }: Line) => (parts[0]!.node.parentElement?.getBoundingClientRect().bottom ?? 0) > top + 32;
  const line = Math.max(0, lines.findIndex(isInView));
  const first = lines.length === 0 ? null : after(lines, { line, offset: -1 }, 'sentence');
  if (!first) return false;
  select(lines, first);
  bringIntoView(region);
  return true;
}

/** Moves the selection, or with `isEnd` its end. Where no more text is drawn, the region scrolls. */
export function moveSelection(region: Element, key: QuoteKey, isEnd: boolean): void {
  const lines = linesIn(region);
  const span = selectedSpan(lines);
  if (!span) return void selectFirst(region);
  const next = moved(lines, span, key, isEnd);
  if (next) {
    select(lines, next);
    bringIntoView(region);
  } else if (key === 'ArrowDown') region.scrollTop += region.clientHeight / 2;
}
