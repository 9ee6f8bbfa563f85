import { Lexer } from 'marked';
import type { Token, Tokens } from 'marked';
import { blockOptions, findTooDeep } from './markdown-lexer.ts';

export type BlockKind = 'paragraph' | 'code' | 'table' | 'list' | 'plain' | 'other';

/** One top-level block of Markdown, or a part of a long one. `raw` of all of them in order is the text. */
export interface MarkdownBlock {
  /** Offset in the text; never changes, so it is the block's identity. */
  start: number;
  raw: string;
  /** An item of a list has the kind of its list. `plain` is nested too deeply to be read. */
  kind: BlockKind;
  /** Set for a code block, which is drawn without the Markdown parser, however long it grows. */
  code: { text: string; language: string } | null;
  /** Set for every part of a long block but the first. */
  part?: {
    /** What must come before `raw` to read it alone: the fence of the code, or the head of the table. */
    prefix: string;
    /** Spaces at the start of the lines of an item of a list. */
    indent: number;
  };
}

export interface MarkdownBlocks {
  text: string;
  /** Blocks that further text can't change. They are the same objects as before, so that rendering skips them. */
  closed: readonly MarkdownBlock[];
  /** The block that still grows; null for an empty text. */
  open: MarkdownBlock | null;
}

export const noBlocks: MarkdownBlocks = { text: '', closed: [], open: null };

/** Characters that are parsed at once, besides those of the open block. The parser's worst texts take the square of the length. */
const maxStep = 2_500;

/** Characters of an open block before its beginning is closed: each rendering parses all of it. */
const maxOpen = 2_500;

/**
 * Splits a growing text into blocks. Only the text after the last closed block is parsed again. A block is closed when another one
 * has started after it: blank lines alone close nothing. A block that grows long is closed in parts.
 */
export function readBlocks(text: string, before: MarkdownBlocks = noBlocks): MarkdownBlocks {
  // The second half of a split line end may follow.
  const normal = (text.endsWith('\r') ? text.slice(0, -1) : text).replaceAll('\r\n', '\n');
  if (normal === before.text) return before;
  let blocks = before.text !== '' && normal.startsWith(before.text) ? before : noBlocks;
  for (let end = blocks.text.length; end < normal.length;) {
    end = Math.min(normal.length, end + maxStep);
    blocks = addText(blocks, normal.slice(0, end));
  }
  return blocks;
}

function addText({ closed, open }: MarkdownBlocks, text: string): MarkdownBlocks {
  const blocks = blocksOf(text.slice(open?.start ?? 0), open);
  let last = takeOpen(blocks);
  while (last && last.raw.length > maxOpen) {
    const [first, rest] = splitBlock(last);
    blocks.push(first);
    last = rest;
  }
  return { text, closed: blocks.length === 0 ? closed : [...closed, ...blocks], open: last };
}

/** A text that the next letters may turn into the marker of the list's next item. */
const partialMarker = /^ {0,3}(?:\d{0,9}[.)]?|[-*+])[ \t]*$/;

/** Takes the growing block, together with the list before it while the block may become that list's next item. */
function takeOpen(blocks: MarkdownBlock[]): MarkdownBlock | null {
  const last = blocks.pop() ?? null;
  const before = blocks.at(-1);
  if (!last || before?.kind !== 'list' || !partialMarker.test(last.raw)) return last;
  blocks.pop();
  return { ...before, raw: before.raw + last.raw };
}

type Segment = Pick<MarkdownBlock, 'raw' | 'kind' | 'code'>;

/** The items of a list are separate blocks: a list may be as long as the answer. */
function segmentsOf(token: Token): Segment[] {
  const { raw } = token;
  if (token.type === 'code') {
    const [language = ''] = String(token['lang'] ?? '').split(/\s/, 1);
    return [{ raw, kind: 'code', code: { text: String(token['text']), language } }];
  }
  if (token.type === 'list') {
    const items = token['items'] as Tokens.ListItem[];
    const isWhole = items.length > 1 && items.map((item) => item.raw).join('') === raw;
    return (isWhole ? items : [token]).map((item) => ({ raw: item.raw, kind: 'list', code: null }));
  }
  const kind = token.type === 'paragraph' || token.type === 'table' ? token.type : 'other';
  return [{ raw, kind, code: null }];
}

/** The end of an item whose lines are indented this much: the first line that is less. */
function endOfItem(text: string, indent: number): number {
  for (let line = 0; line < text.length;) {
    const next = text.indexOf('\n', line) + 1 || text.length;
    const content = text.slice(line, next);
    if (line > 0 && content.trim() !== '' && content.length - content.trimStart().length < indent) return line;
    line = next;
  }
  return text.length;
}

/** Where a text goes on that no open block began. */
function emptyBlock(start: number): MarkdownBlock {
  return { start, raw: '', kind: 'other', code: null };
}

