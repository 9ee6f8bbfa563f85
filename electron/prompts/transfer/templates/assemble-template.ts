/** Makes Handlebars templates from plain text and tags, so that every character of the text renders as it is. */

/** A template in pieces: text that is meant literally, and tags of Handlebars. */
export type TemplatePart = { readonly text: string } | { readonly tag: string };

/** Names that Handlebars reads as something else when a path begins with them. */
const helperNames = new Set(['if', 'unless', 'each', 'with', 'lookup']);
const keywords = new Set(['else', 'true', 'false', 'null', 'undefined', 'this', 'as']);

function segment(name: string): string | null {
  if (/^[A-Za-z_][\w-]*$/.test(name) && !keywords.has(name)) return name;
  return name === '' || /[[\]\r\n\\]/.test(name) ? null : `[${name}]`;
}

/** A path as Handlebars writes it, such as `customer.[first name]`; null for names that it cannot hold. */
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

/** Handlebars has one escape, a backslash before two braces, so that a longer run is written pair by pair. */
function escapeBraces(braces: string): string {
  return `${braces.length % 2 === 1 ? '{' : ''}${'\\{{'.repeat(Math.floor(braces.length / 2))}`;
}

const endsWithOneBrace = (text: string) => text.endsWith('{') && !text.endsWith('{{');

function escapeText(text: string, isAfterTag: boolean, isBeforeTag: boolean): string {
  const escaped = text.replace(/\{{2,}/g, (braces, offset: number) => {
    const written = escapeBraces(braces);
    // A backslash before an escape would be read with it; an empty comment parts them.
    return text[offset - 1] === '\\' && written.startsWith('\\') ? `\\{{!}}${written}` : written;
  });
  const ending = !isBeforeTag ? '' : text.endsWith('\\') ? '\\' : endsWithOneBrace(text) ? ' ' : '';
  return `${isAfterTag && text.startsWith('}') ? '{{!}}' : ''}${escaped}${ending}`;
}

/**
 * Joins the parts of a template. Three braces in a row would be a tag of their own: a brace before a tag is parted from it by a
 * space, which the tag takes away again.
 */
export function assembleTemplate(parts: readonly TemplatePart[]): string {
  const pieces = merged(parts);
  return pieces
    .map((part, index) => {
      if ('text' in part) return escapeText(part.text, index > 0, index < pieces.length - 1);
      const before = pieces[index - 1];
      const isParted = before !== undefined && 'text' in before && endsWithOneBrace(before.text);
      return isParted ? part.tag.replace(/^\{\{~?/, '{{~') : part.tag;
    })
    .join('');
}

/** A template that renders the text itself. */
export function literalTemplate(text: string): string {
  return assembleTemplate([{ text }]);
}
