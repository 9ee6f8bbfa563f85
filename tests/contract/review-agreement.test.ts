import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReviewAgreement } from '../../shared/contract/review-agreement.ts';
import { callJson } from '../support/json-call.ts';
import { createReviewWorld } from '../support/review-world.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

type Json = ReturnType<typeof JSON.parse>;
const { reviewerCalled, lead, recordRuns, createQueue } = createReviewWorld(() => host);

/** Ten items that two reviewers answered; they differ on the first three. */
async function reviewed() {
  const { workspaceId, runs } = await recordRuns(10);
  const made = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
  const suffix = randomUUID().slice(0, 8);
  const [wren, heron] = [reviewerCalled(`wren ${suffix}`), reviewerCalled(`heron ${suffix}`)];
  for (const [reviewer, call] of [wren, heron].entries()) {
    for (let position = 0; position < 10; position += 1) {
      const { item } = (await call('POST', `${made.path}/reservations`)).body;
      const differs = reviewer === 1 && position < 3;
      const wrong = differs ? 'Policy' : 'Tone';
      const answer = made.answers((position % 2 === 0) !== differs, {
        wrong,
        useful: differs ? -5 : position,
        text: 'x',
      });
      expect((await call('POST', `${made.path}/items/${item.id}/reviews`, answer)).status).toBe(201);
    }
  }
  const all = (await lead('GET', '/reviewers?pageSize=100')).body.data as Json[];
  const idOf = (name: string) => all.find((one) => one.name === `${name} ${suffix}`).id as string;
  return { ...made, runs, wren, heron, ids: { ...made.ids, wren: idOf('wren'), heron: idOf('heron') } };
}

test.each(ways)('%s: agreement is measured per item of the rubric', async (way) => {
  const { path, ids, runs } = await reviewed();
  const { storage } = host.host;
  const judge = storage.judges.create({
    name: 'Strict',
    promptText: '{{answer}}',
    aiSystem: 'OpenAi',
    model: 'm',
    verdict: { kind: 'passOrFail' },
  });
  for (const { runId } of runs)
    storage.judges.setVerdict(judge.sequence, { runId, judgeHash: 'h', judgeRunId: randomUUID(), verdict: 'pass' });
  const { status, body } = await callJson(host, way, 'GET', `${path}/agreement`);
  expect(status).toBe(200);
  const { doneItems, reviewers, items } = body as ReviewAgreement;
  expect([doneItems, reviewers.map(({ id }) => id).toSorted()]).toEqual([10, [ids.wren, ids.heron].toSorted()]);
  const [right, wrong, useful, text] = items;
  expect(right).toMatchObject({ kind: 'yesNo', ratedItems: 10, percent: 0.7, reason: null });
  expect(right!.matrix!.labels).toEqual(['yes', 'no']);
  expect(right!.matrix!.rows.flat().reduce((sum, count) => sum + count)).toBe(10);
  expect(right!.kappa).toBeCloseTo(0.4, 1);
  expect(right!.alpha).toBeGreaterThan(0.3);
  expect(right!.interval![0]).toBeLessThan(right!.alpha!);
  expect(right!.pairs).toMatchObject([{ ratedItems: 10, percent: 0.7, firstId: expect.any(String) }]);
  expect(right!.against.map(({ kind, name, ratedItems }) => [kind, name, ratedItems])).toEqual([
    ['judge', 'Strict', 7],
    ['moderation', 'Guard: flagged', 2],
  ]);
  expect(wrong).toMatchObject({ percent: 0.7, matrix: { labels: ['Policy', 'Tone'] }, against: [] });
  expect(useful).toMatchObject({ kind: 'score', percent: 0.7 });
  expect(text).toMatchObject({
    percent: null,
    kappa: null,
    alpha: null,
    matrix: null,
    reason: 'Text is not measured.',
  });
});

test('what can not be computed is null with a reason', async () => {
  const { workspaceId } = await recordRuns(2);
  const { path, answers } = await createQueue({ workspaceId });
  const [right] = (await lead('GET', `${path}/agreement`)).body.items;
  expect(right).toMatchObject({ ratedItems: 0, percent: null, kappa: null, alpha: null, interval: null });
  expect(right.reason).toMatch(/\w/);
  const { item } = (await lead('POST', `${path}/reservations`)).body;
  await lead('POST', `${path}/items/${item.id}/reviews`, answers(true));
  expect((await lead('GET', `${path}/agreement`)).body).toMatchObject({
    doneItems: 1,
    items: [{ percent: null }, {}, {}, {}],
  });
});

test('disagreements are found by item of the rubric and by cell of the matrix', async () => {
  const { path, ids, wren } = await reviewed();
  const find = async (query: string, call = lead) => (await call('GET', `${path}/disagreements?${query}`)).body;
  const all = await find(`rubricItemId=${ids.wrong}`);
  expect([all.total, all.data.map(({ item }: Json) => item.position)]).toEqual([3, [0, 1, 2]]);
  expect(all.data[0].reviews).toHaveLength(2);
  const pair = `rubricItemId=${ids.wrong}&first=${ids.wren}&second=${ids.heron}`;
  expect((await find(`${pair}&firstValue=Tone&secondValue=Policy`)).total).toBe(3);
  expect((await find(`${pair}&firstValue=Policy&secondValue=Tone`)).total).toBe(0);
  expect((await find(`${pair}&firstValue=Tone&secondValue=Tone`)).total).toBe(7);
  expect((await find(`${pair}&limit=1&offset=1`)).data[0].item.position).toBe(1);
  expect((await find(pair, wren)).total).toBe(3);
  expect((await find(pair, reviewerCalled(`stranger ${ids.wren}`))).total).toBe(3);
  const { id } = all.data[0].item;
  await lead('PUT', `${path}/items/${id}/gold`, { answers: [{ rubricItemId: ids.wrong, value: 'Policy' }] });
  expect((await find(`rubricItemId=${ids.wrong}&isUndecided=true`)).total).toBe(2);
  expect((await find(`rubricItemId=${ids.wrong}&isUndecided=false`)).total).toBe(1);
});

test('reviews of others stay hidden in the disagreements until the queue is complete', async () => {
  const { workspaceId } = await recordRuns(3);
  const { path, answers, ids } = await createQueue({ workspaceId }, { reviewersPerItem: 2 });
  const [one, other, third] = ['a', 'b', 'c'].map((name) => reviewerCalled(`${name} ${workspaceId}`)) as [
    typeof lead,
    typeof lead,
    typeof lead,
  ];
  for (const [index, call] of [one, other].entries()) {
    const { item } = (await call('POST', `${path}/reservations`)).body;
    await call('POST', `${path}/items/${item.id}/reviews`, answers(index === 0));
  }
  const find = async (call: typeof lead) =>
    (await call('GET', `${path}/disagreements?rubricItemId=${ids.right}`)).body.total;
  expect([await find(one), await find(third), await find(lead)]).toEqual([1, 0, 1]);
});
