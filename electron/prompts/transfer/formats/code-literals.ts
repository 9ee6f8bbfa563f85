/** Literals of Python and TypeScript, read as data. Nothing is carried out. */

import { lineAt, Refusal } from '../refusal.ts';

/** A value that the code works out when it runs: a variable, a call, a template with expressions. */
export class Computed {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

const mostDepth = 64;
const missingComma = "Can't parse the code: a comma is missing";
const constants: Readonly<Record<string, unknown>> = {
  True: true,
  true: true,
  False: false,
  false: false,
  None: null,
  null: null,
  undefined: null,
};
const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
  '\n': '',
};
const closings: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Reads from one offset on. Throws `Refusal` where the code ends too early or is none. */
export class LiteralReader {
  private readonly code: string;
  private at: number;

  constructor(code: string, at: number) {
    this.code = code;
    this.at = at;
  }

  /** Arguments of a call whose parenthesis is just before: `{...}` alone, or `name=value` as Python has them. */
  arguments(): Map<string, unknown> {
    this.space();
    if (this.code[this.at] === '{') {
      const value = this.value(0);
      if (value instanceof Map) return value as Map<string, unknown>;
    }
    return this.entries(')', /[A-Za-z_]\w*/y, '=', 0);
  }

  private fail(message: string): never {
    throw new Refusal(message, lineAt(this.code, this.at));
  }

  private space(): void {
    const skipped = /(?:\s|\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    skipped.lastIndex = this.at;
    this.at += skipped.exec(this.code)?.[0].length ?? 0;
    if (this.at >= this.code.length) this.fail('The code ends too early; it may be incomplete');
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.code)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  private value(depth: number): unknown {
    if (depth > mostDepth) this.fail(`The code is nested more than ${mostDepth} levels deep`);
    this.space();
    const start = this.at;
    const value = this.simple(depth);
    this.space();
    // Whatever follows a value, such as a call or a sum, makes it one that is worked out.
    return /[,)\]}]/.test(this.code[this.at]!) ? value : this.computed(start);
  }

  private simple(depth: number): unknown {
    const sign = this.code[this.at]!;
    if (sign === '{') return this.object(depth);
    if (sign === '[') return this.list(depth);
    const text = this.texts();
    if (text !== null) return text;
    const number = this.match(/-?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?/y);
    if (number !== null) return Number(number.replaceAll('_', ''));
    const start = this.at;
    const word = this.match(/[A-Za-z_$][\w$.]*/y);
    return word !== null && Object.hasOwn(constants, word) ? constants[word] : this.computed(start);
  }

  private object(depth: number): Map<string, unknown> {
    this.at += 1;
    return this.entries('}', /[A-Za-z_$][\w$]*/y, ':', depth + 1);
  }

  private entries(close: string, name: RegExp, sign: string, depth: number): Map<string, unknown> {
    const entries = new Map<string, unknown>();
    for (this.space(); this.code[this.at] !== close; this.space()) {
      const key = this.match(name) ?? this.texts();
      this.space();
      if (typeof key !== 'string') this.fail("A field name isn't a string");
      if (this.code[this.at] === sign) {
        this.at += 1;
        entries.set(key, this.value(depth));
      } else entries.set(key, new Computed(key));
      this.space();
      if (this.code[this.at] === ',') this.at += 1;
      else if (this.code[this.at] !== close) this.fail(missingComma);
    }
    this.at += 1;
    return entries;
  }

  private list(depth: number): unknown[] {
    this.at += 1;
    const items: unknown[] = [];
    for (this.space(); this.code[this.at] !== ']'; this.space()) {
      items.push(this.value(depth + 1));
      this.space();
      if (this.code[this.at] === ',') this.at += 1;
      // A bracket of another kind would be met as an empty item again and again, without end.
      else if (this.code[this.at] !== ']') this.fail(missingComma);
    }
    this.at += 1;
    return items;
  }

  /** One text, or several that Python joins or a plus sign does; null where there is none. */
  private texts(): string | Computed | null {
    const start = this.at;
    let whole: string | null = null;
    for (;;) {
      const text = this.text();
      if (text instanceof Computed) return text;
      if (text === null) break;
      whole = (whole ?? '') + text;
      this.space();
      if (this.code[this.at] === '+') {
        this.at += 1;
        this.space();
        if (!/["'`]/.test(this.code[this.at]!)) return this.computed(start);
      }
    }
    return whole;
  }

  private text(): string | Computed | null {
    const start = this.at;
    const opening = this.match(/[rRbBuUfF]{0,2}("""|'''|"|'|`)/y);
    if (opening === null) return null;
    const quote = opening.replace(/^[a-zA-Z]+/, '');
    const prefix = opening.slice(0, -quote.length).toLowerCase();
    let text = '';
    for (;;) {
      if (this.at >= this.code.length) this.fail('Unterminated string; the code may be incomplete');
      if (this.code.startsWith(quote, this.at)) break;
      if (quote.length === 1 && quote !== '`' && this.code[this.at] === '\n') this.fail('Unterminated string');
      if (quote === '`' && this.code.startsWith('${', this.at)) return this.computed(start);
      text += this.code[this.at] === '\\' && !prefix.includes('r') ? this.escape() : this.code[this.at++]!;
    }
    this.at += quote.length;
    // A text that Python fills itself has values in braces.
    return prefix.includes('f') && /[{}]/.test(text) ? new Computed(this.code.slice(start, this.at)) : text;
  }

  private escape(): string {
    const coded = this.match(/\\u\{[0-9a-fA-F]{1,6}\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}/y);
    if (coded !== null) {
      const point = Number.parseInt(coded.replace(/[^0-9a-fA-F]/g, ''), 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '�';
    }
    const sign = this.code[this.at + 1] ?? '';
    this.at += 2;
    if (sign === '\r' && this.code[this.at] === '\n') this.at += 1;
    return sign === '\r' ? '' : (escapes[sign] ?? sign);
  }

  /** Everything up to where the value ends. */
  private computed(start: number): Computed {
    this.at = start;
    const open: string[] = [];
    for (; ; this.at += 1) {
      const sign = this.code[this.at];
      if (sign === undefined) this.fail('The code ends too early; it may be incomplete');
      if (open.length === 0 && /[,)\]}]/.test(sign)) break;
      if (closings[sign] !== undefined) open.push(closings[sign]);
      else if (sign === open.at(-1)) open.pop();
      else if (/["'`]/.test(sign)) this.at = this.endOfText(this.at);
    }
    return new Computed(this.code.slice(start, this.at).trim());
  }

  private endOfText(start: number): number {
    const quote = ['"""', "'''"].find((three) => this.code.startsWith(three, start)) ?? this.code[start]!;
    for (let at = start + quote.length; at < this.code.length; at += 1) {
      if (this.code[at] === '\\') at += 1;
      else if (this.code.startsWith(quote, at)) return at + quote.length - 1;
    }
    return this.code.length;
  }
}
