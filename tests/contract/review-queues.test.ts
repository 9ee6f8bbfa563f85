import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { recordRun } from '../support/audit-runs.ts';
import { rejectionOf } from '../support/json-call.ts';
import { createReviewWorld } from '../support/review-world.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

type Json = ReturnType<typeof JSON.parse>;
const { reviewerCalled, lead, recordRuns, rubricItems, createQueue } = createReviewWorld(() => host);

describe.each(ways)('%s: a queue', (each) => {
  test('is reviewed, decided and deleted', async () => {
    const { workspaceId, runs } = await recordRuns(3);
    const { path, answers, queue, ids, rubric } = await createQueue({ workspaceId }, { reviewersPerItem: 2 }, each);
    expect(queue).toMatchObject({
      counts: { items: 3, done: 0, reviews: 0, reviewsNeeded: 6 },
      population: 3,
      strata: [{ name: 'all', population: 3, items: 3 }],
      seed: 7,
      progress: [],
      reservation: null,
    });
    const suffix = randomUUID().slice(0, 8);
    const wren = reviewerCalled(`wren ${suffix}`);
    const heron = reviewerCalled(`heron ${suffix}`);
    const reserved = await wren('POST', `${path}/reservations`, {}, each);
    expect([reserved.status, reserved.body.item]).toEqual([
      200,
      expect.objectContaining({ position: 0, yours: 'reserved', title: 'Question 2' }),
    ]);
    const item = `${path}/items/${reserved.body.item.id}`;
    expect((await heron('POST', `${item}/reviews`, answers(true), each)).status).toBe(409);
    expect((await heron('POST', `${path}/reservations`, {}, each)).body.item.id).toBe(reserved.body.item.id);
    const first = await wren('POST', `${item}/reviews`, answers(true, { wrong: 'Tone', useful: 4 }), each);
    expect([first.status, first.body]).toEqual([
      201,
      expect.objectContaining({ kind: 'review', isYours: true, replaces: null }),
    ]);
    // Heron must not see it yet, in any way.
    const seen = (await heron('GET', item, undefined, each)).body;
    expect(seen).toMatchObject({ reviewsDone: 1, reviews: [], hiddenReviews: 1 });
    const feedback = `/conversations/${runs[2]!.conversationId}/runs/${runs[2]!.runId}/feedback`;
    expect((await heron('GET', feedback)).body).toEqual([]);
    expect((await heron('PUT', `${item}/gold`, answers(true), each)).status).toBe(403);
    expect((await lead('PUT', `${item}/gold`, answers(true), each)).body.error.message).toBe(
      'This item has 1 of 2 reviews. Decide it when it has all.',
    );
    await heron(
      'POST',
      `${item}/reviews`,
      { ...answers(false, { wrong: 'Policy', useful: -3 }), note: 'Not so' },
      each,
    );
    const both = (await wren('GET', item, undefined, each)).body;
    expect(both.reviews.map((one: Json) => [one.reviewer, one.isYours, one.note])).toEqual([
      [`wren ${suffix}`, true, null],
      [`heron ${suffix}`, false, 'Not so'],
    ]);
    expect((await lead('GET', path, undefined, each)).body).toMatchObject({
      counts: { done: 1, disagreeing: 1 },
      isComplete: false,
    });
    const history = (await wren('GET', feedback)).body;
    expect(history).toMatchObject([
      { rubricItemId: null, question: null, value: { score: 1, scoreTags: null } },
      { reviewer: `heron ${suffix}`, rubricItemId: ids.useful, question: 'How useful is it?', value: -3 },
      { reviewer: `heron ${suffix}`, rubricItemId: ids.wrong, value: 'Policy' },
      { reviewer: `heron ${suffix}`, rubricItemId: ids.right, value: false },
      { reviewer: `wren ${suffix}`, rubricItemId: ids.useful, value: 4 },
      { reviewer: `wren ${suffix}` },
      { reviewer: `wren ${suffix}` },
    ]);
    const decided = await lead(
      'PUT',
      `${item}/gold`,
      { answers: [{ rubricItemId: ids.wrong, value: 'Policy' }] },
      each,
    );
    expect(decided.body).toMatchObject({
      gold: { answers: [{ rubricItemId: ids.wrong, value: 'Policy' }] },
      state: 'done',
    });
    expect((await wren('GET', feedback)).body[0]).toMatchObject({ value: { score: 1, scoreTags: 'Policy' } });
    expect((await lead('GET', path, undefined, each)).body.counts).toMatchObject({ disagreeing: 1, adjudicated: 1 });
    expect((await lead('DELETE', `/rubrics/${rubric.id}`, undefined, each)).status).toBe(409);
    expect((await wren('DELETE', path, undefined, each)).status).toBe(403);
    expect((await lead('DELETE', path, undefined, each)).status).toBe(204);
    expect((await lead('GET', path, undefined, each)).status).toBe(404);
    expect((await lead('DELETE', `/rubrics/${rubric.id}`, undefined, each)).status).toBe(204);
    expect((await wren('GET', feedback)).body).toHaveLength(9);
  });
});

