// @module-tag slow
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { BlindVote } from '../../shared/contract/blind-votes.ts';
import type { Judge, JudgeLabel } from '../../shared/contract/judges.ts';
import { comparisonCalls, echo, promptOf, provider } from '../support/comparison-calls.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { callJson, rejectionOf } from '../support/json-call.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
let comparison: string;
let runIds: { A: string; B: string }[];

const [way] = ways;
const rowCount = 40;
const { create, run, cellsOf, ended } = comparisonCalls(() => host);
const call = (method: string, path: string, body?: unknown, key = host.key) =>
  callJson(host, way, method, path, { key, ...(body === undefined ? {} : { body }) });

beforeAll(async () => {
  host = await startTestHost();
  host.provider.answerWith(echo);
  const rows = Array.from({ length: rowCount }, (_, row) => ({ ticket: `ticket ${row}` }));
  const dataset = await call('POST', '/datasets', { name: 'T', columns: [{ name: 'ticket', type: 'text' }], rows });
  comparison = (await create(way, { datasetId: dataset.body.id })).id;
  await run(way, comparison);
  const cells = await cellsOf(way, comparison);
  runIds = rows.map((_, row) => ({ A: cells[2 * row]!.runId!, B: cells[2 * row + 1]!.runId! }));
});
afterAll(() => host.close());

const form = {
  name: 'Taste',
  promptText: 'Judge {{first}} | {{second}}',
  verdict: { kind: 'preference' },
  ...provider,
};
const createJudge = async (change: object = {}) =>
  (await call('POST', '/judges', { ...form, ...change })).body as Judge;
const readJudge = async (id: string) => (await call('GET', `/judges/${id}`)).body as Judge;
const pairsOf = async (judgeId: string, query = 'first=A&second=B') =>
  (await call('GET', `/comparisons/${comparison}/pairs?judgeId=${judgeId}&${query}`)).body;

let prompts: string[] = [];
/** The judge answers as `choose` does; null is no verdict. */
function judgeWith(choose: (prompt: string) => string | null): void {
  prompts = [];
  host.provider.answerWith((received) => {
    prompts.push(promptOf(received));
    const verdict = choose(promptOf(received));
    const content = verdict === null ? 'No idea.' : JSON.stringify({ reason: 'Because', verdict });
    if (received.body['stream'] === true) received.chatStream([content]);
    else received.chatAnswer({ content });
  });
}
const alwaysB = (prompt: string) => (prompt.startsWith('Judge A') ? 'second' : 'first');
beforeEach(() => judgeWith(alwaysB));

async function judgeAll(judgeId: string): Promise<void> {
  await call('POST', `/comparisons/${comparison}/pairs`, { judgeId, variants: ['A', 'B'] });
  await ended(way, comparison);
}

/** A finished blind vote, in which B wins except where a row says otherwise. */
async function vote(
  choices: ReadonlyMap<number, string> = new Map(),
  { isFinished = true, key = host.key, question = 'Which is kinder?' } = {},
) {
  const input = { variants: ['A', 'B'], question };
  let found = (await call('POST', `/comparisons/${comparison}/blind-votes`, input, key)).body as BlindVote;
  while (found.pair) {
    const isBFirst = found.pair.answers[0]!.text.startsWith('B');
    const choice = choices.get(found.pair.position) ?? (isBFirst ? 'first' : 'second');
    found = (await call('PUT', `/blind-votes/${found.id}/pairs/${found.pair.rowId}`, { vote: choice }, key)).body;
  }
  if (isFinished) await call('POST', `/blind-votes/${found.id}/finish`, undefined, key);
  return found.id;
}
const takeVotes = (judgeId: string, blindVoteId: string, key = host.key) =>
  call('POST', `/judges/${judgeId}/labels`, { blindVoteId }, key);
const calibrate = (judgeId: string) => call('POST', `/judges/${judgeId}/calibration`);

