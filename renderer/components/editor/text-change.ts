/** A text in the editor's form: every line ends with one line feed. */
export function editorText(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

const sliceCharacters = 4096;

/** Length of the common beginning of two texts. Comparing slices first takes a few milliseconds for 4 MB. */
export function commonStart(one: string, other: string): number {
  const max = Math.min(one.length, other.length);
  let length = 0;
  while (
    length + sliceCharacters <= max &&
    one.slice(length, length + sliceCharacters) === other.slice(length, length + sliceCharacters)
  ) {
    length += sliceCharacters;
  }
  while (length < max && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

/** Length of the common end of two texts, at most `max`. */
function commonEnd(one: string, other: string, max: number): number {
  const [from, otherFrom] = [one.length, other.length];
  let length = 0;
  while (
    length + sliceCharacters <= max &&
    one.slice(from - length - sliceCharacters, from - length) ===
      other.slice(otherFrom - length - sliceCharacters, otherFrom - length)
  ) {
    length += sliceCharacters;
  }
  while (length < max && one.charCodeAt(from - length - 1) === other.charCodeAt(otherFrom - length - 1)) length += 1;
  return length;
}

/** The smallest replacement that turns one text into the other; null when they are equal. */
export function textChange(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null;
  const start = commonStart(before, after);
  const end = commonEnd(before, after, Math.min(before.length, after.length) - start);
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