describe.each(ways)('%s: the items of a queue', (each) => {
  test('are shown in parts, for each caller', async () => {
    const { workspaceId } = await recordRuns(6, () => ({ callerId: host.host.storage.windowCallerId }));
    const { path, answers } = await createQueue({ workspaceId }, {}, each);
    const suffix = randomUUID().slice(0, 8);
    const [wren, heron] = [reviewerCalled(`wren ${suffix}`), reviewerCalled(`heron ${suffix}`)];
    const positions = async (call: typeof wren, view: string, range = '') => {
      const { body } = await call('GET', `${path}/items?view=${view}${range}`, undefined, each);
      return [body.total, ...body.data.map(({ position }: Json) => position)];
    };
    // The first is reviewed, the second skipped, the third reserved.
    const first = (await wren('POST', `${path}/reservations`, {}, each)).body.item;
    expect(first).toMatchObject({ caller: 'Touchstone window', runAt: expect.any(String) });
    await wren('POST', `${path}/items/${first.id}/reviews`, answers(true), each);
    const second = (await wren('POST', `${path}/reservations`, {}, each)).body.item;
    await wren('POST', `${path}/items/${second.id}/skip`, { reason: 'Mine' }, each);
    await wren('POST', `${path}/reservations`, {}, each);
    expect(await positions(wren, 'all')).toEqual([6, 0, 1, 2, 3, 4, 5]);
    expect(await positions(wren, 'open')).toEqual([4, 2, 3, 4, 5]);
    expect(await positions(wren, 'open', '&offset=1&limit=2')).toEqual([4, 3, 4]);
    expect(await positions(wren, 'mine')).toEqual([2, 0, 2]);
    expect(await positions(wren, 'skipped')).toEqual([1, 1]);
    expect(await positions(wren, 'done')).toEqual([1, 0]);
    // Questions 0 and 5 are flagged, and the newest are first.
    expect(await positions(wren, 'flagged')).toEqual([2, 0, 5]);
    expect(await positions(heron, 'open')).toEqual([5, 1, 2, 3, 4, 5]);
    expect(await positions(heron, 'mine')).toEqual([0]);
    expect((await lead('GET', `${path}/items?view=late`, undefined, each)).status).toBe(400);
    const { secondsPerItem, progress } = (await lead('GET', path, undefined, each)).body;
    expect(progress[0].reviewsPerHour).toBeGreaterThan(0);
    expect(secondsPerItem).toBeGreaterThan(0);
    expect(progress[0].secondsPerItem).toBe(secondsPerItem);
  });

  test('stay when the queue gets another name', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path } = await createQueue({ workspaceId }, {}, each);
    expect((await reviewerCalled('no manager')('PATCH', path, { name: 'December' }, each)).status).toBe(403);
    expect((await lead('PATCH', path, { name: ' December ' }, each)).body).toMatchObject({
      name: 'December',
      isOpen: false,
      counts: { items: 1 },
    });
    // Nothing changes if a part of it can't.
    const rejected = await lead('PATCH', path, { name: 'January', isOpen: true }, each);
    expect(rejected.status).toBe(400);
    expect((await lead('PATCH', path, { name: '' }, each)).status).toBe(400);
    expect((await lead('GET', path, undefined, each)).body.name).toBe('December');
  });
});

