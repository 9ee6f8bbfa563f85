/** Handlebars' own parser, made safe for untrusted texts: exact offsets, linear time, bounded depth. */

import * as handlebars from '@handlebars/parser';
import type { AST } from '@handlebars/parser';
import { matchBlocks, scanTags } from './prompt-template-tags.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where and why a template is invalid. */
export class TemplateProblem extends Error {
  readonly start: number;

  constructor(message: string, start: number) {
    super(message);
    this.name = 'TemplateProblem';
    this.start = start;
  }
}

/** Most words and signs inside the tags of one template; parsing as many takes about 100 ms. */
export const maxTokens = 20_000;
/** Max nesting of blocks; every `else if` counts as one. */
export const maxNesting = 100;

/** The parts of a generated (Jison) lexer that are used here; the package's types omit them. */
interface Lexer {
  _input: string;
  /** Everything read so far; the package uses it for its messages only. */
  matched: string;
  offset: number;
  yylloc: { range: [number, number] };
  options: object;
  setInput(input: string, yy: object): Lexer;
  unput(text: string): Lexer;
  next(): number | string | false;
}

interface Parser {
  yy: object;
  lexer: Lexer;
  symbols_: Record<string, number>;
  parse(text: string): AST.Program;
}

const { parser: original, WhitespaceControl } = handlebars as unknown as {
  parser: Parser;
  WhitespaceControl: new () => { accept(program: AST.Program): AST.Program };
};
const symbol = original.symbols_;

/**
 * Counts the tokens of one text and aborts the parse if it becomes too large or too deep: the parser copies its stack at every
 * step, and white-space control recurses into blocks.
 */
class TokenGuard {
  private tokens = 0;
  private parentheses = 0;
  private readonly blocks: number[] = [];
  private nesting = 0;

  see(token: number | string, start: number): void {
    if (++this.tokens > maxTokens) {
      throw new TemplateProblem(
        `The template has too many tags: they may hold ${maxTokens} words and signs together`,
        start,
      );
    }
    if (token === symbol['OPEN_SEXPR']) this.parentheses++;
    else if (token === symbol['CLOSE_SEXPR']) this.parentheses--;
    else if (token === symbol['OPEN_BLOCK'] || token === symbol['OPEN_INVERSE']) this.open();
    else if (token === symbol['OPEN_INVERSE_CHAIN']) this.chain();
    else if (token === symbol['OPEN_ENDBLOCK']) this.nesting -= this.blocks.pop() ?? 0;
    if (this.parentheses > maxNesting || this.nesting > maxNesting) {
      throw new TemplateProblem(`Nested deeper than ${maxNesting} levels`, start);
    }
  }

  private open(): void {
    this.blocks.push(1);
    this.nesting++;
  }

  private chain(): void {
    if (this.blocks.length === 0) return;
    this.blocks[this.blocks.length - 1]! += 1;
    this.nesting++;
  }
}

interface NamedTag {
  path?: { original: unknown };
  loc: Span;
}

/** The package's node builders, with offsets in `loc` and with positions in errors. */
function createBuilders(): object {
  // The package's parser gets its builders only with the first parse.
  handlebars.parseWithoutProcessing('');
  const builders = original.yy as Record<'preparePath' | 'prepareBlock', (...values: unknown[]) => unknown>;
  return {
    ...builders,
    locInfo: (location: { range: [number, number] } | Span): Span =>
      'range' in location ? { start: location.range[0], end: location.range[1] } : location,
    preparePath(this: object, ...values: unknown[]): unknown {
      try {
        return builders.preparePath.apply(this, values);
      } catch (error) {
        const location = values[3] as { range: [number, number] };
        throw new TemplateProblem(messageOf(error).replace(/ - \S+$/, ''), location.range[0]);
      }
    },
    prepareBlock(this: object, ...values: unknown[]): unknown {
      const [open, , , close] = values as [NamedTag, unknown, unknown, (NamedTag & { path?: AST.Node }) | undefined];
      const [opened, closed] = [open.path?.original, close?.path && (close.path as { original?: unknown }).original];
      if (close?.path && opened !== closed) {
        throw new TemplateProblem(
          `{{/${String(closed)}}} stands where {{/${String(opened)}}} is needed`,
          nodeSpan(close.path).start,
        );
      }
      return builders.prepareBlock.apply(this, values);
    },
  };
}

/** A parser for one text; the package's own parser is unchanged. `position` is the offset of the last token. */
function createParser(text: string): { parser: Parser; position: () => number } {
  const guard = new TokenGuard();
  let current = original.lexer;
  const lexer = Object.assign(Object.create(original.lexer) as Lexer, {
    options: { ranges: true },
    setInput(this: Lexer, input: string, yy: object): Lexer {
      current = this;
      return original.lexer.setInput.call(this, input, yy);
    },
    // The package's version copies both the text before and the text after, for every comment and every `[`.
    unput(this: Lexer, read: string): Lexer {
      this.offset -= read.length;
      this._input = text.slice(this.offset);
      this.matched = '';
      return this;
    },
    next(this: Lexer): number | string | false {
      const token = original.lexer.next.call(this);
      if (token !== false) guard.see(token, this.yylloc.range[0]);
      return token;
    },
  });
  const parser = Object.assign(Object.create(original) as Parser, { lexer, yy: createBuilders() });
  return { parser, position: () => current.yylloc.range[0] };
}

/** The offsets of a node. Nodes have them in `loc`, instead of the lines and columns of the package's types. */
export function nodeSpan(node: AST.Node): Span {
  return node.loc as unknown as Span;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Translates the parser's token names to words. */
function explain(text: string, position: number, token: unknown): TemplateProblem {
  const tags = scanTags(text.slice(0, position + 2_000), maxTokens);
  const around = tags.findLast((tag) => tag.start <= position);
  if (around && !around.isClosed && around.end >= position) {
    return new TemplateProblem(`This ${around.kind === 'comment' ? 'comment' : 'tag'} is never closed`, around.start);
  }
  if (token === 'EOF') {
    const open = matchBlocks(tags).blocks.findLast((block) => block.close === null);
    if (open)
      return new TemplateProblem(`{{#${open.name}}} is never closed: {{/${open.name}}} is missing`, open.open.start);
  }
  const written =
    around && position < around.end ? text.slice(around.start, Math.min(around.end, around.start + 60)) : '';
  if (around?.kind === 'close') return new TemplateProblem(`${written} closes a block that is not open`, around.start);
  if (around?.kind === 'else') return new TemplateProblem(`${written} stands outside of a block`, around.start);
  if (/^\{\{[~#^&/{]*\s*~?\}\}/.test(written))
    return new TemplateProblem('The tag is empty', around?.start ?? position);
  const word = /^\S{1,30}/.exec(text.slice(position, position + 30))?.[0];
  return new TemplateProblem(
    word ? `${JSON.stringify(word)} cannot stand here` : 'The template ends too early',
    position,
  );
}

/** Parses and applies white-space control as Handlebars does. Throws `TemplateProblem`. */
export function parseSyntax(text: string): AST.Program {
  const zero = text.indexOf('\0');
  if (zero >= 0) throw new TemplateProblem('A template cannot hold the character U+0000', zero);
  const { parser, position } = createParser(text);
  try {
    return new WhitespaceControl().accept(parser.parse(text));
  } catch (error) {
    if (error instanceof TemplateProblem) throw error;
    throw explain(text, position(), (error as { hash?: { token?: unknown } }).hash?.token);
  }
}
