import { describe, expect, test } from 'vitest';
import {
  choosePassages,
  passageTokens,
  type PassageLimits,
} from '../../../../electron/knowledge/grounding/create-grounding.ts';
import type { RankedPassage } from '../../../../electron/knowledge/retrieval/create-retrieval.ts';

const limits: PassageLimits = { relevance: 0.1, tokens: 1000, passages: 3 };

function passage(name: string, relevance: number, text = `about ${name}`): RankedPassage {
  const position = { sourceId: name, sourceName: name, start: 0, end: text.length };
  return {
    ...position,
    text,
    heading: null,
    relevance,
    textRank: 1,
    textScore: 1,
    coverage: 1,
    vectorRank: 1,
    similarity: 1,
  };
}

const positionOf = ({ sourceId, start, end }: RankedPassage) => ({ sourceId, start, end });
const shown = (choice: Partial<Parameters<typeof choosePassages>[0]>, changed: Partial<PassageLimits> = {}) =>
  choosePassages({ pinned: [], found: [], excluded: [], ...choice }, { ...limits, ...changed }).map(
    ({ sourceId, index, omission }) => [sourceId, index ?? omission],
  );

describe('passages', () => {
  test('are the relevant ones, best first, up to the limit', () => {
    const found = [passage('a', 0.9), passage('b', 0.5), passage('c', 0.4), passage('d', 0.3), passage('e', 0.05)];
    expect(shown({ found })).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 'too-many'],
      ['e', 'not-relevant'],
    ]);
  });

  test('that are far less relevant than the best one are left out', () => {
    expect(shown({ found: [passage('a', 0.9), passage('b', 0.08)] }, { relevance: 0.03 })).toEqual([
      ['a', 1],
      ['b', 'not-relevant'],
    ]);
  });

  test('fit the token budget, except that the first is always included', () => {
    const long = 'word '.repeat(200);
    const found = [passage('a', 0.9, long), passage('b', 0.8, long), passage('c', 0.7)];
    expect(shown({ found }, { tokens: passageTokens(long) + passageTokens('about c') })).toEqual([
      ['a', 1],
      ['c', 2],
      ['b', 'no-room'],
    ]);
    expect(shown({ found: [passage('a', 0.9, long)] }, { tokens: 10 })).toEqual([['a', 1]]);
    expect(shown({ found: [passage('a', 0.9)] }, { tokens: -5 })).toEqual([['a', 'no-room']]);
  });

  test('that are pinned come first in their order, relevant or not and beyond the limit, with their ranks', () => {
    const found = [passage('a', 0.9), passage('b', 0.8), passage('c', 0.7), passage('d', 0.01)];
    const pinned = [found[3]!, passage('z', 1)];
    expect(shown({ found, pinned })).toEqual([
      ['d', 1],
      ['z', 2],
      ['a', 3],
      ['b', 'too-many'],
      ['c', 'too-many'],
    ]);
    const [first] = choosePassages({ found, pinned, excluded: [] }, limits);
    expect(first).toMatchObject({ isPinned: true, textRank: 1, relevance: 0.01 });
  });

  test('that are excluded are shown but not used, also for a reference to an excerpt', () => {
    const found = [passage('a', 0.9, 'a longer text'), passage('b', 0.8)];
    expect(shown({ found, excluded: [{ sourceId: 'a', start: 2, end: 8 }] })).toEqual([
      ['b', 1],
      ['a', 'excluded'],
    ]);
    expect(shown({ found, pinned: [found[1]!], excluded: [positionOf(found[1]!)] })).toEqual([
      ['a', 1],
      ['b', 'excluded'],
    ]);
  });
});