describe('reservations', () => {
  test('give each item to as many reviewers as it needs, and say who has it', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path, answers } = await createQueue({ workspaceId });
    const [wren, heron] = [reviewerCalled('first'), reviewerCalled('second')];
    const { body } = await wren('POST', `${path}/reservations`);
    expect(body.item.yours).toBe('reserved');
    const { id } = body.item;
    expect((await heron('POST', `${path}/reservations`)).status).toBe(204);
    const rejected = await heron('POST', `${path}/reservations`, { itemId: id });
    expect(rejected.status).toBe(409);
    expect(rejected.body.error.message).toMatch(/^first has this item reserved until \d\d:\d\d UTC\. /);
    expect((await heron('POST', `${path}/items/${id}/reviews`, answers(true))).body.error.message).toMatch(
      /^first has this item/,
    );
    expect((await lead('GET', `${path}/items`)).body).toMatchObject({
      total: 1,
      data: [{ reservedBy: ['first'], yours: 'closed' }],
    });
    // The same one with more time, from the same start.
    expect((await wren('POST', `${path}/reservations`)).body).toMatchObject({
      item: { id },
      reservedAt: body.reservedAt,
    });
    expect((await wren('DELETE', `${path}/reservations`)).status).toBe(204);
    expect((await wren('POST', `${path}/items/${id}/reviews`, answers(true))).body.error.message).toBe(
      'You have not reserved this item. Reserve it and send the review again.',
    );
    expect((await heron('POST', `${path}/reservations`)).body.item.id).toBe(id);
    expect((await heron('POST', `${path}/items/${id}/reviews`, answers(true))).status).toBe(201);
    expect((await wren('POST', `${path}/reservations`, { itemId: id })).body.error.message).toBe(
      'This item has all its reviews.',
    );
    expect((await lead('GET', path)).body).toMatchObject({
      isComplete: true,
      progress: [{ reviewer: 'second', reviewed: 1 }],
    });
  });

  test('expire', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path, answers, queue } = await createQueue({ workspaceId });
    const [wren, heron] = [reviewerCalled('slow'), reviewerCalled('quick')];
    const { id } = (await wren('POST', `${path}/reservations`)).body.item;
    const { storage } = host.host;
    const { sequence } = storage.reviewQueues.read(queue.id);
    const { reviewer, item } = storage.reviews.reservation(
      sequence,
      storage.reviews.reservationsIn([storage.reviewQueues.item(sequence, id).sequence], 0)[0]!.reviewer,
    )!;
    storage.reviews.reserve({ queue: sequence, reviewer, now: 1, expiresAt: 2 }, item);
    expect((await wren('POST', `${path}/items/${id}/reviews`, answers(true))).body.error.message).toBe(
      'Your reservation has expired. Reserve it and send the review again.',
    );
    expect((await heron('POST', `${path}/reservations`)).body.item.id).toBe(id);
    expect((await wren('POST', `${path}/items/${id}/reviews`, answers(true))).body.error.message).toMatch(
      /^quick has this item/,
    );
  });

  test('of a clock that was a year ahead keep no item from others', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path, answers } = await createQueue({ workspaceId });
    const [ahead, right] = [reviewerCalled('ahead'), reviewerCalled('right')];
    const now = Date.now.bind(Date);
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 365 * 86_400_000);
    const { item } = (await ahead('POST', `${path}/reservations`)).body;
    clock.mockRestore();
    expect((await right('POST', `${path}/reservations`)).body?.item.id).toBe(item.id);
    // Only one of them has it.
    expect((await ahead('POST', `${path}/items/${item.id}/reviews`, answers(true))).body.error.message).toMatch(
      /^right has this item/,
    );
    expect((await right('POST', `${path}/items/${item.id}/reviews`, answers(true))).status).toBe(201);
  });

  test('go to the named reviewers, and to another one after a skip', async () => {
    const { workspaceId } = await recordRuns(2);
    const [wren, heron, other] = [
      reviewerCalled('named one'),
      reviewerCalled('named two'),
      reviewerCalled('not named'),
    ];
    for (const each of [wren, heron, other]) {
      const { path } = await createQueue({ workspaceId });
      await each('POST', `${path}/reservations`);
      await each('DELETE', `${path}/reservations`);
    }
    const all = (await lead('GET', '/reviewers?pageSize=100')).body.data;
    const reviewerIds = all.filter((one: Json) => one.name.startsWith('named')).map((one: Json) => one.id);
    const { path, answers } = await createQueue({ workspaceId }, { reviewerIds, reviewersPerItem: 1 });
    expect((await other('POST', `${path}/reservations`)).body.error.message).toBe(
      'not named is not one of the reviewers of this queue.',
    );
    const { id } = (await wren('POST', `${path}/reservations`)).body.item;
    const skipped = await wren('POST', `${path}/items/${id}/skip`, { reason: 'I wrote it' });
    expect(skipped.body).toMatchObject({ kind: 'skip', note: 'I wrote it', answers: [] });
    const next = (await wren('POST', `${path}/reservations`)).body.item;
    expect(next.id).not.toBe(id);
    await wren('POST', `${path}/items/${next.id}/reviews`, answers(true));
    expect((await wren('POST', `${path}/reservations`)).status).toBe(204);
    expect((await heron('POST', `${path}/reservations`)).body.item.id).toBe(id);
    expect((await lead('GET', path)).body.progress).toMatchObject([
      { reviewer: 'named one', reviewed: 1, skipped: 1, assigned: 1 },
      { reviewer: 'named two', reviewed: 0, skipped: 0, assigned: 1 },
    ]);
    // Who skipped can still take it.
    await heron('DELETE', `${path}/reservations`);
    expect((await wren('POST', `${path}/reservations`, { itemId: id })).status).toBe(200);
  });

  test('let a reviewer change a review until others have seen it', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path, answers } = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
    const [wren, heron] = [reviewerCalled('changes'), reviewerCalled('sees')];
    const { id } = (await wren('POST', `${path}/reservations`)).body.item;
    const first = (await wren('POST', `${path}/items/${id}/reviews`, answers(true))).body;
    expect((await wren('POST', `${path}/reservations`)).status).toBe(204);
    expect((await wren('POST', `${path}/reservations`, { itemId: id })).status).toBe(200);
    const second = await wren('POST', `${path}/items/${id}/reviews`, answers(false));
    expect(second.body.replaces).toBe(first.id);
    await heron('POST', `${path}/reservations`);
    await heron('POST', `${path}/items/${id}/reviews`, answers(true));
    expect((await wren('POST', `${path}/reservations`, { itemId: id })).body.error.message).toBe(
      'You have reviewed this item, and others have seen it since.',
    );
    expect((await lead('GET', path)).body.counts).toMatchObject({ done: 1, reviews: 2, disagreeing: 1 });
  });

  test('of who changes a review leave the item to others, and end when all could be seen', async () => {
    const { workspaceId } = await recordRuns(2);
    const { path, answers } = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
    const [wren, heron] = [reviewerCalled('changes again'), reviewerCalled('comes meanwhile')];
    const { id } = (await wren('POST', `${path}/reservations`)).body.item;
    await wren('POST', `${path}/items/${id}/reviews`, answers(true));
    await wren('POST', `${path}/reservations`, { itemId: id });
    expect((await heron('GET', `${path}/items?limit=1`)).body.data).toMatchObject([{ id, yours: 'open' }]);
    expect((await heron('POST', `${path}/reservations`)).body.item.id).toBe(id);
    await heron('DELETE', `${path}/reservations`);
    expect((await heron('POST', `${path}/reservations`, { itemId: id })).status).toBe(200);
    await heron('POST', `${path}/items/${id}/reviews`, answers(false));
    expect((await wren('GET', `${path}/items/${id}`)).body.reviews).toHaveLength(2);
    expect((await wren('POST', `${path}/items/${id}/reviews`, answers(false))).body.error.message).toBe(
      'This item has all its reviews.',
    );
    expect((await wren('POST', `${path}/reservations`)).body.item.id).not.toBe(id);
  });

  test('end when the item is decided', async () => {
    const { workspaceId } = await recordRuns(1);
    const { path, answers } = await createQueue({ workspaceId }, { reviewersPerItem: 1 });
    const wren = reviewerCalled('is decided upon');
    const { id } = (await wren('POST', `${path}/reservations`)).body.item;
    await wren('POST', `${path}/items/${id}/reviews`, answers(true));
    expect((await wren('POST', `${path}/reservations`, { itemId: id })).status).toBe(200);
    expect((await lead('PUT', `${path}/items/${id}/gold`, answers(false))).status).toBe(200);
    expect((await wren('POST', `${path}/items/${id}/reviews`, answers(false))).status).toBe(409);
  });
});

