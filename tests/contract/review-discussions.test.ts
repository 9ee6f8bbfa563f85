import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callJson, jsonRequest } from '../support/json-call.ts';
import { createReviewWorld } from '../support/review-world.ts';
import { formOf, uploadRequest } from '../support/source-upload.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
let colleague: TestHost;
beforeAll(async () => {
  [host, colleague] = await Promise.all([startTestHost(), startTestHost()]);
});
afterAll(() => Promise.all([host.close(), colleague.close()]));

type Json = ReturnType<typeof JSON.parse>;
const { reviewerCalled, lead, recordRuns, createQueue } = createReviewWorld(() => host);
const [memory] = ways;

/** A queue of so many runs, and three reviewers. */
async function prepare(count: number, change: object = {}) {
  const { workspaceId, runs } = await recordRuns(count);
  const made = await createQueue({ workspaceId }, change);
  const suffix = randomUUID().slice(0, 8);
  const [wren, heron, osprey] = ['wren', 'heron', 'osprey'].map((name) => reviewerCalled(`${name} ${suffix}`)) as [
    ReturnType<typeof reviewerCalled>,
    ReturnType<typeof reviewerCalled>,
    ReturnType<typeof reviewerCalled>,
  ];
  const review = async (call: typeof wren, value: boolean) => {
    const reserved = await call('POST', `${made.path}/reservations`, {});
    if (reserved.status === 204) return null;
    const path = `${made.path}/items/${reserved.body.item.id}`;
    expect((await call('POST', `${path}/reviews`, made.answers(value))).status).toBe(201);
    return path;
  };
  return { ...made, workspaceId, runs, wren, heron, osprey, suffix, review };
}

