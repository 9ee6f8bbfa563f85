import { Lexer } from 'marked';
import type { Token, Tokens } from 'marked';

/** One top-level block of Markdown. `raw` of all blocks in order is the text. */
export interface MarkdownBlock {
  /** Offset in the text; never changes, so it is the block's identity. */
  start: number;
  raw: string;
  /** Set for a code block, which is drawn without the Markdown parser, however long it grows. */
  code: { text: string; language: string } | null;
  /** Whether it is an item of a list, or a list of one item. */
  isList: boolean;
}

export interface MarkdownBlocks {
  text: string;
  /** Blocks that further text can't change. They are the same objects as before, so that rendering skips them. */
  closed: readonly MarkdownBlock[];
  /** The block that still grows; null for an empty text. */
  open: MarkdownBlock | null;
}

export const noBlocks: MarkdownBlocks = { text: '', closed: [], open: null };

/** `blockTokens` leaves out the inside of blocks: finding their borders costs a fraction of a whole parse. */
function tokensOf(text: string) {
  return new Lexer({ gfm: true }).blockTokens(text, []);
}

/**
 * Splits a growing text into blocks. Only the text after the last closed block is parsed again. A block is closed when another one
 * has started after it: blank lines alone close nothing.
 */
export function readBlocks(text: string, before: MarkdownBlocks = noBlocks): MarkdownBlocks {
  const normal = text.replaceAll('\r\n', '\n');
  if (normal === before.text) return before;
  const isContinued = before.text !== '' && normal.startsWith(before.text);
  const closed = isContinued ? [...before.closed] : [];
  const start = isContinued ? (before.open?.start ?? 0) : 0;
  const blocks = blocksOf(normal.slice(start), start);
  const open = takeOpen(blocks);
  return { text: normal, closed: blocks.length === 0 && isContinued ? before.closed : [...closed, ...blocks], open };
}

/** A text that the next letters may turn into the marker of the list's next item. */
const partialMarker = /^ {0,3}(?:\d{0,9}[.)]?|[-*+])[ \t]*$/;

/** Takes the growing block, together with the list before it while the block may become that list's next item. */
function takeOpen(blocks: MarkdownBlock[]): MarkdownBlock | null {
  const last = blocks.pop() ?? null;
  const before = blocks.at(-1);
  if (!last || !before?.isList || !partialMarker.test(last.raw)) return last;
  blocks.pop();
  return { ...before, raw: before.raw + last.raw };
}

/** The items of a list are separate blocks: a list may be as long as the answer. */
function segmentsOf(token: Token): Pick<MarkdownBlock, 'raw' | 'code' | 'isList'>[] {
  const { raw } = token;
  if (token.type === 'code') {
    const [language = ''] = String(token['lang'] ?? '').split(/\s/, 1);
    return [{ raw, code: { text: String(token['text']), language }, isList: false }];
  }
  const items = token.type === 'list' ? (token['items'] as Tokens.ListItem[]) : [];
  const isWhole = items.length > 1 && items.map((item) => item.raw).join('') === raw;
  return isWhole
    ? items.map((item) => ({ raw: item.raw, code: null, isList: true }))
    : [{ raw, code: null, isList: token.type === 'list' }];
}

function blocksOf(text: string, offset: number): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let start = offset;
  for (const token of tokensOf(text)) {
    const last = blocks.at(-1);
    if (token.type === 'space' && last) {
      last.raw += token.raw;
      start += token.raw.length;
      continue;
    }
    for (const segment of segmentsOf(token)) {
      blocks.push({ start, ...segment });
      start += segment.raw.length;
    }
  }
  return blocks;
}

const definitionPattern = /^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*$/gm;

/** Link and footnote definitions of the whole text. A block that refers to one is rendered together with them. */
export function definitionsOf(text: string): string {
  return (text.match(definitionPattern) ?? []).join('\n');
}

/** Whether a block may refer to a definition outside it. */
export function hasReference(raw: string): boolean {
  return /\][[\s.,;:!?)]|\]$|\[\^/.test(raw) && /\[[^\]\n]+\](?!\()/.test(raw);
}
