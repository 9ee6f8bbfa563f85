/** What was pressed so far: a minus waits for its digit, a 1 for a possible 0. */
export interface ScoreTyping {
  isNegative: boolean;
  /** The last digit was a 1 that a 0 makes a 10. */
  isOneOpen: boolean;
}

export const noTyping: ScoreTyping = { isNegative: false, isOneOpen: false };

/**
 * The score after a key: digits set it, a minus before or after a digit turns it round, 1 and 0 in a row are 10. Null when
 * the key means no score; an undefined score leaves the one that is there.
 */
export function typeScore(
  key: string,
  typing: ScoreTyping,
  score: number | null,
): { score?: number; typing: ScoreTyping } | null {
  if (key === '-' || key === '−') {
    const turned = score === null || score === 0 ? {} : { score: -score };
    return { ...turned, typing: { isNegative: !(score !== null && score < 0), isOneOpen: false } };
  }
  if (!/^\d$/.test(key)) return null;
  const sign = typing.isNegative ? -1 : 1;
  if (key === '0') return { score: typing.isOneOpen ? sign * 10 : 0, typing: noTyping };
  return { score: sign * Number(key), typing: { ...typing, isOneOpen: key === '1' } };
}
