import { assembleTemplate, handlebarsPath, type TemplatePart } from './assemble-template.ts';
import { lineAt, Refusal } from '../refusal.ts';

/** Whether a text looks as if it had variables in single braces, as Python's `format` has. */
export function hasSingleBraces(text: string): boolean {
  return /(?:^|[^{])\{[A-Za-z_]\w*\}(?!\})/.test(text);
}

function tagOf(text: string, inner: string, offset: number): string {
  if (!/^[A-Za-z_]\w*$/.test(inner)) {
    const shown = inner.length > 40 ? `${inner.slice(0, 40)}…` : inner;
    throw new Refusal(`{${shown}} isn't a variable name`, lineAt(text, offset));
  }
  return `{{${handlebarsPath([inner])}}}`;
}

/** `{name}` becomes `{{name}}`, and doubled braces become single ones. Throws `Refusal` for anything else in braces. */
export function translateSingleBraces(text: string): string {
  const parts: TemplatePart[] = [];
  let done = 0;
  for (const match of text.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    parts.push({ text: text.slice(done, match.index) });
    done = match.index + match[0].length;
    if (match[0] === '{{' || match[0] === '}}') parts.push({ text: match[0][0]! });
    else if (match[1] !== undefined) parts.push({ tag: tagOf(text, match[1], match.index) });
    else throw new Refusal(`Unmatched ${match[0]}`, lineAt(text, match.index));
  }
  return assembleTemplate([...parts, { text: text.slice(done) }]);
}
