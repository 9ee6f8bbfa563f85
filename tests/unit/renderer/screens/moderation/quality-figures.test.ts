import { describe, expect, test } from 'vitest';
import {
  curveOf,
  flaggedShare,
  nearestCategory,
  qualityAt,
  thresholdFor,
  writeNearest,
} from '../../../../../renderer/screens/moderation/quality-figures.ts';
import type { BatchResult } from '../../../../../shared/contract/moderation-window.ts';

const unknown = { sexual: null, hatred: null, harassment: null, selfHarm: null, violence: null };
const limits = { sexual: 0.5, hatred: 0.5, harassment: 0.5, selfHarm: 0.5, violence: 0.5 };

function judged(violence: number, isViolent: boolean | null, second?: number): BatchResult {
  const scores = [violence, second].filter((score) => score !== undefined).map((score) => [0, 0, 0, 0, score]);
  return { title: 'text', words: 1, labels: { ...unknown, violence: isViolent }, scores };
}

const results = [judged(0.9, true), judged(0.8, false), judged(0.6, true), judged(0.4, true), judged(0.1, false)];

describe('a threshold on a labelled set', () => {
  test('has a precision and a recall from the scores at or above it', () => {
    expect(qualityAt(results, 0, 'violence', 0.6)).toEqual({
      category: 'violence',
      positives: 3,
      labelled: 5,
      flagged: 3,
      precision: 2 / 3,
      recall: 2 / 3,
    });
  });

  test('counts neither texts without a label nor texts without scores', () => {
    const others = [judged(0.9, null), { ...judged(0.9, true), scores: [null] }];
    expect(qualityAt([...results, ...others], 0, 'violence', 0.6).labelled).toBe(5);
  });

  test('has no precision without flags, and no recall without positives', () => {
    expect(qualityAt(results, 0, 'violence', 0.95).precision).toBeNull();
    expect(qualityAt(results, 0, 'sexual', 0.5)).toMatchObject({ labelled: 0, recall: null });
  });
});

test('the curve at every step has the figures of the threshold there', () => {
  const curve = curveOf(results, 0, 'violence');
  expect(curve).toHaveLength(101);
  for (const { threshold, precision, recall } of curve) {
    expect(qualityAt(results, 0, 'violence', threshold)).toMatchObject({ precision, recall });
  }
});

test('the threshold for a given precision is the lowest that reaches it', () => {
  const curve = curveOf(results, 0, 'violence');
  expect(thresholdFor(curve, 0.75)?.threshold).toBe(0.11);
  expect(thresholdFor(curve, 0.9)?.threshold).toBe(0.81);
  expect(thresholdFor(curveOf(results, 0, 'sexual'), 0.5)).toBeNull();
});

test('texts are flagged and differ by the current thresholds', () => {
  const two = [judged(0.9, null, 0.9), judged(0.6, null, 0.2), { ...judged(0.1, null), scores: [null, null] }];
  expect(flaggedShare(two, limits)).toEqual({ flagged: [0, 1], differ: [1], judged: 2, compared: 2 });
  expect(flaggedShare(two, { ...limits, violence: 0.7 })).toEqual({ flagged: [0], differ: [], judged: 2, compared: 2 });
});

test('texts that only the first classifier has scored count as judged, not as compared', () => {
  const behind = [0.9, 0.6, 0.1].map((violence) => ({
    ...judged(violence, null),
    scores: [[0, 0, 0, 0, violence], null],
  }));
  expect(flaggedShare(behind, limits)).toEqual({ flagged: [0, 1], differ: [], judged: 3, compared: 0 });
});

describe('the category closest to its threshold', () => {
  const scores = { sexual: 0.4, hatred: 0.1, harassment: 0.02, selfHarm: 0, violence: 0.18 };
  const own = { sexual: 0.9, hatred: 0.5, harassment: 0.3, selfHarm: 0.2, violence: 0.31 };

  test('has the highest score relative to its threshold', () => {
    const nearest = nearestCategory(scores, own)!;
    expect(nearest).toEqual({ category: 'violence', score: 0.18, threshold: 0.31 });
    expect(writeNearest(nearest)).toBe('0.18 of 0.31');
  });

  test('is one that the classifier supports, and null without scores', () => {
    expect(nearestCategory({ hatred: 0.1 }, own)?.category).toBe('hatred');
    expect(nearestCategory(null, own)).toBeNull();
  });

  test('has a third decimal if two would look equal', () => {
    expect(writeNearest({ category: 'violence', score: 0.192, threshold: 0.193 })).toBe('0.192 of 0.193');
  });
});
