/** Texts that models and tools write as JSON, decoded like a JSON parser. */

const escape = /\\(?:u([\da-f]{4})|([bfnrt"\\/]))/gi;
const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Whether characters are written as their codes, which hides them from searches. */
export const hasCodes = (text: string): boolean => /\\u[\da-f]{4}/i.test(text);

const character = (code: string | undefined, short: string): string =>
  code === undefined ? (controls[short] ?? short) : String.fromCharCode(Number.parseInt(code, 16));

/** The text without JSON's escapes. Also works for incomplete JSON, and for JSON inside other text. */
export function unescapeJson(text: string): string {
  return text.replaceAll(escape, (_, code: string | undefined, short: string) => character(code, short));
}

/** The text without JSON's escapes, and the offset in the original text of each of its characters and of its end. */
export function unescapeWithOffsets(text: string): { readonly text: string; readonly offsets: Uint32Array } {
  const parts: string[] = [];
  const offsets = new Uint32Array(text.length + 1);
  let length = 0;
  let end = 0;
  const copyUntil = (next: number) => {
    parts.push(text.slice(end, next));
    for (; end < next; end += 1) offsets[length++] = end;
  };
  for (const match of text.matchAll(escape)) {
    copyUntil(match.index);
    offsets[length++] = match.index;
    parts.push(character(match[1], match[2]!));
    end = match.index + match[0].length;
  }
  copyUntil(text.length);
  offsets[length] = text.length;
  return { text: parts.join(''), offsets: offsets.subarray(0, length + 1) };
}
