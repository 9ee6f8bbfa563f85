/** The first characters of a text, in UTF-16 units: one less where half a character would remain. */
export function startOfText(text: string, length: number): string {
  const isSplit = length > 0 && length < text.length && text.codePointAt(length - 1)! > 0xff_ff;
  return text.slice(0, isSplit ? length - 1 : length);
}
