import { expect, test } from 'vitest';
import { feedbackOf, finalAnswers, hasDisagreement } from '../../../electron/reviews/consensus.ts';
import type { AnswerValue, RubricItem } from '../../../shared/contract/rubrics.ts';

const item = (kind: RubricItem['kind'], id: string = kind): RubricItem => ({
  id,
  kind,
  question: id,
  description: null,
  isRequired: true,
  categories: [],
  examples: [],
});
const rubric = [item('yesNo'), item('category'), item('category', 'second'), item('score'), item('text')];
const review = (answers: Record<string, AnswerValue>) =>
  Object.entries(answers).map(([rubricItemId, value]) => ({ rubricItemId, value, note: null }));
const final = (reviews: Record<string, AnswerValue>[], gold: Record<string, AnswerValue> = {}) =>
  Object.fromEntries(finalAnswers(rubric, reviews.map(review), review(gold)));

test.each<[string, Record<string, AnswerValue>[], Record<string, AnswerValue>]>([
  ['what more than half say', [{ yesNo: true }, { yesNo: true }, { yesNo: false }], { yesNo: true }],
  ['nothing for a tie', [{ category: 'a' }, { category: 'b' }], {}],
  ['nothing without a majority of three', [{ category: 'a' }, { category: 'b' }, { category: 'c' }], {}],
  ['the median of the scores', [{ score: -10 }, { score: 3 }, { score: 4 }], { score: 3 }],
  ['the middle of two scores, half up', [{ score: -4 }, { score: -3 }], { score: -3 }],
  ['a text that all wrote', [{ text: 'x' }, { text: 'x' }], { text: 'x' }],
  ['no text if they differ', [{ text: 'x' }, { text: 'y' }], {}],
  ['the only answer', [{ yesNo: false }, {}], { yesNo: false }],
  ['nothing without reviews', [], {}],
])('the consensus is %s', (_name, reviews, expected) => {
  expect(final(reviews)).toEqual(expected);
});

test('a gold value goes before the consensus', () => {
  expect(final([{ yesNo: true, score: 1 }], { yesNo: false })).toEqual({ yesNo: false, score: 1 });
});

test('texts are no disagreement, and missing answers neither', () => {
  const differ = (...reviews: Record<string, AnswerValue>[]) => hasDisagreement(rubric, reviews.map(review));
  expect(differ({ text: 'a' }, { text: 'b' })).toBe(false);
  expect(differ({ score: 1 }, {})).toBe(false);
  expect(differ({ score: 1 }, { score: 2 })).toBe(true);
});

test('feedback has the first score and text, and the categories as tags', () => {
  const answers = new Map(Object.entries({ category: 'a', second: 'b', score: 4, text: 'x' }));
  expect(feedbackOf(rubric, answers)).toEqual({ score: 4, scoreText: 'x', scoreTags: 'a,b' });
  // What someone gave before stays where the reviewers agree on nothing.
  expect(feedbackOf(rubric, new Map())).toEqual({});
  expect(feedbackOf(rubric, new Map([['category', 'a']]))).toEqual({ scoreTags: 'a' });
  expect(feedbackOf([item('yesNo')], new Map([['yesNo', true]]))).toEqual({});
});
