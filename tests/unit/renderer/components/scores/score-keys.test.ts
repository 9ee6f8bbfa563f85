import { describe, expect, test } from 'vitest';
import { noTyping, typeScore } from '../../../../../renderer/components/scores.tsx';

/** The score after keys pressed one right after the other. */
function typed(keys: string, before: number | null = null): number | null {
  let [score, typing] = [before, noTyping];
  for (const key of keys) {
    const next = typeScore(key, typing, score);
    score = next?.score ?? score;
    typing = next?.typing ?? typing;
  }
  return score;
}

describe('the keys of the score', () => {
  test.each([
    ['7', 7],
    ['0', 0],
    ['10', 10],
    ['-10', -10],
    ['-6', -6],
    ['6-', -6],
    ['68', 8],
    ['-68', 8],
    ['20', 0],
    ['100', 0],
  ])('%s is %i', (keys, score) => {
    expect(typed(keys)).toBe(score);
  });

  test('mean the same after any earlier score', () => {
    for (const before of [null, -9, 0, 4]) {
      expect([typed('-6', before), typed('6', before), typed('-', before)]).toEqual([-6, 6, before]);
    }
  });

  test('are the only ones', () => {
    expect(typeScore('j', noTyping, 3)).toBeNull();
    expect(typeScore('F1', noTyping, 3)).toBeNull();
  });
});
