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

const rawStart = /\{%\s*raw\s*%\}/y;
const closings = { '{{': '}}', '{%': '%}', '{#': '#}' } as const;

/** The text of a `raw` block and where the block ends; null where none starts. */
function rawBlock(text: string, start: number): { content: string; end: number } | null {
  rawStart.lastIndex = start;
  if (!rawStart.test(text)) return null;
  const inner = rawStart.lastIndex;
  const close = /\{%\s*endraw\s*%\}/g;
  close.lastIndex = inner;
  const match = close.exec(text);
  if (match === null) throw new Refusal("{% raw %} isn't closed by a plain {% endraw %}", lineAt(text, start));
  return { content: text.slice(inner, match.index), end: match.index + match[0].length };
}

function tagOf(text: string, start: number, end: number): string {
  const path = text.startsWith('{{', start) ? pathOf(text.slice(start + 2, end - 2).trim()) : null;
  if (path !== null) return `{{${path}}}`;
  const written = text.slice(start, Math.min(end, start + 60));
  throw new Refusal(`${written} isn't a plain variable such as {{ name }}`, lineAt(text, start));
}

/**
 * Variables such as `{{ customer.name }}` and `raw` text of Jinja2 and Nunjucks, in Handlebars. Throws `Refusal` for statements,
 * filters, comments, white-space control and expressions.
 */
export function translateJinja(text: string): string {
  const parts: TemplatePart[] = [];
  let done = 0;
  for (const { 0: sign, index } of text.matchAll(/\{[{%#]/g)) {
    // Inside of the tag or the raw text before.
    if (index < done) continue;
    parts.push({ text: text.slice(done, index) });
    const raw = rawBlock(text, index);
    const close = text.indexOf(closings[sign as keyof typeof closings], index + 2);
    if (raw === null && close === -1) throw new Refusal(`${sign} is never closed`, lineAt(text, index));
    parts.push(raw ? { text: raw.content } : { tag: tagOf(text, index, close + 2) });
    done = raw ? raw.end : close + 2;
  }
  return assembleTemplate([...parts, { text: text.slice(done) }]);
}
