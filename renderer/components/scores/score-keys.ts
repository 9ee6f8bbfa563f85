/** What was pressed a moment ago: a minus that waits for its digit, a digit that a minus turns round, a 1 for a possible 0. */
export interface ScoreTyping {
  isNegative: boolean;
  isDigitFresh: boolean;
  isOneOpen: boolean;
}

export const noTyping: ScoreTyping = { isNegative: false, isDigitFresh: false, isOneOpen: false };

/**
 * The score after a key: digits set it, a minus right before or after a digit makes it negative, 1 and 0 in a row are 10. Null
 * when the key means no score; an undefined score leaves the one that is there.
 */
export function typeScore(
  key: string,
  typing: ScoreTyping,
  score: number | null,
): { score?: number; typing: ScoreTyping } | null {
  if (key === '-' || key === '−') {
    const isTurned = typing.isDigitFresh && score !== null && score > 0;
    return isTurned
      ? { score: -score, typing: { ...typing, isNegative: true } }
      : { typing: { isNegative: true, isDigitFresh: false, isOneOpen: false } };
  }
  if (!/^\d$/.test(key)) return null;
  const sign = typing.isNegative ? -1 : 1;
  if (key === '0' && typing.isOneOpen) return { score: sign * 10, typing: { ...noTyping, isDigitFresh: true } };
  return {
    score: key === '0' ? 0 : sign * Number(key),
    typing: {
      isNegative: typing.isNegative && key === '1',
      isDigitFresh: true,
      isOneOpen: key === '1',
    },
  };
}