test('an item whose reviewers differ counts as a disagreement when it has all reviews', async () => {
  const { workspaceId } = await recordRuns(1);
  const { path, answers } = await createQueue({ workspaceId }, { reviewersPerItem: 3 });
  for (const [index, disagreeing] of [0, 0, 1].entries()) {
    const reviewer = reviewerCalled(`differs ${index}`);
    const { id } = (await reviewer('POST', `${path}/reservations`)).body.item;
    await reviewer('POST', `${path}/items/${id}/reviews`, answers(index === 0));
    expect((await lead('GET', path)).body.counts).toMatchObject({ disagreeing });
  }
});

test.each([
  ['answers', (ids: Json) => [{ rubricItemId: ids.useful, value: 1 }]],
  ['answers[0].value', (ids: Json) => [{ rubricItemId: ids.right, value: 'yes' }]],
  [
    'answers[1].value',
    (ids: Json) => [
      { rubricItemId: ids.right, value: true },
      { rubricItemId: ids.wrong, value: 'Other' },
    ],
  ],
  ['answers[0].value', (ids: Json) => [{ rubricItemId: ids.useful, value: 11 }]],
  [
    'answers[1].rubricItemId',
    (ids: Json) => [
      { rubricItemId: ids.right, value: true },
      { rubricItemId: ids.right, value: true },
    ],
  ],
  ['answers[0].rubricItemId', () => [{ rubricItemId: randomUUID(), value: true }]],
])('a review with wrong answers is rejected at %s', async (field, given) => {
  const { workspaceId } = await recordRuns(1);
  const { path, ids } = await createQueue({ workspaceId });
  const { id } = (await lead('POST', `${path}/reservations`)).body.item;
  const answer = await lead('POST', `${path}/items/${id}/reviews`, { answers: given(ids) });
  expect(rejectionOf(answer)).toMatchObject([400, 'invalid_request', [{ field }]]);
  expect((await lead('GET', path)).body.reservation).toMatchObject({ itemId: id });
});

