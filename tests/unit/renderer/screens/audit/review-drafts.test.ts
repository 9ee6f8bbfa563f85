import { describe, expect, test } from 'vitest';
import {
  type Comparison,
  describeMeasures,
  mainConfusion,
  verdictOf,
} from '../../../../../renderer/screens/audit/reviews/agreement-words.ts';
import { labelText, missingItems, optionsOf } from '../../../../../renderer/screens/audit/reviews/answers.ts';
import {
  emptyQueue,
  planOf,
  queueErrors,
  toQueueInput,
} from '../../../../../renderer/screens/audit/reviews/queue-draft.ts';
import { draftProblem, emptyItem, toRubricInput } from '../../../../../renderer/screens/audit/reviews/rubric-draft.ts';
import { readReviewsAddress, reviewQueueAddress } from '../../../../../renderer/shell/addresses.ts';
import { reviewQueueInput } from '../../../../../shared/contract/review-queues.ts';
import { type RubricItem, rubricInput } from '../../../../../shared/contract/rubrics.ts';

const rubricId = '0193b3a0-0000-7000-8000-000000000001';

describe('the form of a review queue', () => {
  test.each([
    [{ kind: 'all' }, { kind: 'all' }],
    [
      { kind: 'random', unit: 'percent', amount: '12.5' },
      { kind: 'random', share: 0.125 },
    ],
    [
      { kind: 'stratified', unit: 'count', amount: '30', by: 'tag' },
      { kind: 'stratified', by: 'tag', count: 30 },
    ],
    [
      { kind: 'flagged', amount: '20' },
      { kind: 'flagged', share: 0.2 },
    ],
    [
      { kind: 'newest', amount: '10' },
      { kind: 'newest', perDay: 10 },
    ],
  ] as const)('becomes a plan that the host takes: %o', (fields, plan) => {
    const draft = { ...emptyQueue, name: ' November ', rubricId, ...fields };
    expect(planOf(draft)).toEqual(plan);
    const input = toQueueInput(draft, { filter: { text: 'refund' }, source: 'device' })!;
    expect(input).toMatchObject({ name: 'November', plan, reviewersPerItem: 2, secondShare: 0 });
    expect(reviewQueueInput.safeParse(input).success).toBe(true);
  });

  test.each([
    [{ kind: 'random', unit: 'percent', amount: '101' }, 'amount'],
    [{ kind: 'random', unit: 'count', amount: '1.5' }, 'amount'],
    [{ kind: 'flagged', amount: '' }, 'amount'],
    [{ seed: '-1' }, 'seed'],
    [{ reviewersPerItem: '0' }, 'reviewersPerItem'],
    [{ second: '101' }, 'second'],
    [{ minutes: 'soon' }, 'minutes'],
  ] as const)('says what is wrong with %o', (fields, field) => {
    const draft = { ...emptyQueue, name: 'Queue', rubricId, ...fields };
    expect(Object.entries(queueErrors(draft)).flatMap(([name, error]) => (error === null ? [] : [name]))).toEqual([
      field,
    ]);
    expect(toQueueInput(draft, { filter: {}, source: 'device' })).toBeNull();
  });

  test('reads every number as it may be typed', () => {
    const draft = {
      ...emptyQueue,
      name: 'Queue',
      rubricId,
      seed: '4,294,967,295',
      reviewersPerItem: '3,0',
      minutes: '1,440',
    };
    expect(queueErrors({ ...draft, reviewerIds: ['wren'] }).reviewersPerItem).toBe('Needs 3 reviewers, 1 chosen');
    const input = toQueueInput(draft, { filter: {}, source: 'device' });
    expect(input).toMatchObject({ seed: 4_294_967_295, reviewersPerItem: 3, reservationMinutes: 1440 });
  });

  test('needs a name and a rubric', () => {
    expect(toQueueInput({ ...emptyQueue, rubricId }, { filter: {}, source: 'device' })).toBeNull();
    expect(toQueueInput({ ...emptyQueue, name: 'Queue' }, { filter: {}, source: 'device' })).toBeNull();
  });
});

