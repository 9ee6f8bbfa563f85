import { type Message, type MessageRole, textOfMessage } from '../../../../shared/contract/messages.ts';
import { joinMessages } from '../../../../shared/prompt-messages.ts';
import { lineAt, TransferError } from '../source-text.ts';

/** Makes Handlebars templates from plain text and tags, so that each character of the text renders unchanged. */

/** The parts of a template: literal text, and tags of Handlebars. */
export type TemplatePart = { readonly text: string } | { readonly tag: string };

/** Names that Handlebars reads as something else at the start of a path. */
const helperNames = new Set(['if', 'unless', 'each', 'with', 'lookup', 'history']);
const keywords = new Set(['else', 'true', 'false', 'null', 'undefined', 'this', 'as']);

function segment(name: string): string | null {
  if (/^[A-Za-z_][\w-]*$/.test(name) && !keywords.has(name)) return name;
  return name === '' || /[[\]\r\n\\]/.test(name) ? null : `[${name}]`;
}

/** A path in Handlebars' syntax, such as `customer.[first name]`; null for names that it can't express. */
export function handlebarsPath(names: readonly string[]): string | null {
  const segments = names.map(segment);
  if (segments.length === 0 || segments.includes(null)) return null;
  return helperNames.has(names[0]!) && names.length === 1 ? `this.${names[0]}` : segments.join('.');
}

function merged(parts: readonly TemplatePart[]): TemplatePart[] {
  const result: TemplatePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if ('tag' in part) result.push(part);
    else if (last !== undefined && 'text' in last) result[result.length - 1] = { text: last.text + part.text };
    else if (part.text !== '') result.push(part);
  }
  return result;
}

/** Handlebars has one escape, a backslash before two braces, so that a longer sequence is written pair by pair. */
function escapeBraces(braces: string): string {
  return `${braces.length % 2 === 1 ? '{' : ''}${'\\{{'.repeat(Math.floor(braces.length / 2))}`;
}

const endsWithOneBrace = (text: string) => text.endsWith('{') && !text.endsWith('{{');

function escapeText(text: string, isAfterTag: boolean, isBeforeTag: boolean): string {
  const escaped = text.replace(/\{{2,}/g, (braces, offset: number) => {
    const written = escapeBraces(braces);
    // A backslash before an escape would be read with it; an empty comment separates them.
    return text[offset - 1] === '\\' && written.startsWith('\\') ? `\\{{!}}${written}` : written;
  });
  const ending = !isBeforeTag ? '' : text.endsWith('\\') ? '\\' : endsWithOneBrace(text) ? ' ' : '';
  return `${isAfterTag && text.startsWith('}') ? '{{!}}' : ''}${escaped}${ending}`;
}

/**
 * Joins the parts of a template. Three braces in a row would be another kind of tag, so a space separates a brace from a
 * following tag, and the tag removes that space.
 */
export function assembleTemplate(parts: readonly TemplatePart[]): string {
  const segments = merged(parts);
  return segments
    .map((part, index) => {
      if ('text' in part) return escapeText(part.text, index > 0, index < segments.length - 1);
      const before = segments[index - 1];
      const isParted = before !== undefined && 'text' in before && endsWithOneBrace(before.text);
      return isParted ? part.tag.replace(/^\{\{~?/, '{{~') : part.tag;
    })
    .join('');
}

/** A template that renders the text itself. */
export function literalTemplate(text: string): string {
  return assembleTemplate([{ text }]);
}

/** A template that renders to the messages. It can't express the steps of tools, which are only in the messages. */
export function literalMessagesTemplate(messages: readonly Message[]): string {
  const [only] = messages;
  if (messages.length === 1 && only?.role === 'user') return literalTemplate(textOfMessage(only));
  return joinMessages(
    messages.flatMap((message) => {
      const text = textOfMessage(message);
      const role = message.role as Exclude<MessageRole, 'tool'>;
      return message.role === 'tool' || text === '' ? [] : [{ role, text: literalTemplate(text), opening: '' }];
    }),
  );
}

/** Whether a text has statements of Jinja2 or Nunjucks. Variables alone have the same syntax in Handlebars. */
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

const rawStart = /\{%\s*raw\s*%\}/y;
const closings = { '{{': '}}', '{%': '%}', '{#': '#}' } as const;

/** The text of a `raw` block and where the block ends; null if none starts here. */
function rawBlock(text: string, start: number): { content: string; end: number } | null {
  rawStart.lastIndex = start;
  if (!rawStart.test(text)) return null;
  const inner = rawStart.lastIndex;
  const close = /\{%\s*endraw\s*%\}/g;
  close.lastIndex = inner;
  const match = close.exec(text);
  if (match === null) throw new TransferError("{% raw %} isn't closed by a plain {% endraw %}", lineAt(text, start));
  return { content: text.slice(inner, match.index), end: match.index + match[0].length };
}

function tagOf(text: string, start: number, end: number): string {
  const path = text.startsWith('{{', start) ? pathOf(text.slice(start + 2, end - 2).trim()) : null;
  if (path !== null) return `{{${path}}}`;
  const written = text.slice(start, Math.min(end, start + 60));
  throw new TransferError(`${written} isn't a plain variable such as {{ name }}`, lineAt(text, start));
}

/**
 * Translates variables such as `{{ customer.name }}` and `raw` text of Jinja2 and Nunjucks to Handlebars. Throws `TransferError`
 * for statements, filters, comments, white-space control and expressions.
 */
export function translateJinja(text: string): string {
  const parts: TemplatePart[] = [];
  let done = 0;
  for (const { 0: sign, index } of text.matchAll(/\{[{%#]/g)) {
    // Inside the previous tag or raw text.
    if (index < done) continue;
    parts.push({ text: text.slice(done, index) });
    const raw = rawBlock(text, index);
    const close = text.indexOf(closings[sign as keyof typeof closings], index + 2);
    if (raw === null && close === -1) throw new TransferError(`${sign} is never closed`, lineAt(text, index));
    parts.push(raw ? { text: raw.content } : { tag: tagOf(text, index, close + 2) });
    done = raw ? raw.end : close + 2;
  }
  return assembleTemplate([...parts, { text: text.slice(done) }]);
}
