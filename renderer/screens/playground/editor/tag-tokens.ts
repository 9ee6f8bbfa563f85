import type { TemplateTag } from '../../../../shared/prompt-template-tags.ts';

export type TokenKind = 'brace' | 'key' | 'var' | 'str' | 'num' | 'com';

export interface TagToken {
  kind: TokenKind;
  start: number;
  end: number;
}

const wordPattern = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\[[^\]]*\]?|[^\s{}"'()|=~]+|[()|=]/g;
const numberPattern = /^-?\d+(\.\d+)?$/;
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

/** The coloured pieces of one tag: its braces, the name of a block with its sign, variables, strings, numbers. */
export function tokensOfTag(text: string, tag: TemplateTag): TagToken[] {
  const { start, end } = tag;
  if (tag.kind === 'comment') return [{ kind: 'com', start, end }];
  const source = text.slice(start, end);
  const open = /^\{+~?/.exec(source)?.[0].length ?? 2;
  const close = tag.isClosed ? (/~?\}+$/.exec(source)?.[0].length ?? 2) : 0;
  const tokens: TagToken[] = [{ kind: 'brace', start, end: start + open }];
  const inner = source.slice(open, source.length - close);
  const isBlockName = tag.kind !== 'value';
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
