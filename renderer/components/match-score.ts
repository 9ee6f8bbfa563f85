/**
 * How well a name matches the typed terms, from 0 (no match) to 1. The name must contain every term, and a match at the start of a
 * word scores higher.
 */
export function matchScore(search: string, names: readonly string[]): number {
  const text = names.join(' ').toLowerCase();
  let score = 1;
  for (const word of search.toLowerCase().split(/\s+/)) {
    const at = text.indexOf(word);
    if (at < 0) return 0;
    const isWordStart = at === 0 || /[^a-z0-9]/.test(text[at - 1] ?? '');
    score *= (isWordStart ? 1 : 0.6) * (1 - Math.min(at, 200) / 1_000);
  }
  return score;
}