test('preferences count when the judge agrees with votes of people on the held-out half, until it changes', async () => {
  const judge = await createJudge();
  await judgeAll(judge.id);
  expect(await pairsOf(judge.id)).toMatchObject({
    isCalibrated: false,
    variants: [
      { name: 'A', wins: 0 },
      { name: 'B', wins: rowCount },
    ],
    counts: { judged: rowCount },
    share: null,
    interval: null,
    probability: null,
    verdict: 'unclear',
    pairsNeeded: null,
    sentence: "Doesn't count yet: the judge is not calibrated. 0 of 30 labels. Label 30 more pairs by hand.",
  });
  const exported = async (format: string) => {
    const path = `/comparisons/${comparison}/export?format=${format}`;
    return (await host.send(way, { method: 'GET', path, headers: { authorization: `Bearer ${host.key}` } })).text;
  };
  expect(await exported('preferences')).toBe('');
  expect(await exported('csv')).toContain("Taste: better than A (doesn't count yet)");
  expect(JSON.parse((await exported('jsonl')).split('\n')[0]!)).toMatchObject({
    preferences: [{ judge: 'Taste', counts: false, isStale: false }],
  });

  // Pairs that tell nothing are no labels. Verdicts that the judge gave are not paid for again.
  const blindVoteId = await vote(
    new Map([
      [0, 'skip'],
      [1, 'tie'],
      [2, 'bothBad'],
    ]),
  );
  expect((await takeVotes(judge.id, blindVoteId)).body).toEqual({ added: rowCount - 1, skipped: 1 });
  expect((await takeVotes(judge.id, blindVoteId)).body).toEqual({ added: 0, skipped: rowCount });
  prompts = [];
  const calibrated = (await calibrate(judge.id)).body as Judge;
  expect(prompts).toEqual([]);
  expect(calibrated.calibration).toMatchObject({ isCalibrated: true, labels: rowCount - 1, withoutVerdict: 0 });
  expect(calibrated.calibration.sentence).toMatch(
    /^Agrees on \d+ of \d+ held-out pairs: kappa [01]\.\d\d \(95 %: 0\.\d\d to [01]\.\d\d\)$/,
  );
  // B wins all pairs, and yet both labels appear: the sides are random.
  expect(calibrated.calibration.heldOut!.matrix.flat().filter((count) => count > 0).length).toBeGreaterThan(1);
  const labels = (await call('GET', `/judges/${judge.id}/labels`)).body.data as JudgeLabel[];
  const tie = labels.find(({ runId }) => runId === runIds[1]!.A);
  expect(tie).toMatchObject({ otherRunId: runIds[1]!.B, label: 'tie', verdict: 'second', isStale: false });

  expect(await pairsOf(judge.id)).toMatchObject({
    isCalibrated: true,
    verdict: 'second',
    sentence: 'B is preferred: 40 of 40 decided pairs, 100 % (95 %: 91 to 100)',
    agreement: { agreement: { rows: rowCount - 1, share: expect.closeTo(37 / 39) } },
  });
  // The other way round nothing is asked again, and the winner is the same.
  expect(await pairsOf(judge.id, 'first=B&second=A')).toMatchObject({ verdict: 'first', counts: { judged: rowCount } });
  const lines = (await exported('preferences')).trim().split('\n');
  expect(lines.filter((line) => JSON.parse(line).source === 'judge')).toHaveLength(rowCount);

  await call('PUT', `/judges/${judge.id}`, { ...form, promptText: 'Judge {{first}} against {{second}}' });
  const stale = { isCalibrated: false, counts: { judged: 0, stale: rowCount }, share: null };
  expect(await pairsOf(judge.id)).toMatchObject(stale);
  expect((await readJudge(judge.id)).calibration).toMatchObject({ labels: rowCount - 1, withoutVerdict: rowCount - 1 });
  expect((await calibrate(judge.id)).body.calibration).toMatchObject({ isCalibrated: true });
  expect(prompts).toHaveLength(2 * (rowCount - 1));
  expect((await call('DELETE', `/judges/${judge.id}/labels`)).body.calibration).toMatchObject({
    isCalibrated: false,
    labels: 0,
  });
  expect(await pairsOf(judge.id)).toMatchObject({ isCalibrated: false });
});

test.each([
  ['prefers the first answer', () => 'first', 0],
  ['always answers outside its schema', () => null, rowCount],
  ['prefers the other answer', (prompt: string) => (prompt.startsWith('Judge A') ? 'first' : 'second'), 0],
])('a judge that %s is not calibrated', async (_, choose, withoutVerdict) => {
  const judge = await createJudge();
  for (const { A, B } of runIds)
    await call('PUT', `/judges/${judge.id}/labels/${A}`, { otherRunId: B, label: 'second' });
  judgeWith(choose);
  const { calibration } = (await calibrate(judge.id)).body as Judge;
  expect(calibration).toMatchObject({ isCalibrated: false, labels: rowCount, withoutVerdict });
});

