import { Lexer, type Token, type Tokens } from 'marked';

const tag = /<\/?[a-z][^<>]{0,200}>/gi;

function inlineText(tokens: readonly Token[] | undefined): string {
  return (tokens ?? [])
    .map((token) => {
      if (token.type === 'br') return '\n';
      if (token.type === 'html') return token.raw.startsWith('<!--') ? '' : token.raw.replaceAll(tag, '');
      if (token.type === 'escape' || token.type === 'codespan') return String(token['text']);
      if ('tokens' in token && token.tokens) return inlineText(token.tokens);
      return 'text' in token ? String(token.text) : token.raw;
    })
    .join('');
}

/** A table row with its column names, as the indexer writes tables of other formats. */
function rowText(cells: readonly Tokens.TableCell[], header: readonly Tokens.TableCell[]): string {
  return cells
    .map(({ tokens }, index) => {
      const [name, value] = [inlineText(header[index]?.tokens).trim(), inlineText(tokens).trim()];
      return name === '' || value === '' ? value : `${name}: ${value}`;
    })
    .filter((cell) => cell !== '')
    .join('; ');
}

/** A passage may start in the middle of a table, without the rows that make it one. */
function withoutBars(text: string): string {
  if (!text.includes('|')) return text;
  return text
    .split('\n')
    .filter((line) => !/^[\s|:-]*-[\s|:-]*$/.test(line) || !line.includes('|'))
    .map((line) => {
      const trimmed = line.trim();
      if (!trimmed.startsWith('|') || !trimmed.endsWith('|') || trimmed.length < 2) return line;
      const cells = trimmed.slice(1, -1).split('|');
      return cells
        .map((cell) => cell.trim())
        .filter((cell) => cell !== '')
        .join('; ');
    })
    .join('\n');
}

function itemText(item: Tokens.ListItem, index: number, { ordered, start }: Tokens.List): string {
  const marker = ordered ? `${Number(start || 1) + index}.` : '•';
  return `${marker} ${blockTexts(item.tokens).join('\n')}`;
}

function blockTexts(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token): string[] => {
    if (token.type === 'space' || token.type === 'hr' || token.type === 'def') return [];
    if (token.type === 'code') return [String(token['text'])];
    if (token.type === 'html') return [token.raw.startsWith('<!--') ? '' : token.raw.replaceAll(tag, '').trim()];
    if (token.type === 'blockquote') return blockTexts(token.tokens ?? []);
    if (token.type === 'list') {
      const list = token as Tokens.List;
      return list.items.map((item, index) => itemText(item, index, list));
    }
    if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table;
      return (rows.length === 0 ? [header] : rows).map((cells) => rowText(cells, rows.length === 0 ? [] : header));
    }
    return [withoutBars(inlineText('tokens' in token && token.tokens ? token.tokens : [token]))];
  });
}

/** The Markdown parser recurses for each level of nesting. Passages are shorter than this. */
const maxCharacters = 2_000;

/** The text of a Markdown passage without its syntax, for places that show a few lines of it. */
export function plainText(markdown: string): string {
  if (markdown.length > maxCharacters) return markdown;
  const tokens = new Lexer({ gfm: true }).lex(markdown);
  return blockTexts(tokens)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n');
}