test('texts that are too long are rejected with their limit, and nothing is cut', async () => {
  const { workspaceId } = await recordRuns(1);
  const { path, ids } = await createQueue({ workspaceId }, { reviewersPerItem: 1 });
  const wren = reviewerCalled('writes long texts');
  const { item } = (await wren('POST', `${path}/reservations`)).body;
  const issueOf = async (action: string, body: object) => {
    const answer = await wren('POST', `${path}/items/${item.id}/${action}`, body);
    return [answer.status, answer.body.error.details[0].issue];
  };
  const [fits, long] = ['x'.repeat(10_000), 'x'.repeat(10_001)];
  const review = (text: string, note: string) => ({
    answers: [
      { rubricItemId: ids.right, value: true },
      { rubricItemId: ids.text, value: text },
    ],
    note,
  });
  const limit = expect.stringMatching(/at most 10,?000 characters/);
  expect(await issueOf('reviews', review(long, ''))).toEqual([400, limit]);
  expect(await issueOf('reviews', review('', long))).toEqual([400, limit]);
  const reason = { reason: 'x'.repeat(2001) };
  expect(await issueOf('skip', reason)).toEqual([400, 'must have at most 2000 characters']);
  expect(await issueOf('second-review', reason)).toEqual([400, 'must have at most 2000 characters']);
  expect((await wren('POST', `${path}/items/${item.id}/reviews`, review(fits, fits))).body).toMatchObject({
    note: fits,
    answers: [{ value: true }, { value: fits }],
  });
});

