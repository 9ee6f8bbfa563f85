import {
  type EditorState,
  type Extension,
  type Range,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import {
  type BlockStructure,
  matchBlocks,
  scanTags,
  type TemplateTag,
} from '../../../../shared/prompt-template-tags.ts';

type TokenKind = 'brace' | 'key' | 'var' | 'str' | 'num' | 'com';

interface TagToken {
  kind: TokenKind;
  start: number;
  end: number;
}

const wordPattern = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\[[^\]]*\]?|[^\s{}"'()|=~]+|[()|=]/g;
const numberPattern = /^-?\d+(\.\d+)?$/;
/** Helpers that print a value or set a role. */
const helpers = new Set(['role', 'media', 'json']);
const keywords = new Set([
  'else',
  'if',
  'unless',
  'each',
  'with',
  'lookup',
  'as',
  'this',
  'true',
  'false',
  'null',
  'undefined',
]);

function kindOf(word: string, isFirst: boolean, isBlockName: boolean): TokenKind {
  if (word.startsWith('"') || word.startsWith("'")) return 'str';
  if (numberPattern.test(word)) return 'num';
  if (/^[()|=]$/.test(word)) return 'brace';
  if (isFirst && isBlockName) return 'key';
  return keywords.has(word) || word.startsWith('@') || word.startsWith('../') ? 'key' : 'var';
}

/** The coloured parts of one tag: its braces, the name of a block with its sign, variables, strings, numbers. */
export function tokensOfTag(text: string, tag: TemplateTag): TagToken[] {
  const { start, end } = tag;
  if (tag.kind === 'comment') return [{ kind: 'com', start, end }];
  const source = text.slice(start, end);
  const open = /^\{+~?/.exec(source)?.[0].length ?? 2;
  // At most `~}}}}`. A search of the whole tag would be quadratic.
  const close = tag.isClosed ? (/~?\}+$/.exec(source.slice(-5))?.[0].length ?? 2) : 0;
  const tokens: TagToken[] = [{ kind: 'brace', start, end: start + open }];
  const inner = source.slice(open, source.length - close);
  // With arguments these words are helpers; alone they are variables.
  const isHelper = helpers.has(tag.name) && /\s\S/.test(inner.trim());
  const isBlockName = tag.kind !== 'value' || isHelper;
  let isFirst = true;
  for (const match of inner.matchAll(wordPattern)) {
    const at = start + open + match.index;
    tokens.push({
      kind: kindOf(match[0].replace(/^[&]/, ''), isFirst, isBlockName),
      start: at,
      end: at + match[0].length,
    });
    isFirst = false;
  }
  if (close > 0) tokens.push({ kind: 'brace', start: end - close, end });
  return tokens;
}

export interface TemplateTags {
  text: string;
  tags: TemplateTag[];
  blocks: BlockStructure['blocks'];
}

function readTags(state: EditorState): TemplateTags {
  const text = state.doc.toString();
  const tags = scanTags(text);
  return { text, tags, blocks: matchBlocks(tags).blocks };
}

/** Every tag of the document. Each change scans the whole text once. */
export const templateTags = StateField.define<TemplateTags>({
  create: readTags,
  update: (value, transaction) => (transaction.docChanged ? readTags(transaction.state) : value),
});

/** Sets the positions of names that a run would render empty. */
export const setUnfilled = StateEffect.define<readonly { start: number; end: number }[]>();

const unfilledHighlight = Decoration.mark({ class: 'tok-missing' });

const unfilled = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (highlights, transaction) => {
    let next = highlights.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setUnfilled)) continue;
      const length = transaction.newDoc.length;
      const inside = effect.value.filter(({ start, end }) => start < end && end <= length);
      next = Decoration.set(
        inside.map(({ start, end }) => unfilledHighlight.range(start, end)),
        true,
      );
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const tokenHighlights = Object.fromEntries(
  (['brace', 'key', 'var', 'str', 'num', 'com'] as const).map((kind) => [
    kind,
    Decoration.mark({ class: `tok-${kind}` }),
  ]),
) as Record<TokenKind, Decoration>;

/** First tag that ends after `offset`; tags are in order. */
function firstAfter(tags: readonly TemplateTag[], offset: number): number {
  let low = 0;
  let high = tags.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tags[middle]?.end ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Colours what is in view only: a prompt may be megabytes long. */
function colourVisible(view: EditorView): DecorationSet {
  const { text, tags } = view.state.field(templateTags);
  const builder = new RangeSetBuilder<Decoration>();
  let last = -1;
  for (const { from, to } of view.visibleRanges) {
    for (let index = firstAfter(tags, from); index < tags.length; index += 1) {
      const tag = tags[index];
      if (!tag || tag.start > to) break;
      if (index <= last) continue;
      last = index;
      for (const token of tokensOfTag(text, tag)) builder.add(token.start, token.end, tokenHighlights[token.kind]);
    }
  }
  return builder.finish();
}

const colours = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = colourVisible(view);
    }
    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = colourVisible(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const matchHighlight = Decoration.mark({ class: 'tok-match' });

/** The opening, `else` and closing tags of the block that has the cursor in one of them. */
export function matchedTags(state: EditorState): TemplateTag[] {
  const { head, empty } = state.selection.main;
  if (!empty) return [];
  const hasCursor = (tag: TemplateTag | null): boolean => tag !== null && tag.start <= head && head <= tag.end;
  for (const { open, elses, close } of state.field(templateTags).blocks) {
    if (hasCursor(open) || hasCursor(close) || elses.some(hasCursor))
      return [open, ...elses, ...(close ? [close] : [])];
  }
  return [];
}

const matches = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (highlights, transaction) => {
    if (!transaction.docChanged && !transaction.selection) return highlights;
    const ranges: Range<Decoration>[] = matchedTags(transaction.state).map((tag) =>
      matchHighlight.range(tag.start, tag.end),
    );
    return Decoration.set(ranges, true);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Colours, matching blocks and highlights of unfilled names. The last one is drawn around the others. */
export const templateHighlights: Extension = [templateTags, unfilled, colours, matches];
