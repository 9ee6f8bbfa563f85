import { Lexer, type Links, Tokenizer, type MarkedOptions, type Token } from 'marked';

/** Footnotes have no link: their definitions stay in the text as paragraphs. */
class WithoutFootnoteLinks extends Tokenizer {
  override def(source: string): ReturnType<Tokenizer['def']> {
    return /^ {0,3}\[\^/.test(source) ? undefined : super.def(source);
  }
}

export const blockOptions: MarkedOptions = { gfm: true, tokenizer: new WithoutFootnoteLinks() };

/** Markers of quotations and lists at the start of one line. The parser recurses for each of them. */
const maxMarkers = 40;
/** Spaces before a marker: a list inside a list needs two more than the list around it. */
const maxIndent = 160;

/** Whether a line opens too many quotations and lists inside each other. Linear in what it opens. */
function isTooDeep(text: string, line: number, end: number): boolean {
  let [markers, spaces] = [0, 0];
  for (let index = line; index < end; index += 1) {
    const character = text[index]!;
    const isLast = index + 1 === end || text[index + 1] === ' ' || text[index + 1] === '\t';
    if (character === ' ' || character === '\t') spaces += 1;
    else if (character === '>') markers += 1;
    else if ('-*+.)'.includes(character) && isLast) markers += 1;
    else if (character < '0' || character > '9') return false;
    if (markers > maxMarkers || (markers > 0 && spaces > maxIndent + markers)) return true;
  }
  return false;
}

/** The first line that opens too many quotations and lists inside each other; -1 if there is none. */
export function findTooDeep(text: string): number {
  for (let line = 0; line < text.length;) {
    const next = text.indexOf('\n', line);
    const end = next < 0 ? text.length : next;
    if (isTooDeep(text, line, end)) return line;
    line = end + 1;
  }
  return -1;
}

/** The definitions that were read last: all blocks of a text refer to the same ones. */
let known: { definitions: string; links: Links } = { definitions: '', links: {} };

/** `definitions` are those of links outside the text. */
function lexerFor(definitions: string): Lexer {
  const lexer = new Lexer(blockOptions);
  if (definitions === '') return lexer;
  if (known.definitions !== definitions) known = { definitions, links: new Lexer(blockOptions).lex(definitions).links };
  lexer.tokens.links = known.links;
  return lexer;
}

/** Texts that are shorter are parsed in no time, whatever they consist of. */
const minDense = 500;

/** Whether a text consists of marks: the parser looks for the end of each one of them in the whole text. */
function isDense(raw: string): boolean {
  if (raw.length < minDense) return false;
  let marks = 0;
  for (const character of raw) if ('*_`~[]!<&\\'.includes(character)) marks += 1;
  return marks > raw.length / 4;
}

function plainTokens(raw: string): Token[] {
  return [{ type: 'text', raw, text: raw }];
}

/** Blocks with their inner tokens. */
export function readTokens(raw: string, definitions: string): Token[] {
  if (isDense(raw)) return [{ type: 'paragraph', raw, text: raw, tokens: plainTokens(raw) }];
  return lexerFor(definitions).lex(raw);
}

/** Text of a paragraph without its beginning. */
export function readInlineTokens(raw: string, definitions: string): Token[] {
  return isDense(raw) ? plainTokens(raw) : lexerFor(definitions).inlineTokens(raw);
}