describe('plans', () => {
  const select = async (filter: object, plan: object, change: object = {}) => {
    const { queue, path } = await createQueue(filter, { plan, ...change });
    const { data } = (await lead('GET', `${path}/items?limit=200`)).body;
    return { queue, items: data as Json[] };
  };

  test('choose the same items with the same seed, and others with another', async () => {
    const { workspaceId } = await recordRuns(40);
    const runsOf = ({ items }: { items: Json[] }) => items.map(({ runId }) => runId);
    const plan = { kind: 'random', count: 10 };
    const first = await select({ workspaceId }, plan);
    expect(first.queue).toMatchObject({ population: 40, strata: [{ population: 40, items: 10 }] });
    expect(runsOf(await select({ workspaceId }, plan))).toEqual(runsOf(first));
    expect(runsOf(await select({ workspaceId }, plan, { seed: 8 }))).not.toEqual(runsOf(first));
    // A larger sample has the smaller one in it.
    expect(runsOf(await select({ workspaceId }, { kind: 'random', share: 0.5 })).slice(0, 10)).toEqual(runsOf(first));
  });

  test('take all flagged runs and a share of the rest', async () => {
    const { workspaceId } = await recordRuns(50);
    const { queue, items } = await select({ workspaceId }, { kind: 'flagged', share: 0.2 }, { secondShare: 0.25 });
    expect(queue.strata).toEqual([
      { name: 'flagged', population: 10, items: 10 },
      { name: 'not flagged', population: 40, items: 8 },
    ]);
    expect(items.filter(({ isFlagged }) => isFlagged)).toHaveLength(10);
    expect(items.filter(({ reviewsNeeded }) => reviewsNeeded === 2)).toHaveLength(5);
    const preview = { filter: { workspaceId }, itemType: 'run', plan: { kind: 'flagged', share: 0.2 } };
    expect((await lead('POST', '/review-queues/preview', preview)).body).toEqual({
      population: 50,
      items: 18,
      strata: queue.strata,
    });
  });

  test('divide by model, tag, score band and moderation, and take the newest of each day', async () => {
    const day = 86_400_000;
    const { workspaceId, runs } = await recordRuns(12, (index) => ({
      model: index % 3 === 0 ? 'small' : 'large',
      createdAt: Date.UTC(2026, 9, 1) + Math.floor(index / 4) * day + index,
    }));
    for (const [index, score] of [-5, 0, 10].entries())
      await lead('PUT', `/conversations/${runs[index]!.conversationId}/runs/${runs[index]!.runId}/feedback`, {
        score,
        scoreTags: index === 0 ? 'refund,slow' : null,
      });
    const strata = async (plan: object) =>
      (await select({ workspaceId }, plan)).queue.strata.map(({ name, population, items }) => [
        name,
        population,
        items,
      ]);
    expect(await strata({ kind: 'stratified', by: 'model', count: 2 })).toEqual([
      ['OpenAi/large', 8, 2],
      ['OpenAi/small', 4, 2],
    ]);
    expect(await strata({ kind: 'stratified', by: 'tag', share: 0.1 })).toEqual([
      ['no tag', 11, 1],
      ['refund', 1, 1],
    ]);
    expect(await strata({ kind: 'stratified', by: 'scoreBand', count: 5 })).toEqual([
      ['-10 to -4', 1, 1],
      ['-3 to 3', 1, 1],
      ['4 to 10', 1, 1],
      ['no score', 9, 5],
    ]);
    expect(await strata({ kind: 'stratified', by: 'moderation', count: 2 })).toEqual([
      ['flagged', 3, 2],
      ['not flagged', 9, 2],
    ]);
    const { items, queue } = await select({ workspaceId }, { kind: 'newest', perDay: 1 });
    expect(queue.strata.map(({ name }) => name)).toEqual(['2026-10-01', '2026-10-02', '2026-10-03']);
    expect(items.map(({ runId }) => runId)).toEqual([11, 7, 3].map((index) => runs[index]!.runId));
  });

  test('count conversations, with their newest matching run', async () => {
    const conversationId = randomUUID();
    const { workspaceId, runs } = await recordRuns(3, () => ({ conversationId }));
    const { items, queue } = await select({ workspaceId }, { kind: 'flagged', share: 0 }, { itemType: 'conversation' });
    expect(queue).toMatchObject({ population: 1, strata: [{ name: 'flagged', population: 1, items: 1 }] });
    expect(items).toMatchObject([{ conversationId, runId: runs[2]!.runId }]);
  });

  test.each([
    ['filter', { filter: { workspaceId: randomUUID() } }],
    ['plan.count', { plan: { kind: 'random' } }],
    ['plan.share', { plan: { kind: 'random', share: 0 } }],
    ['plan', { plan: { kind: 'some' } }],
    ['reviewerIds[0]', { reviewerIds: [randomUUID()] }],
    ['filter.nothing', { filter: { nothing: true } }],
  ])('are rejected at %s', async (field, change) => {
    const { workspaceId } = await recordRuns(1);
    const rubric = (await lead('POST', '/rubrics', { name: 'R', items: rubricItems })).body;
    const input = {
      name: 'Q',
      filter: { workspaceId },
      itemType: 'run',
      plan: { kind: 'all' },
      rubricId: rubric.id,
      ...change,
    };
    const answer = await lead('POST', '/review-queues', input);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].field.startsWith(field)).toBe(true);
  });
});

