import { createChunker, type BlockKind, type Chunker } from '../chunking/chunker.ts';
import type { ReadDocument } from './document-writer.ts';

/**
 * Markdown stays unchanged: models read it, and a citation points into the file itself. Only its blocks are detected, line by line
 * in one pass: parsers that build a tree take minutes for deeply nested quotes and lists.
 */

const fence = /^\s*(`{3,}(?!.*`)|~{3,})/;
const atxHeading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
const thematicBreak = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$/;
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const tableRow = /^\s*\|.*\|\s*$/;
const indented = /^(?: {4}|\t)/;
const comment = /^ {0,3}<!--/;
const frontMatter = /^---\n(?:.*\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Longer lines are always prose. */
const longestSignificantLine = 2000;
/** Max lines of an underlined heading. */
const maxUnderlinedLines = 3;

type LineKind = 'blank' | 'heading' | 'break' | 'fence' | 'comment' | 'item' | 'row' | 'indented' | 'text';

const kinds: readonly (readonly [RegExp, LineKind])[] = [
  [/^\s*$/, 'blank'],
  [atxHeading, 'heading'],
  [fence, 'fence'],
  [comment, 'comment'],
  [thematicBreak, 'break'],
  [listItem, 'item'],
  [tableRow, 'row'],
  [indented, 'indented'],
];

function kindOf(line: string): LineKind {
  return kinds.find(([pattern]) => pattern.test(line))?.[1] ?? 'text';
}

const link = /!?\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g;

/** The name of a heading without the syntax of bold text, links and pictures. */
function plainName(heading: string): string {
  return (
    heading
      .replace(/(?<![ \t])[ \t]+#+[ \t]*$/, '')
      .replaceAll(/<\/?[a-z][^<>]{0,200}>/gi, '')
      .replaceAll(link, '$1')
      // A picture is often a link itself.
      .replaceAll(link, '$1')
      .replaceAll(/[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}/g, '')
      // Within a word an underscore is part of it.
      .replaceAll(/(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}])/gu, '')
  );
}

/** The end of a fence: the same character, at least as often; `null` if it never ends. */
function endOfFence(text: string, start: number, mark: string): number | null {
  const closing = new RegExp(`\\n[^\\S\\n]*${mark.charAt(0)}{${mark.length},}[ \\t]*(?=\\n|$)`, 'g');
  closing.lastIndex = start;
  const found = closing.exec(text);
  return found && found.index + found[0].length;
}

function endOfComment(text: string, start: number): number {
  const end = text.indexOf('-->', start);
  return end < 0 ? text.length : end + 3;
}

interface OpenBlock {
  readonly kind: BlockKind;
  readonly first: LineKind;
  readonly start: number;
  readonly end: number;
  readonly lines: number;
}

/** Combines lines to blocks. */
function createBlocks(text: string, chunker: Chunker) {
  let open: OpenBlock | null = null;

  function close(): void {
    if (open) chunker.block(open.kind, open.start, text.slice(open.start, open.end));
    open = null;
  }

  function begin(kind: BlockKind, first: LineKind, start: number, end: number): void {
    close();
    open = { kind, first, start, end, lines: 1 };
  }

  return {
    close,
    begin,
    /** Adds a line to the open block, or begins a block with it. */
    add(kind: LineKind, start: number, end: number): void {
      const isGoingOn = open !== null && (kind === 'row') === (open.first === 'row');
      if (kind === 'item') begin('prose', kind, start, end);
      else if (open && isGoingOn) open = { ...open, end, lines: open.lines + 1 };
      else begin(kind === 'text' ? 'prose' : 'lines', kind, start, end);
    },
    /** Ends the open block as a heading if the line underlines it. */
    endUnderlined(line: string, end: number): boolean {
      const found = open?.first === 'text' && open.lines <= maxUnderlinedLines ? underline.exec(line) : null;
      if (!open || !found) return false;
      const name = text.slice(open.start, open.end);
      chunker.heading(found[1]!.startsWith('=') ? 1 : 2, open.start, text.slice(open.start, end), plainName(name));
      open = null;
      return true;
    },
  };
}

export function readMarkdown(text: string): ReadDocument {
  const chunker = createChunker();
  const blocks = createBlocks(text, chunker);
  let unclosedFences = 0;

  /** Reads the line and returns the end of its block. */
  function readLine(start: number, end: number): number {
    const line = text.slice(start, Math.min(end, start + longestSignificantLine));
    if (blocks.endUnderlined(line, end)) return end;
    const kind = kindOf(line);
    if (kind === 'blank' || kind === 'break') blocks.close();
    else if (kind === 'heading') {
      blocks.close();
      const [, signs = '', name = ''] = atxHeading.exec(line)!;
      chunker.heading(signs.length, start, text.slice(start, end), plainName(name));
    } else if (kind === 'fence') return readFence(line, start, end);
    else if (kind === 'comment') {
      blocks.close();
      return endOfComment(text, start);
    } else blocks.add(kind, start, end);
    return end;
  }

  function readFence(line: string, start: number, end: number): number {
    // Prevents a search to the end of the file for each of many open fences.
    const closed = unclosedFences > 3 ? null : endOfFence(text, end, fence.exec(line)![1]!);
    if (closed === null) {
      unclosedFences += 1;
      blocks.add('indented', start, end);
      return end;
    }
    blocks.begin('lines', 'fence', start, closed);
    blocks.close();
    return closed;
  }

  const front = frontMatter.exec(text.slice(0, 20_000));
  if (front) chunker.block('lines', 0, front[0]);
  for (let start = front ? front[0].length : 0, newLine = -1; start < text.length;) {
    if (newLine < start) newLine = text.indexOf('\n', start);
    if (newLine < 0) newLine = text.length;
    const end = readLine(start, newLine);
    // Text may follow a comment on its line.
    start = text[end] === '\n' ? end + 1 : end;
  }
  blocks.close();
  return { text, pages: null, passages: chunker.finish() };
}