test('a pair is labelled in any order, once, and judged without what its prompt lacks', async () => {
  const judge = await createJudge({ promptText: 'Judge {{first}} | {{second}} by {{expected}}' });
  const { A, B } = runIds[0]!;
  const put = (runId: string, body: object, key = host.key) =>
    call('PUT', `/judges/${judge.id}/labels/${runId}`, body, key);
  expect((await put(A, { otherRunId: B, label: 'first' })).body.calibration.labels).toBe(1);
  expect((await put(B.toUpperCase(), { otherRunId: A, label: 'first' })).body.calibration.labels).toBe(1);
  const labels = async () => (await call('GET', `/judges/${judge.id}/labels`)).body.data as JudgeLabel[];
  expect(await labels()).toMatchObject([{ runId: B, otherRunId: A, label: 'first', verdict: null }]);
  expect([(await calibrate(judge.id)).status, prompts]).toEqual([200, []]);
  const judged = await call('POST', `/judges/${judge.id}/verdicts`, { runId: A, otherRunId: B });
  expect(judged.body.verdict).toBe('second');
  expect(await labels()).toMatchObject([{ label: 'first', verdict: 'first' }]);
  expect((await put(A, { otherRunId: B, label: null })).body.calibration.labels).toBe(0);

  const reader = host.issueKey({ scopes: ['run', 'manage'] });
  const rejected = await Promise.all([
    put(A, { label: 'first' }),
    put(A, { otherRunId: B, label: 'pass' }),
    put(A, { otherRunId: A, label: 'tie' }),
    put(A, { otherRunId: B, label: 'tie' }, reader),
  ]);
  expect(rejected.map((answer) => rejectionOf(answer))).toMatchObject([
    [400, 'invalid_request', [{ field: 'otherRunId' }]],
    [400, 'invalid_request', [{ field: 'label' }]],
    [400, 'invalid_request', [{ field: 'otherRunId' }]],
    [404, 'not_found', []],
  ]);
});

test('a person stops the judging of pairs, and the next one asks about the others only', async () => {
  const judge = await createJudge();
  const held: ScriptedCall[] = [];
  host.provider.answerWith((received) => void held.push(received));
  const body = { judgeId: judge.id, variants: ['A', 'B'] };
  expect((await call('POST', `/comparisons/${comparison}/pairs`, body)).body).toMatchObject({ state: 'Running' });
  expect((await call('POST', `/comparisons/${comparison}/pairs`, body)).status).toBe(409);
  // Both orders of the first pair.
  for (let order = 1; order <= 2; order += 1) {
    await expect.poll(() => held.some((received) => promptOf(received).includes('ticket 0'))).toBe(true);
    const [received] = held.splice(
      held.findIndex((one) => promptOf(one).includes('ticket 0')),
      1,
    );
    received!.chatAnswer({ content: JSON.stringify({ reason: 'Because', verdict: alwaysB(promptOf(received!)) }) });
  }
  const read = async () => (await call('GET', `/comparisons/${comparison}`)).body;
  await expect.poll(async () => (await read()).judging).toEqual({ judged: 1, total: rowCount });
  const stopped = await call('POST', `/comparisons/${comparison}/stop`);
  expect(stopped.body).toMatchObject({ state: 'Completed', judging: null, stopReason: 'Stopped.' });
  expect((await pairsOf(judge.id)).counts).toMatchObject({ judged: 1, missing: rowCount - 1 });
  judgeWith(alwaysB);
  await judgeAll(judge.id);
  expect(prompts).toHaveLength(2 * (rowCount - 1));
  expect((await pairsOf(judge.id)).counts).toMatchObject({ judged: rowCount, missing: 0 });
});

test('labels come from finished votes on runs that the caller may read, for judges of preferences only', async () => {
  const judge = await createJudge();
  const other = await createJudge({ promptText: 'Judge {{answer}}', verdict: { kind: 'passOrFail' } });
  const unfinished = await vote(new Map(), { isFinished: false });
  expect((await takeVotes(judge.id, unfinished)).status).toBe(409);
  await call('POST', `/blind-votes/${unfinished}/finish`);
  const reader = host.issueKey({ scopes: ['run', 'manage'] });
  expect((await takeVotes(judge.id, unfinished, reader)).body).toEqual({ added: 0, skipped: rowCount });
  const unknown = '00000000-0000-4000-8000-000000000000';
  const statuses = [
    await takeVotes(other.id, unfinished),
    await takeVotes(judge.id, unknown),
    await takeVotes(unknown, unfinished),
    await takeVotes(judge.id, unfinished, host.issueKey({ scopes: ['run'] })),
    await call('PUT', `/judges/${other.id}/labels/${runIds[0]!.A}`, { otherRunId: runIds[0]!.B, label: 'pass' }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 404, 404, 403, 400]);
});

test('the agreement with people is that on the question of the newest finished vote', async () => {
  const judge = await createJudge();
  await judgeAll(judge.id);
  const anna = host.issueKey({ name: 'Anna', scopes: ['run', 'audit', 'manage'] });
  const ties = new Map(runIds.map((_, row) => [row, 'tie']));
  await vote();
  await vote(ties, { key: anna, question: 'Which is shorter?' });
  const onLength = { question: 'Which is shorter?', agreement: { rows: rowCount, share: 0 } };
  expect(await pairsOf(judge.id)).toMatchObject({ agreement: onLength });
  await vote();
  const onKindness = { question: 'Which is kinder?', agreement: { rows: rowCount, share: 1 } };
  expect(await pairsOf(judge.id)).toMatchObject({ agreement: onKindness });
});