test.each(ways)('%s: a queue of the newest of each day takes the items of new days while it is open', async (each) => {
  const workspaceId = randomUUID();
  const record = (day: number) => recordRun(host.host, { workspaceId, createdAt: Date.UTC(2026, 8, day) });
  const first = await record(1);
  const { path, queue } = await createQueue({ workspaceId }, { plan: { kind: 'newest', perDay: 1 } }, each);
  expect(queue.isOpen).toBe(true);
  const [second, third] = [await record(2), await record(3)];
  const change = (isOpen: unknown, call = lead) => call('PATCH', path, { isOpen }, each);
  const closed = await change(false);
  expect([closed.status, closed.body]).toEqual([200, expect.objectContaining({ isOpen: false, population: 1 })]);
  const opened = await change(true);
  expect(opened.body).toMatchObject({
    isOpen: true,
    population: 3,
    strata: ['2026-09-01', '2026-09-02', '2026-09-03'].map((name) => ({ name, population: 1, items: 1 })),
  });
  const { body } = await lead('GET', `${path}/items`, undefined, each);
  expect(body.data.map((item: Json) => [item.runId, item.stratum])).toEqual([
    [first.runId, '2026-09-01'],
    [second.runId, '2026-09-02'],
    [third.runId, '2026-09-03'],
  ]);

  expect((await change('yes')).status).toBe(400);
  expect((await change(true, reviewerCalled(`wren ${randomUUID()}`))).status).toBe(403);
  const missing = await lead('PATCH', `/review-queues/${randomUUID()}`, { isOpen: true }, each);
  expect(missing.status).toBe(404);
  const all = await createQueue({ workspaceId }, {}, each);
  const rejected = await lead('PATCH', all.path, { isOpen: true }, each);
  expect([rejected.status, rejected.body.error.message]).toEqual([
    400,
    expect.stringContaining('needs a queue of the newest of each day'),
  ]);
});

test('items and reviews go with their runs', async () => {
  const { workspaceId, runs } = await recordRuns(2);
  const { path, answers, queue, ids } = await createQueue({ workspaceId });
  for (let round = 0; round < 2; round += 1) {
    const { id } = (await lead('POST', `${path}/reservations`)).body.item;
    await lead('POST', `${path}/items/${id}/reviews`, { ...answers(true, { text: 'A secret' }), note: 'A secret' });
  }
  const { retention, reviewQueues, reviews } = host.host.storage;
  const { sequence } = reviewQueues.read(queue.id);
  const textsOf = () => JSON.stringify(reviews.reviewsIn(sequence, { from: 0, to: 9 }));
  expect(textsOf()).toContain('A secret');
  retention.apply('anonymise', Date.now(), 1000);
  expect(textsOf()).not.toContain('A secret');
  expect((await lead('GET', path)).body.counts).toMatchObject({ items: 2, done: 2, reviews: 2 });
  expect(textsOf()).toContain(ids.right);
  retention.apply('delete', Date.now(), 1000);
  expect((await lead('GET', path)).body).toMatchObject({
    counts: { items: 0, done: 0, reviews: 0, removed: 2 },
    isComplete: true,
  });
  expect((await lead('GET', `${path}/items`)).body.data).toMatchObject([
    { title: 'Removed', state: 'removed', yours: 'closed', runId: runs[1]!.runId },
    { state: 'removed' },
  ]);
  expect((await lead('POST', `${path}/reservations`)).status).toBe(204);
});