describe.each(ways)('%s: a second review', (each) => {
  test('is requested once, by who has the item, and says why only when the reviews are open', async () => {
    const { path, wren, heron, osprey, suffix, answers } = await prepare(1);
    const { id } = (await wren('POST', `${path}/reservations`, {}, each)).body.item;
    const item = `${path}/items/${id}`;
    const request = { reason: ' Is this a promise? ' };
    expect((await heron('POST', `${item}/second-review`, request, each)).status).toBe(409);
    const requested = await wren('POST', `${item}/second-review`, request, each);
    expect([requested.status, requested.body]).toMatchObject([
      201,
      { reviewsNeeded: 2, secondReview: { requestedBy: `wren ${suffix}`, reason: 'Is this a promise?' } },
    ]);
    const again = await wren('POST', `${item}/second-review`, {}, each);
    expect([again.status, again.body.error.message]).toEqual([
      409,
      `wren ${suffix} has asked for a second review of this item already.`,
    ]);
    await wren('POST', `${item}/reviews`, answers(true), each);
    expect((await lead('GET', path, undefined, each)).body).toMatchObject({
      counts: { done: 0, reviews: 1, reviewsNeeded: 2 },
    });
    // The next reviewer knows that somebody asked, and not why.
    const reserved = (await heron('POST', `${path}/reservations`, {}, each)).body.item;
    expect(reserved).toMatchObject({ id, hiddenReviews: 1, secondReview: { reason: null }, comments: [] });
    expect((await heron('GET', `${path}/items?view=secondReview`, undefined, each)).body).toMatchObject({
      total: 1,
      data: [{ secondReview: { requestedBy: `wren ${suffix}`, reason: null } }],
    });
    await heron('POST', `${item}/reviews`, answers(false), each);
    expect((await osprey('POST', `${path}/reservations`, {}, each)).status).toBe(204);
    expect((await heron('GET', item, undefined, each)).body).toMatchObject({
      state: 'done',
      secondReview: { reason: 'Is this a promise?' },
      hiddenReviews: 0,
    });
    expect((await osprey('POST', `${item}/second-review`, {}, each)).body.error.message).toMatch(/already/);
    expect((await wren('POST', `${path}/items/${randomUUID()}/second-review`, {}, each)).status).toBe(404);
    expect((await wren('POST', `${item}/second-review`, { reason: 'x'.repeat(2001) }, each)).status).toBe(400);
  });

  test('is discussed by those who may see the reviews, in order and for good', async () => {
    const { path, wren, heron, osprey, suffix, review } = await prepare(2, { reviewersPerItem: 2 });
    const item = (await review(wren, true))!;
    const early = await wren('POST', `${item}/comments`, { text: 'I said yes.' }, each);
    expect([early.status, early.body.error.code]).toEqual([409, 'conflict']);
    expect((await lead('POST', `${item}/comments`, { text: 'Decide.' }, each)).status).toBe(409);
    expect(await review(heron, false)).toBe(item);
    const first = await wren('POST', `${item}/comments`, { text: ' The terms say 80 euros. ' }, each);
    expect([first.status, first.body]).toEqual([
      201,
      expect.objectContaining({ reviewer: `wren ${suffix}`, isYours: true, text: 'The terms say 80 euros.' }),
    ]);
    await heron('POST', `${item}/comments`, { text: 'Not for Åland.' }, each);
    // A key that manages decides, so it may discuss.
    expect((await lead('POST', `${item}/comments`, { text: 'Thanks.' }, each)).status).toBe(201);
    const { comments } = (await heron('GET', item, undefined, each)).body;
    expect(comments.map(({ text, isYours }: Json) => [text, isYours])).toEqual([
      ['The terms say 80 euros.', false],
      ['Not for Åland.', true],
      ['Thanks.', false],
    ]);
    // Somebody who hasn't reviewed it sees nothing of it.
    expect((await osprey('GET', item, undefined, each)).body).toMatchObject({ reviews: [], comments: [] });
    expect((await osprey('POST', `${item}/comments`, { text: 'Me too' }, each)).status).toBe(409);
    expect((await wren('POST', `${item}/comments`, { text: '  ' }, each)).status).toBe(400);
    expect((await wren('POST', `${item}/comments`, { text: 'x'.repeat(10_001) }, each)).status).toBe(400);
    const other = host.issueKey({ name: `Other scope ${suffix}`, scopes: ['run'] });
    const body = { text: 'Hello' };
    expect((await callJson(host, each, 'POST', `${item}/comments`, { key: other, body })).status).toBe(403);
    expect((await callJson(host, each, 'POST', `${item}/second-review`, { key: other, body: {} })).status).toBe(403);
    expect((await lead('DELETE', path, undefined, each)).status).toBe(204);
    expect((await wren('POST', `${item}/comments`, { text: 'Gone' }, each)).status).toBe(404);
  });
});

test('a discussion has an end, so that an item can be read', async () => {
  const { workspaceId } = await recordRuns(1);
  const { path, answers } = await createQueue({ workspaceId });
  const wren = reviewerCalled('talkative');
  const { id } = (await wren('POST', `${path}/reservations`)).body.item;
  await wren('POST', `${path}/items/${id}/reviews`, answers(true));
  const addComment = (characters: number) =>
    wren('POST', `${path}/items/${id}/comments`, { text: 'x'.repeat(characters) });
  for (let count = 0; count < 49; count += 1) expect((await addComment(10_000)).status).toBe(201);
  expect((await addComment(9_999)).status).toBe(201);
  const { status, body } = await addComment(2);
  expect([status, body.error.message]).toEqual([409, expect.stringMatching(/no room: it can have 500,000 characters/)]);
  expect((await addComment(1)).status).toBe(201);
});

test('the agreement leaves out reviews that somebody asked for, and the result counts them', async () => {
  const { path, wren, heron, osprey, review, ids } = await prepare(3, { reviewersPerItem: 2 });
  const reserved = (await wren('POST', `${path}/reservations`, {})).body.item;
  await wren('POST', `${path}/items/${reserved.id}/second-review`, {});
  for (const call of [wren, heron]) while (await review(call, true)) continue;
  expect(await review(osprey, false)).toBe(`${path}/items/${reserved.id}`);
  const { doneItems, items } = (await lead('GET', `${path}/agreement`)).body;
  // With the third review one item of three would differ.
  expect([doneItems, items[0].ratedItems, items[0].percent]).toEqual([3, 3, 1]);
  const { body } = await lead('GET', `${path}/disagreements?rubricItemId=${ids.right}`);
  expect(body.data.map(({ item, reviews }: Json) => [item.id, reviews.length])).toEqual([[reserved.id, 3]]);
  expect((await lead('GET', path)).body.counts).toMatchObject({ done: 3, reviews: 7, reviewsNeeded: 7 });
});