/** The blocks of the text after the closed ones. `open` is the block that it began with so far. */
function blocksOf(text: string, open: MarkdownBlock | null): MarkdownBlock[] {
  const start = open?.start ?? 0;
  const { prefix = '', indent = 0 } = open?.part ?? {};
  if (open?.part && indent > 0) {
    const end = endOfItem(text, indent);
    const item = { ...open, raw: text.slice(0, end) };
    return end < text.length ? [item, ...blocksOf(text.slice(end), emptyBlock(start + end))] : [item];
  }
  const deep = open?.kind === 'code' ? -1 : findTooDeep(text);
  if (deep >= 0) return aroundDeep(text, deep, open);
  const blocks: MarkdownBlock[] = [];
  let position = start - prefix.length;
  for (const token of new Lexer(blockOptions).blockTokens(prefix + text, [])) {
    const last = blocks.at(-1);
    if (token.type === 'space' && last) {
      last.raw += token.raw;
      position += token.raw.length;
      continue;
    }
    for (const segment of segmentsOf(token)) {
      const own = { ...segment, raw: segment.raw.slice(Math.max(0, start - position)) };
      const isPart = open?.part !== undefined && blocks.length === 0 && segment.kind === open.kind;
      if (own.raw !== '')
        blocks.push({ start: Math.max(start, position), ...own, ...(isPart && { part: open.part! }) });
      position += segment.raw.length;
    }
  }
  return blocks;
}

/** Text that is nested too deeply is plain until the next empty line. */
function aroundDeep(text: string, deep: number, open: MarkdownBlock | null): MarkdownBlock[] {
  const start = open?.start ?? 0;
  const blank = text.indexOf('\n\n', deep);
  const end = blank < 0 ? text.length : blank + 2;
  const part = deep === 0 && open?.kind === 'plain' ? open.part : undefined;
  const plain = {
    start: start + deep,
    raw: text.slice(deep, end),
    kind: 'plain',
    code: null,
    ...(part && { part }),
  } as const;
  return [
    ...(deep > 0 ? blocksOf(text.slice(0, deep), open) : []),
    plain,
    ...(end < text.length ? blocksOf(text.slice(end), emptyBlock(start + end)) : []),
  ];
}

/** The start of a line in the second half of a text; of the least indented one, if it is an item. 0 if there is none. */
function lineCut(raw: string, isItem: boolean): { at: number; indent: number } {
  let best = { at: 0, indent: Number.POSITIVE_INFINITY };
  for (let line = raw.indexOf('\n', raw.length >> 1) + 1; line > 0; line = raw.indexOf('\n', line) + 1) {
    const content = /^( *)\S/.exec(raw.slice(line, line + 300));
    if (!content) continue;
    const indent = content[1]!.length;
    if (isItem ? indent > 0 && indent <= best.indent : true) best = { at: line, indent };
  }
  return best;
}

/** Where a text can be cut, so that no emphasis, code or link of it goes over the cut, and so that the rest is no other block. */
function inlineCut(raw: string): number {
  let [best, any] = [0, 0];
  const counts: Record<string, number> = { '`': 0, '*': 0, _: 0, '~': 0, '[': 0, ']': 0 };
  for (let index = 0; index < raw.length - 1; index += 1) {
    const character = raw[index]!;
    if (character in counts) counts[character]! += 1;
    if ((character !== ' ' && character !== '\n') || !/[\p{L}]/u.test(raw[index + 1]!)) continue;
    any = index + 1;
    const isBalanced = ['`', '*', '_', '~'].every((mark) => counts[mark]! % 2 === 0) && counts['['] === counts[']'];
    if (isBalanced) best = index + 1;
  }
  return best > raw.length >> 2 ? best : any > raw.length >> 2 ? any : 0;
}

/** The middle of a text without any good place, but not inside a character. */
function middle(raw: string): number {
  const half = raw.length >> 1;
  return /[\uDC00-\uDFFF]/.test(raw[half]!) ? half + 1 : half;
}

/** Closes the beginning of a long block. The rest keeps growing. */
function splitBlock(block: MarkdownBlock): [MarkdownBlock, MarkdownBlock] {
  const { raw, kind, code, start } = block;
  const line = lineCut(raw, kind === 'list');
  const cut = (kind === 'paragraph' && inlineCut(raw)) || line.at || middle(raw);
  const head =
    block.part?.prefix ?? (kind === 'table' ? raw.split('\n', 2).join('\n') : raw.slice(0, raw.indexOf('\n')));
  const prefix = kind === 'code' || kind === 'table' ? `${head.trimEnd()}\n` : '';
  const indent = kind === 'list' && line.at === cut ? line.indent : 0;
  const rest: MarkdownBlock = { start: start + cut, raw: raw.slice(cut), kind, code: null, part: { prefix, indent } };
  const first = { ...block, raw: raw.slice(0, cut) };
  if (!code) return [first, rest];
  // The text of code ends where its block ends, unless its last line end is left out.
  const textStart = block.part ? 0 : prefix.length;
  const text = code.text.slice(0, cut - textStart);
  return [
    { ...first, code: { ...code, text } },
    { ...rest, code: { ...code, text: code.text.slice(cut - textStart) } },
  ];
}

const definitionPattern = /^ {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*\S.*$/gm;

/** Link definitions of the whole text. A block that refers to one is rendered together with them. */
export function definitionsOf(text: string): string {
  return (text.match(definitionPattern) ?? []).join('\n');
}

/** Whether a block may refer to a definition outside it. Definitions don't, and neither do footnotes. */
export function hasReference(raw: string): boolean {
  const text = raw.replaceAll(definitionPattern, '');
  return /\][[\s.,;:!?)]|\]$/.test(text) && /\[(?!\^)[^\]\n]+\](?!\()/.test(text);
}
