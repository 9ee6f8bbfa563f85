/**
 * Finds the tags of a Handlebars template without parsing it. Also reads invalid templates, because a template is often invalid
 * while a person types. It is cheap: one pass, no recursion.
 */

export type TagKind = 'value' | 'open' | 'else' | 'close' | 'comment' | 'raw-open' | 'raw-close' | 'partial';

export interface TemplateTag {
  readonly kind: TagKind;
  /** First word of the tag: the variable, or the name of the block that it opens or closes; may be empty. */
  readonly name: string;
  /** Offsets of the whole tag with its braces; `end` is the end of the text if nothing closes the tag. */
  readonly start: number;
  readonly end: number;
  readonly isClosed: boolean;
}

/** A block with the offsets of its tags; `close` is null while it is still open. */
export interface TemplateBlock {
  readonly name: string;
  readonly open: TemplateTag;
  readonly elses: readonly TemplateTag[];
  readonly close: TemplateTag | null;
}

const commentEnd = /--~?\}\}/g;

type Search = (from: number) => number;

/** A text with searches for what ends its tags. Their offsets must ascend. */
interface Source {
  readonly text: string;
  /** By the character that opens a quoted string or a segment. */
  readonly closings: Readonly<Record<string, Search>>;
  readonly rawClose: Search;
}

/** Remembers the last match, so that ascending searches read a text only once. */
function ascending(find: Search): Search {
  let found = -1;
  return (from) => {
    if (found < from) found = find(from);
    return found;
  };
}

function createSource(text: string): Source {
  const closing = (character: string) => ascending((from) => closingOf(text, from, character));
  const rawClose = ascending((from) => {
    const found = text.indexOf('{{{{/', from);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  });
  return { text, closings: { '"': closing('"'), "'": closing("'"), '[': closing(']') }, rawClose };
}

/** Whether the braces at `start` are escaped: a single backslash precedes them. */
function isEscaped(text: string, start: number): boolean {
  return text[start - 1] === '\\' && text[start - 2] !== '\\';
}

/** The end of a quoted string or segment whose content starts at `from`. */
function closingOf(text: string, from: number, closing: string): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === closing) return index;
  }
  return Number.POSITIVE_INFINITY;
}

/** The end of a tag whose content starts at `from`, over quoted strings and `[...]` segments. */
function findTagEnd({ text, closings }: Source, from: number, braces: string): { end: number; isClosed: boolean } {
  for (let index = from; index < text.length; index++) {
    const character = text[index]!;
    if (character === '}' && text.startsWith(braces, index)) return { end: index + braces.length, isClosed: true };
    if (character === '{' && text[index + 1] === '{') return { end: index, isClosed: false };
    if (character === '"' || character === "'" || character === '[') {
      const closing = closings[character]!(index + 1);
      if (closing < text.length) index = closing;
    }
  }
  return { end: text.length, isClosed: false };
}

function kindOf(sigil: string, word: string): TagKind {
  if (sigil.startsWith('#>') || sigil === '>') return 'partial';
  if (sigil.startsWith('#')) return 'open';
  if (sigil === '/') return 'close';
  if (sigil === '^') return word === '' ? 'else' : 'open';
  return word === 'else' && sigil === '' ? 'else' : 'value';
}

const tagHead = /\{\{~?\s*(#>|#\*|[#/^>&*{]?)\s*([^\s{}~|()=]*)/y;

function readTag(source: Source, start: number): TemplateTag {
  const { text } = source;
  const strip = text[start + 2] === '~' ? 1 : 0;
  if (text.startsWith('!--', start + 2 + strip)) {
    commentEnd.lastIndex = start + 5 + strip;
    const isClosed = commentEnd.exec(text) !== null;
    return { kind: 'comment', name: '', start, end: isClosed ? commentEnd.lastIndex : text.length, isClosed };
  }
  if (text[start + 2 + strip] === '!') {
    const close = text.indexOf('}}', start);
    return { kind: 'comment', name: '', start, end: close < 0 ? text.length : close + 2, isClosed: close >= 0 };
  }
  tagHead.lastIndex = start;
  const [head = '{{', sigil = '', word = ''] = tagHead.exec(text) ?? [];
  const end = findTagEnd(source, start + head.length - word.length, sigil === '{' ? '}}}' : '}}');
  return { kind: kindOf(sigil, word), name: word, start, ...end };
}

/** A raw block: everything up to its closing tag is text. */
function readRawTags(source: Source, start: number): TemplateTag[] {
  const { text, rawClose } = source;
  const head = findTagEnd(source, start + 4, '}}}}');
  const name = /^[^\s}|()=]*/.exec(text.slice(start + 4, Math.min(head.end, start + 200)))?.[0] ?? '';
  const open: TemplateTag = { kind: 'raw-open', name, start, ...head };
  const close = head.isClosed ? rawClose(head.end) : Number.POSITIVE_INFINITY;
  if (close > text.length) return [open];
  return [open, { kind: 'raw-close', name, start: close, ...findTagEnd(source, close + 5, '}}}}') }];
}

/** Every tag in order. Stops after `limit` tags, so that a hostile text costs no more than the limit. */
export function scanTags(text: string, limit = Number.POSITIVE_INFINITY): TemplateTag[] {
  const tags: TemplateTag[] = [];
  const source = createSource(text);
  let position = text.indexOf('{{');
  while (position >= 0 && tags.length < limit) {
    if (isEscaped(text, position)) {
      position = text.indexOf('{{', position + 2);
      continue;
    }
    const next = text.startsWith('{{{{', position) ? readRawTags(source, position) : [readTag(source, position)];
    tags.push(...next);
    position = text.indexOf('{{', Math.max(next.at(-1)?.end ?? 0, position + 2));
  }
  return tags;
}

export interface BlockStructure {
  readonly blocks: readonly TemplateBlock[];
  /** The first mismatched tag and the block that was open there. */
  readonly mismatch: { readonly tag: TemplateTag; readonly open: TemplateTag | null } | null;
}

interface OpenBlock {
  name: string;
  open: TemplateTag;
  elses: TemplateTag[];
  close: TemplateTag | null;
}

/** Pairs the opening, `else` and closing tags of blocks. */
export function matchBlocks(tags: readonly TemplateTag[]): BlockStructure {
  const blocks: OpenBlock[] = [];
  const stack: OpenBlock[] = [];
  let mismatch: BlockStructure['mismatch'] = null;
  for (const tag of tags) {
    const top = stack.at(-1);
    if (tag.kind === 'open' || tag.kind === 'raw-open') {
      const block: OpenBlock = { name: tag.name, open: tag, elses: [], close: null };
      blocks.push(block);
      stack.push(block);
    } else if (tag.kind === 'else') {
      if (top) top.elses.push(tag);
      else mismatch ??= { tag, open: null };
    } else if (tag.kind === 'close' || tag.kind === 'raw-close') {
      if (top && top.name === tag.name) {
        top.close = tag;
        stack.pop();
      } else mismatch ??= { tag, open: top?.open ?? null };
    }
  }
  const unclosed = stack.at(-1);
  if (unclosed) mismatch ??= { tag: unclosed.open, open: unclosed.open };
  return { blocks, mismatch };
}
