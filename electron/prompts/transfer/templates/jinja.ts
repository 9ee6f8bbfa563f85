import { assembleTemplate, handlebarsPath, type TemplatePart } from './assemble-template.ts';
import { lineAt, Refusal } from '../refusal.ts';

/** Whether a text has statements of Jinja2 or Nunjucks; variables alone are written in Handlebars' way too. */
export function hasJinjaTags(text: string): boolean {
  return /\{%[-+]?\s*\w|\{#|\{\{-|-\}\}|\{\{[^{}|]*\|/.test(text);
}

const namePattern = /^[A-Za-z_]\w*/;

/** `customer.name`, `items[0]` and `customer["name"]`; null for any other expression. */
function pathOf(expression: string): string | null {
  const names: string[] = [];
  const first = namePattern.exec(expression)?.[0];
  if (first === undefined) return null;
  names.push(first);
  let rest = expression.slice(first.length);
  while (rest !== '') {
    const step = /^\.([A-Za-z_]\w*)|^\.(\d+)|^\[(\d+)\]|^\["([^"\\]*)"\]|^\['([^'\\]*)'\]/.exec(rest);
    if (step === null) return null;
    names.push(step.slice(1).find((name) => name !== undefined)!);
    rest = rest.slice(step[0].length);
  }
  return handlebarsPath(names);
}

interface JinjaTag {
  readonly kind: 'value' | 'statement' | 'comment';
  readonly inner: string;
  readonly start: number;
  readonly end: number;
  /** Signs that take the white space away on that side. */
  readonly left: '~' | '';
  readonly right: '~' | '';
}

const kinds = { '{{': 'value', '{%': 'statement', '{#': 'comment' } as const;
const closings = { '{{': '}}', '{%': '%}', '{#': '#}' } as const;

function nextTag(text: string, from: number): JinjaTag | null {
  const opening = /\{[{%#]/g;
  opening.lastIndex = from;
  const match = opening.exec(text);
  if (match === null) return null;
  const sign = match[0] as keyof typeof kinds;
  const close = text.indexOf(closings[sign], match.index + 2);
  if (close === -1) throw new Refusal(`${sign} is never closed`, lineAt(text, match.index));
  const inside = text.slice(match.index + 2, close);
  const left = inside.startsWith('-') ? '~' : '';
  const right = inside.length > 1 && inside.endsWith('-') ? '~' : '';
  const inner = inside.slice(left.length, inside.length - right.length).trim();
  return { kind: kinds[sign], inner, start: match.index, end: close + 2, left, right };
}

/** Reads the tags in order and collects the parts of the Handlebars template. */
class JinjaTranslator {
  readonly parts: TemplatePart[] = [];
  private readonly text: string;
  private readonly blocks: { name: 'if' | 'unless'; start: number; hasElse: boolean }[] = [];

  /** Whether a tag outside of `raw` takes white space away. */
  private readonly isTrimmed: boolean;

  constructor(text: string) {
    this.text = text;
    this.isTrimmed = /\{[{%#]-|-[}%#]\}/.test(text.replace(/\{%\s*raw\s*%\}[\s\S]*?\{%\s*endraw\s*%\}/g, ''));
  }

  translate(): string {
    let done = 0;
    for (let tag = nextTag(this.text, 0); tag !== null; tag = nextTag(this.text, done)) {
      this.parts.push({ text: this.text.slice(done, tag.start) });
      done = tag.kind === 'statement' && tag.inner === 'raw' ? this.raw(tag) : tag.end;
      if (tag.kind === 'value') this.parts.push({ tag: `{{${tag.left}${this.value(tag)}${tag.right}}}` });
      else if (tag.kind === 'comment') this.comment(tag);
      else if (tag.inner !== 'raw') this.statement(tag);
    }
    const open = this.blocks.at(-1);
    if (open !== undefined) throw new Refusal('{% if %} is never closed', lineAt(this.text, open.start));
    return assembleTemplate([...this.parts, { text: this.text.slice(done) }]);
  }

  private refuse(tag: JinjaTag, reason: string): never {
    const written = this.text.slice(tag.start, Math.min(tag.end, tag.start + 60));
    throw new Refusal(`${written} ${reason}`, lineAt(this.text, tag.start));
  }

  private value(tag: JinjaTag): string {
    // With escaping off, as prompts are rendered, `safe` changes nothing.
    const path = pathOf(tag.inner.replace(/\s*\|\s*safe$/, ''));
    if (path !== null) return path;
    const reason = tag.inner.includes('|')
      ? "uses a filter, which Handlebars doesn't support"
      : 'is an expression, not a variable';
    return this.refuse(tag, reason);
  }

  /** Kept even when it says nothing: a sign that takes white space away reaches only as far as the next tag. */
  private comment(tag: JinjaTag): void {
    const isSafe = tag.inner !== '' && !/--|\}\}|-$/.test(tag.inner);
    this.push(tag, isSafe ? `!-- ${tag.inner} --` : '!', 'right');
  }

  /** Everything up to `endraw` is text; answers where that ends. */
  private raw(tag: JinjaTag): number {
    const close = /\{%\s*endraw\s*%\}/g;
    close.lastIndex = tag.end;
    const match = close.exec(this.text);
    if (match === null || tag.left || tag.right) this.refuse(tag, "isn't closed by a plain {% endraw %}");
    const raw = this.text.slice(tag.end, match.index);
    if (this.isTrimmed && raw !== raw.trim())
      this.refuse(tag, 'starts or ends with white space that white-space control may remove');
    this.parts.push({ text: raw });
    return match.index + match[0].length;
  }

  /** Handlebars takes away a line that has nothing but a tag of a block; an empty comment on one of its sides keeps it. */
  private isAlone(tag: JinjaTag): boolean {
    const [before, after] = [this.text.slice(0, tag.start), this.text.slice(tag.end)];
    return /(^|[\n}])[^\S\n]*$/.test(before.slice(-200)) && /^[^\S\n]*($|\r?\n|\{)/.test(after.slice(0, 200));
  }

  /** `inner` is the side of the tag that is inside of its block: white space is taken away beyond a comment there only if it is not asked for. */
  private push(tag: JinjaTag, written: string, inner: 'left' | 'right'): void {
    const sides = inner === 'left' ? (['left', 'right'] as const) : (['right', 'left'] as const);
    const side = this.isAlone(tag) ? sides.find((one) => tag[one] === '') : undefined;
    if (side === 'left') this.parts.push({ tag: '{{!}}' });
    this.parts.push({ tag: `{{${tag.left}${written}${tag.right}}}` });
    if (side === 'right') this.parts.push({ tag: '{{!}}' });
  }

  private statement(tag: JinjaTag): void {
    const [word = '', ...rest] = tag.inner.split(/\s+/);
    const block = this.blocks.at(-1);
    if (word === 'if') this.push(tag, this.open(tag, rest), 'right');
    else if (word === 'endif' && rest.length === 0 && block !== undefined) {
      this.blocks.pop();
      this.push(tag, `/${block.name}`, 'left');
    } else if ((word === 'else' || word === 'elif' || word === 'elseif') && block !== undefined && !block.hasElse) {
      block.hasElse = word === 'else';
      this.push(tag, ['else', ...(word === 'else' ? [] : this.condition(tag, rest))].join(' '), 'left');
    } else this.refuse(tag, 'has no exact equivalent in Handlebars');
  }

  private open(tag: JinjaTag, words: readonly string[]): string {
    const [name, path] = this.condition(tag, words);
    this.blocks.push({ name, start: tag.start, hasElse: false });
    return `#${name} ${path}`;
  }

  private condition(tag: JinjaTag, words: readonly string[]): ['if' | 'unless', string] {
    const isNegated = words[0] === 'not';
    const path = pathOf(words.slice(isNegated ? 1 : 0).join(' '));
    if (path === null) this.refuse(tag, 'tests more than whether a variable has a value');
    return [isNegated ? 'unless' : 'if', path];
  }
}

/**
 * Variables, `if`, `elif`, `else`, comments, `raw` and white-space signs of Jinja2 and Nunjucks, in Handlebars. Throws `Refusal`
 * for loops, filters, comparisons, macros and everything else that would render differently.
 */
export function translateJinja(text: string): string {
  return new JinjaTranslator(text).translate();
}