describe('the form of a rubric', () => {
  const question = { ...emptyItem('category'), question: 'What went wrong?' };
  const categories = ['Tone', 'Made up'].map((label) => ({ label, description: '' }));

  test('becomes what the host takes', () => {
    const score = { ...emptyItem('score'), question: 'How useful?', examples: [{ text: 'Good', value: '−4' }] };
    const yesNo = { ...emptyItem(), question: 'True?', examples: [{ text: 'Sure', value: 'No' }] };
    const input = toRubricInput({
      name: 'Refunds',
      description: '',
      items: [{ ...question, categories }, score, yesNo],
    });
    expect(rubricInput.safeParse(input).success).toBe(true);
    expect(input.items.map(({ examples }) => examples?.[0]?.value)).toEqual([undefined, -4, false]);
    expect(input.items[0]!.categories).toHaveLength(2);
    expect(input.items[1]!.categories).toBeUndefined();
  });

  test.each([
    [{ name: ' ' }, 'name'],
    [{ items: [] }, 'item'],
    [{ items: [emptyItem()] }, 'question of item 1'],
    [{ items: [question] }, 'at least two'],
    [{ items: [{ ...question, categories: [...categories, { label: 'TONE', description: '' }] }] }, 'twice'],
    [{ items: [{ ...question, categories: [...categories, { label: 'a, b', description: '' }] }] }, 'comma'],
  ])('says what is missing: %o', (fields, problem) => {
    const complete = { name: 'Refunds', description: '', items: [{ ...question, categories }] };
    expect(draftProblem(complete)).toBeNull();
    expect(draftProblem({ ...complete, ...fields })).toContain(problem);
  });
});

describe('answers', () => {
  const item = (fields: Partial<RubricItem>): RubricItem => ({
    id: 'one',
    kind: 'yesNo',
    question: 'True?',
    description: null,
    isRequired: true,
    categories: [],
    examples: [],
    ...fields,
  });

  test('have keys of their own, and an empty text is none', () => {
    expect(optionsOf(item({})).map(({ keys }) => keys)).toEqual(['Y', 'N']);
    const categories = Array.from({ length: 12 }, (_, index) => ({ label: `c${index}`, description: null }));
    const keys = optionsOf(item({ kind: 'category', categories })).map((option) => option.keys);
    expect(keys).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '0', null, null]);
    const text = item({ id: 'text', kind: 'text' });
    expect(missingItems({ one: false, text: ' ' }, [item({}), text])).toEqual([text]);
    expect(missingItems({ one: false }, [item({}), { ...text, isRequired: false }])).toEqual([]);
  });

  test('are readable in a matrix', () => {
    expect([labelText('yes', 'yesNo'), labelText('-6', 'score'), labelText('Tone', 'category')]).toEqual([
      'Yes',
      '−6',
      'Tone',
    ]);
  });
});

describe('agreement in words', () => {
  const measures = { ratedItems: 62, percent: 0.677, kappa: 0.51, alpha: 0.52, reason: null };

  test('says what the figures mean, with the interval', () => {
    expect(describeMeasures({ ...measures, interval: [0.36, 0.68] })).toBe(
      'Ratings agree in 68% of pairs, over 62 items. Alpha 0.52 (95%: 0.36 to 0.68): too low to rely on. Kappa 0.51.',
    );
    expect(describeMeasures({ ...measures, percent: null, alpha: null, interval: [0.4, 0.6] })).toBe(
      'Kappa 0.51 (95%: 0.40 to 0.60): too low to rely on.',
    );
    const none = { ratedItems: 0, percent: null, kappa: null, alpha: null, interval: null };
    expect(describeMeasures({ ...none, reason: 'No item has two ratings yet.' })).toBe('No item has two ratings yet.');
    expect([verdictOf(0.8).text, verdictOf(0.7).text, verdictOf(-0.1).text]).toEqual([
      'Reliable',
      'Tentative',
      'Too low',
    ]);
  });

  const pair = (rows: number[][]): Comparison => ({
    ...measures,
    interval: null,
    key: 'a b',
    names: ['wren', 'heron'],
    between: { first: 'a', second: 'b' },
    matrix: { labels: ['Wrong', 'Tone'], rows },
    textOf: (label) => label,
  });

  test('names a confusion only if it is most of the disagreements', () => {
    expect(
      mainConfusion(
        pair([
          [9, 6],
          [1, 4],
        ]),
      ),
    ).toBe('heron often picks Tone where wren picks Wrong: 6 of 7 disagreements.');
    expect(
      mainConfusion(
        pair([
          [9, 1],
          [1, 4],
        ]),
      ),
    ).toBeNull();
    expect(mainConfusion({ ...pair([]), matrix: null })).toBeNull();
  });
});

test.each([
  ['/audit/reviews', { view: 'list' }],
  ['/audit/reviews/new/text=a%20b', { view: 'new', filter: 'text=a%20b' }],
  ['/audit/reviews/rubrics/new', { view: 'rubrics', rubricId: 'new' }],
  [reviewQueueAddress('id'), { view: 'queue', queueId: 'id' }],
  [reviewQueueAddress('id', 'agreement'), { view: 'agreement', queueId: 'id' }],
  ['/audit/all/reviews', null],
])('the address %s is read', (location, address) => {
  expect(readReviewsAddress(location)).toEqual(address);
});