test('only as many reviews are requested as there are named reviewers', async () => {
  const named = [await lead('POST', '/reviewers', { name: `only ${randomUUID().slice(0, 8)}` })];
  const { workspaceId } = await recordRuns(1);
  const { path } = await createQueue({ workspaceId }, { reviewerIds: named.map(({ body }) => body.id) });
  const [item] = (await lead('GET', `${path}/items`)).body.data;
  const { status, body } = await lead('POST', `${path}/items/${item.id}/second-review`);
  expect([status, body.error.message]).toEqual([409, 'All reviewers of this queue review this item already.']);
});

test.each(['delete', 'anonymise'] as const)('what people wrote goes when the run goes: %s', async (action) => {
  const { path, wren, heron, review } = await prepare(1, { reviewersPerItem: 1 });
  const { id } = (await wren('POST', `${path}/reservations`, {})).body.item;
  const item = `${path}/items/${id}`;
  await wren('POST', `${item}/second-review`, { reason: 'secret reason' });
  await review(wren, true);
  await review(heron, false);
  await wren('POST', `${item}/comments`, { text: 'secret comment' });
  host.host.storage.retention.apply(action, Date.now() + 1000, 1000);
  const { body } = await lead('GET', item);
  expect(JSON.stringify(body)).not.toContain('secret');
  expect(body).toMatchObject(
    action === 'delete'
      ? { state: 'removed', secondReview: null, reviewsNeeded: 1 }
      : { state: 'done', secondReview: { reason: null }, reviewsNeeded: 2, comments: [] },
  );
});

