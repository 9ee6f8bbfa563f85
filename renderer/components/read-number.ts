/** A number that a person typed, with a decimal comma or point; undefined for nothing, null for no number. */
export function readNumber(text: string): number | undefined | null {
  const trimmed = text.trim().replace('−', '-').replace(',', '.').replace(/^\$/, '');
  if (trimmed === '') return undefined;
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(trimmed) ? Number(trimmed) : null;
}
