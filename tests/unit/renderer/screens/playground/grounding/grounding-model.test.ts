import { expect, test } from 'vitest';
import {
  omissionText,
  rankText,
  toggleExclusion,
  togglePin,
} from '../../../../../../renderer/screens/playground/grounding/grounding-model.ts';
import { noGrounding } from '../../../../../../renderer/stores/playground-drafts.ts';

const rotor = { sourceId: 'a', start: 0, end: 90 };
const doors = { sourceId: 'a', start: 90, end: 200 };

test('a passage is pinned once and unpinned', () => {
  const pinned = togglePin(togglePin(noGrounding, rotor), doors);
  expect(pinned.pinned).toEqual([rotor, doors]);
  expect(togglePin(pinned, rotor).pinned).toEqual([doors]);
});

test('a pinned passage is not excluded, and an excluded one is not pinned', () => {
  const excluded = toggleExclusion(togglePin(noGrounding, rotor), rotor);
  expect(excluded).toEqual({ ...noGrounding, excluded: [rotor] });
  expect(togglePin(excluded, rotor)).toEqual({ ...noGrounding, pinned: [rotor] });
  expect(toggleExclusion(excluded, rotor)).toEqual(noGrounding);
});

test('a choice contains only the offsets of a passage', () => {
  const passage = { ...rotor, text: 'The torque is 42 newton metres.', relevance: 0.9 };
  expect(togglePin(noGrounding, passage).pinned).toEqual([rotor]);
});

test('shows the ranks and the reason for leaving a passage out', () => {
  expect(rankText({ textRank: 2, vectorRank: 1 })).toBe('Keyword #2, semantic #1');
  expect(rankText({ textRank: null, vectorRank: 3 })).toBe('Semantic #3');
  expect(rankText({ textRank: null, vectorRank: null })).toBeNull();
  expect(omissionText({ omission: null })).toBeNull();
  expect(omissionText({ omission: 'no-room' })).toBe('over the token budget');
});