describe('a queue file', () => {
  const download = async (from: TestHost, path: string) =>
    (await from.send(memory, jsonRequest(from, 'GET', `${path}/file`))).text;
  const upload = async (to: TestHost, path: string, content: string) => {
    const form = formOf([{ name: 'file', fileName: 'queue.jsonl', content }]);
    const { status, text } = await to.send(memory, { ...uploadRequest({ key: to.key }, form), path });
    return { status, body: JSON.parse(text) as Json };
  };
  const at = (method: string, path: string, body: unknown = {}) => callJson(colleague, memory, method, path, { body });

  test('takes requests and discussions along, once', async () => {
    const { path, wren, review, answers, suffix } = await prepare(2, { reviewersPerItem: 1 });
    const requested = (await wren('POST', `${path}/reservations`, {})).body.item;
    await wren('POST', `${path}/items/${requested.id}/second-review`, { reason: 'my view' });
    expect(await review(wren, true)).toBe(`${path}/items/${requested.id}`);
    const file = await download(host, path);
    expect(file).toContain(`"by":"wren ${suffix}"`);
    // Others don't read there what a reviewer thinks.
    expect(file).not.toContain('my view');
    expect((await upload(colleague, '/review-queues/import', file)).status).toBe(201);

    // There, one more review of the other item is asked for, and the first one is discussed.
    for (let count = 0; count < 2; count += 1) {
      const { item } = (await at('POST', `${path}/reservations`)).body;
      const own = `${path}/items/${item.id}`;
      if (item.id === requested.id)
        expect(item.secondReview).toMatchObject({ requestedBy: `wren ${suffix}`, reason: null });
      else expect((await at('POST', `${own}/second-review`, { reason: 'from afar' })).status).toBe(201);
      expect((await at('POST', `${own}/reviews`, answers(false))).status).toBe(201);
    }
    const comment = await at('POST', `${path}/items/${requested.id}/comments`, { text: 'Read from afar' });
    expect(comment.status).toBe(201);
    const result = await download(colleague, path);
    const merged = await upload(host, `${path}/merge`, result);
    expect([merged.status, merged.body]).toEqual([200, { added: 2, known: 0, comments: 1, commentsLeftOut: 0 }]);
    expect((await upload(host, `${path}/merge`, result)).body).toEqual({
      added: 0,
      known: 2,
      comments: 0,
      commentsLeftOut: 0,
    });
    const { data } = (await lead('GET', `${path}/items`)).body;
    expect(
      data.map(({ id, state, reviewsNeeded, reviewsDone }: Json) => [
        id === requested.id,
        state,
        reviewsNeeded,
        reviewsDone,
      ]),
    ).toEqual(
      expect.arrayContaining([
        [true, 'done', 2, 2],
        [false, 'open', 2, 1],
      ]),
    );
    expect((await wren('GET', `${path}/items/${requested.id}`)).body.comments).toMatchObject([
      { text: 'Read from afar' },
    ]);
  });

  test('brings only the comments that the discussion of an item has room for', async () => {
    const { path, wren, review, answers } = await prepare(1, { reviewersPerItem: 2 });
    const file = await download(host, path);
    expect((await upload(colleague, '/review-queues/import', file)).status).toBe(201);
    const item = (await review(wren, true))!;
    expect((await at('POST', `${path}/reservations`)).status).toBe(200);
    expect((await at('POST', `${item}/reviews`, answers(true))).status).toBe(201);
    const result = await download(colleague, path);
    const { id: reviewerId } = JSON.parse(result.split('\n')[1]!) as Json;
    const comment = (characters: number) => ({
      ...{ type: 'comment', id: randomUUID(), itemId: item.split('/').at(-1), reviewerId },
      ...{ text: 'y'.repeat(characters), createdAt: Date.now() },
    });
    const withComments = (comments: object[]) => result + comments.map((one) => `${JSON.stringify(one)}\n`).join('');
    const first = withComments(Array.from({ length: 49 }, () => comment(10_000)));
    const merged = await upload(host, `${path}/merge`, first);
    expect(merged.body).toEqual({ added: 1, known: 0, comments: 49, commentsLeftOut: 0 });
    const second = withComments([comment(10_000), comment(1), comment(1)]);
    expect((await upload(host, `${path}/merge`, second)).body).toEqual({
      added: 0,
      known: 1,
      comments: 1,
      commentsLeftOut: 2,
    });
    // What is here already needs no room.
    const known = { added: 0, known: 1, comments: 0, commentsLeftOut: 0 };
    expect((await upload(host, `${path}/merge`, first)).body).toEqual(known);
    const own = await wren('POST', `${item}/comments`, { text: 'x' });
    expect([own.status, own.body.error.message]).toEqual([409, expect.stringMatching(/500,000 characters/)]);
  });

  test('comes back after the run of a requested second review was deleted', async () => {
    const { path, wren, review, answers } = await prepare(1, { reviewersPerItem: 1 });
    const { id } = (await wren('POST', `${path}/reservations`, {})).body.item;
    await wren('POST', `${path}/items/${id}/second-review`);
    await review(wren, true);
    expect((await upload(colleague, '/review-queues/import', await download(host, path))).status).toBe(201);
    expect((await at('POST', `${path}/reservations`)).body.item).toMatchObject({ id });
    expect((await at('POST', `${path}/items/${id}/reviews`, answers(true))).status).toBe(201);
    const result = await download(colleague, path);
    expect(result).toContain('"type":"secondReview"');
    host.host.storage.retention.apply('delete', Date.now() + 1000, 1000);
    expect(await upload(host, `${path}/merge`, result)).toEqual({
      status: 200,
      body: { added: 0, known: 1, comments: 0, commentsLeftOut: 0 },
    });
  });

  test('without the fields, as older versions write it, is read', async () => {
    const { path, wren, review } = await prepare(1, { reviewersPerItem: 2 });
    await review(wren, true);
    const older = (await download(host, path)).replaceAll(/,"secondReview":(null|\{[^}]*\})/g, '');
    expect(older).not.toContain('secondReview');
    expect((await upload(colleague, '/review-queues/import', older)).status).toBe(201);
    expect((await callJson(colleague, memory, 'GET', `${path}/items`)).body.data).toMatchObject([
      { secondReview: null },
    ]);
  });
});
