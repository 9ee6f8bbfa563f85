import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Check } from '../../shared/contract/checks.ts';
import type { ComparisonCell } from '../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import type { Judge } from '../../shared/contract/judges.ts';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import { patience } from '../support/patience.ts';
import { minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
  host.host.storage.settings.update({ endpointPrices: [{ model: 'scripted/model', inputPrice: 1, outputPrice: 2 }] });
});
afterAll(() => host.close());

const input = {
  name: 'Keeps to the policy',
  promptText: 'Ticket: {{ticket}}\nAnswer: {{answer}}\nDoes it keep to the policy?',
  aiSystem: 'OpenAiCompatible',
  model: 'scripted/model',
  verdict: { kind: 'passOrFail' },
};

async function create(way: Way, changes: Record<string, unknown> = {}): Promise<Judge> {
  const { status, body } = await callJson(host, way, 'POST', '/judges', { body: { ...input, ...changes } });
  expect([status, body]).toEqual([201, expect.any(Object)]);
  return body as Judge;
}

/** The bodies of the calls that the provider answered. */
let calls: string[] = [];

/** From here on the provider answers with this function of the call's body; null is an error. */
function answerWith(reply: (body: string) => string | null): void {
  calls = [];
  host.provider.answerWith((call) => {
    if (call.method === 'GET') return call.fail(404, 'no models');
    const content = reply(call.bodyText);
    if (content === null) return call.fail(401, 'no');
    calls.push(call.bodyText);
    return call.body['stream'] === true ? call.chatStream([content]) : call.chatAnswer({ content });
  });
}

/** Runs a prompt, whose answer is the given one. Resolves with the run's id. */
async function answer(way: Way, content: string, replacements: Record<string, unknown> = { ticket: randomUUID() }) {
  answerWith(() => content);
  const { body } = await callJson(host, way, 'POST', '/api/completions/sync', {
    body: { ...minimalRequest, promptText: '{{ticket}}', replacements },
  });
  return body.runId as string;
}

const verdict = (value: string) => JSON.stringify({ reason: 'Because', verdict: value });

describe.each(ways)('%s: judges', (way) => {
  test('a judge is created, read, changed, listed and deleted', async () => {
    const made = await create(way);
    expect(made).toMatchObject({
      ...input,
      hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      answerSchema: { required: ['reason', 'verdict'] },
      calibration: {
        isCalibrated: false,
        labels: 0,
        labelsNeeded: 30,
        sentence: '0 of 30 labels. Label 30 more answers by hand.',
      },
    });
    const read = await callJson(host, way, 'GET', `/judges/${made.id.toUpperCase()}`);
    expect([read.status, read.body]).toEqual([200, made]);
    const renamed = await callJson(host, way, 'PUT', `/judges/${made.id}`, { body: { ...input, name: 'Other' } });
    expect(renamed.body).toMatchObject({ name: 'Other', hash: made.hash });
    const changed = await callJson(host, way, 'PUT', `/judges/${made.id}`, {
      body: { ...input, promptText: '{{answer}}' },
    });
    expect(changed.body.hash).not.toBe(made.hash);
    expect((await walk(host, way, '/judges', 1)).map(({ id }) => id)).toContain(made.id);
    expect((await callJson(host, way, 'DELETE', `/judges/${made.id}`)).status).toBe(204);
    expect(rejectionOf(await callJson(host, way, 'GET', `/judges/${made.id}`))).toEqual([404, 'not_found', []]);
  });

  test.each([
    [{ promptText: 'Good?' }, 'promptText'],
    [{ promptText: '{{#if' }, 'promptText'],
    [{ verdict: { kind: 'stars' } }, 'verdict.kind'],
    [{ configuration: { response_format: { type: 'text' } } }, 'configuration.response_format'],
    [{ wieght: 1 }, 'wieght'],
  ])('rejects %j', async (changes, field) => {
    const rejected = await callJson(host, way, 'POST', '/judges', { body: { ...input, ...changes } });
    expect(rejectionOf(rejected)).toEqual([400, 'invalid_request', [expect.objectContaining({ field })]]);
  });

  test('the answer of a run is judged once, by a run in the audit', async () => {
    const { id, hash } = await create(way);
    const runId = await answer(way, 'We refund it.', { ticket: 'Late' });
    const judge = () => callJson(host, way, 'POST', `/judges/${id}/verdicts`, { body: { runId } });
    answerWith(() => verdict('fail'));
    const first = await judge();
    expect(first.body).toEqual({
      judgeHash: hash,
      runIds: [expect.any(String)],
      verdict: 'fail',
      pass: false,
      score: 0,
      reason: 'Because',
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]).toContain('Ticket: Late\\nAnswer: We refund it.');
    expect(host.host.storage.runs.read(first.body.runIds[0])).toMatchObject({
      status: 'Completed',
      metadata: { judgeId: id },
    });
    answerWith(() => verdict('pass'));
    expect([(await judge()).body, calls]).toEqual([first.body, []]);
    await callJson(host, way, 'PUT', `/judges/${id}`, { body: { ...input, promptText: '{{answer}}?' } });
    answerWith(() => 'pass');
    expect((await judge()).body).toMatchObject({
      verdict: null,
      pass: null,
      reason: 'The judge did not answer with JSON',
    });
  });

  test('two answers are compared in both orders', async () => {
    const { id } = await create(way, { promptText: '{{first}} | {{second}}', verdict: { kind: 'preference' } });
    const [runId, otherRunId] = [await answer(way, 'short'), await answer(way, 'much longer')];
    const body = { runId, otherRunId };
    const compare = () => callJson(host, way, 'POST', `/judges/${id}/verdicts`, { body });
    answerWith((text) => verdict(text.includes('short | much longer') ? 'second' : 'first'));
    expect((await compare()).body).toMatchObject({ verdict: 'second', pass: null });
    expect(calls).toHaveLength(2);
    answerWith(() => verdict('first'));
    expect((await compare()).body).toMatchObject({ verdict: 'tie' });
    const missing = await callJson(host, way, 'POST', `/judges/${id}/verdicts`, { body: { runId } });
    expect(rejectionOf(missing)).toMatchObject([400, 'invalid_request', [{ field: 'otherRunId' }]]);
    const label = await callJson(host, way, 'PUT', `/judges/${id}/labels/${runId}`, { body: { label: 'pass' } });
    expect(label.status).toBe(400);
  });

  test('a key with only `run` reads neither the prompt nor the parameters of a judge', async () => {
    const made = await create(way, { configuration: { temperature: 0.25 } });
    const read = async (path: string, key: string) => (await callJson(host, way, 'GET', path, { key })).body;
    const runs = host.issueKey({ scopes: ['run'] });
    const hidden = { ...made, promptText: '', configuration: null };
    expect(await read(`/judges/${made.id}`, runs)).toEqual(hidden);
    expect((await read('/judges', runs)).data[0]).toEqual(hidden);
    for (const scope of ['manage', 'audit'] as const) {
      const key = host.issueKey({ scopes: ['run', scope] });
      expect(await read(`/judges/${made.id}`, key)).toEqual(made);
    }
  });

  test("runs of other callers can't be judged or labelled without the scope audit", async () => {
    const { id } = await create(way);
    const runId = await answer(way, 'secret');
    const key = host.issueKey({ scopes: ['run', 'manage'] });
    const judged = await callJson(host, way, 'POST', `/judges/${id}/verdicts`, { key, body: { runId } });
    const labelled = await callJson(host, way, 'PUT', `/judges/${id}/labels/${runId}`, {
      key,
      body: { label: 'pass' },
    });
    expect([rejectionOf(judged), rejectionOf(labelled)]).toEqual([
      [404, 'not_found', []],
      [404, 'not_found', []],
    ]);
    const reading = host.issueKey({ scopes: ['run'] });
    expect((await callJson(host, way, 'POST', '/judges', { key: reading, body: input })).status).toBe(403);
    expect((await callJson(host, way, 'GET', `/judges/${id}`, { key: reading })).status).toBe(200);
  });
});

const label = (way: Way, judgeId: string, runId: string, value: string | null) =>
  callJson(host, way, 'PUT', `/judges/${judgeId}/labels/${runId}`, { body: { label: value } });

/** Labels 40 answers, of which a third is "bad". Returns their runs. */
async function labelAnswers(way: Way, judgeId: string): Promise<string[]> {
  const runIds: string[] = [];
  for (let row = 0; row < 40; row += 1) {
    const isBad = row % 3 === 0;
    const runId = await answer(way, isBad ? 'bad' : 'good', { ticket: `ticket ${row}` });
    runIds.push(runId);
    expect((await label(way, judgeId, runId, isBad ? 'fail' : 'pass')).status).toBe(200);
  }
  return runIds;
}

describe('the calibration of a judge', () => {
  const way = 'in memory';

  test('judges the labelled answers, keeps what it has when the provider fails, and becomes stale', async () => {
    const { id } = await create(way);
    const runIds = await labelAnswers(way, id);
    const calibrate = () => callJson(host, way, 'POST', `/judges/${id}/calibration`);

    const judged = (text: string) => verdict(text.includes('Answer: good') ? 'pass' : 'fail');
    answerWith((text) => (calls.length < 6 ? judged(text) : null));
    expect((await calibrate()).status).toBe(503);
    const stored = calls.length;

    answerWith(judged);
    const result = await calibrate();
    expect([stored, calls.length]).toEqual([6, 34]);
    expect(result.body.calibration).toMatchObject({
      isCalibrated: true,
      labels: 40,
      labelsNeeded: 0,
      withoutVerdict: 0,
    });
    expect(result.body.calibration.sentence).toMatch(
      /^Agrees on (\d+) of \1 held-out answers: kappa 1\.00 \(95 %: 0\.\d\d to 1\.00\)$/,
    );
    const labels = (await callJson(host, way, 'GET', `/judges/${id}/labels`)).body.data;
    expect(labels).toHaveLength(40);
    expect(labels[0]).toEqual({
      runId: runIds[39],
      otherRunId: null,
      label: 'fail',
      isHeldOut: expect.any(Boolean),
      verdict: 'fail',
      isStale: false,
      createdAt: expect.any(String),
    });

    const changed = await callJson(host, way, 'PUT', `/judges/${id}`, {
      body: { ...input, promptText: '{{answer}}?' },
    });
    expect(changed.body.calibration).toMatchObject({ isCalibrated: false, labels: 40, withoutVerdict: 40 });
    expect((await callJson(host, way, 'GET', `/judges/${id}/labels`)).body.data[0].isStale).toBe(true);
    expect((await label(way, id, runIds[0]!, null)).body.calibration.labels).toBe(39);
  });

  test('leaves out runs that lack a column of the prompt', async () => {
    const { id } = await create(way, { promptText: '{{answer}} should be {{expected}}' });
    const runId = await answer(way, 'a');
    await callJson(host, way, 'PUT', `/judges/${id}/labels/${runId}`, { body: { label: 'pass' } });
    answerWith(() => verdict('pass'));
    const result = await callJson(host, way, 'POST', `/judges/${id}/calibration`);
    expect([result.status, calls]).toEqual([200, []]);
    expect(result.body.calibration).toMatchObject({ labels: 1, withoutVerdict: 1 });
  });
});

describe('a judge in a comparison', () => {
  const way = 'in memory';

  async function compare(judgeId: string) {
    const dataset = await callJson(host, way, 'POST', '/datasets', {
      body: { name: 'T', columns: [{ name: 'ticket', type: 'text' }], rows: [{ ticket: 'a' }, { ticket: 'b' }] },
    });
    const { aiSystem } = input;
    const model = 'scripted/llama-small';
    const variants = [{ name: 'A', prompt: { promptText: 'Reply to {{ticket}}' }, aiSystem, model }];
    const checks = [
      { kind: 'length', min: 1 },
      { kind: 'judge', judgeId },
    ];
    return callJson(host, way, 'POST', '/comparisons', {
      body: { name: 'Judged', datasetId: dataset.body.id, variants, checks },
    });
  }

  test('gives verdicts on its cells, which decide nothing before the calibration', async () => {
    const { id, hash } = await create(way, { model: 'scripted/llama-judge' });
    const created = await compare(id);
    expect(created.body.warnings).toEqual([expect.stringMatching(/^The judge is a Llama model, as A is\./)]);
    const address = `/comparisons/${created.body.id}`;
    answerWith((text) => (text.includes('Does it keep') ? verdict('fail') : 'Good day.'));
    expect((await callJson(host, way, 'POST', `${address}/start`)).status).toBe(202);
    await expect.poll(async () => (await callJson(host, way, 'GET', address)).body.state).toBe('Completed');
    const { data } = (await callJson(host, way, 'GET', `${address}/cells`)).body;
    expect(data).toHaveLength(2);
    for (const cell of data) {
      expect(cell).toMatchObject({ passed: true, score: 1 });
      expect(cell.checks[1]).toMatchObject({ kind: 'judge', pass: false, counts: false, runIds: [expect.any(String)] });
      const run = host.host.storage.runs.read(cell.checks[1].runIds[0]);
      expect(run).toMatchObject({ metadata: { judgeHash: hash, judgedRunId: cell.runId } });
    }
    expect(calls).toHaveLength(4);
  });

  test('must exist', async () => {
    const rejected = await compare(randomUUID());
    expect(rejectionOf(rejected)).toEqual([
      400,
      'invalid_request',
      [{ field: 'checks[1].judgeId', issue: 'is not a judge' }],
    ]);
  });

  /** Runs a comparison of one variant to its end, with the judge's verdicts. */
  async function compareWith(checks: Check[], { rows = 2, ...more }: { rows?: number; maxCost?: number } = {}) {
    const dataset = await callJson(host, way, 'POST', '/datasets', {
      body: {
        name: 'T',
        columns: [{ name: 'ticket', type: 'text' }],
        rows: Array.from({ length: rows }, (_, row) => ({ ticket: `ticket ${row}` })),
      },
    });
    const { aiSystem, model } = input;
    const variants = [{ name: 'A', prompt: { promptText: 'Reply to {{ticket}}' }, aiSystem, model }];
    const { body: created } = await callJson(host, way, 'POST', '/comparisons', {
      body: { name: 'Judged', datasetId: dataset.body.id, variants, checks, concurrency: 1, ...more },
    });
    const address = `/comparisons/${created.id}`;
    const read = async () => (await callJson(host, way, 'GET', address)).body as Comparison;
    const cells = async () => (await callJson(host, way, 'GET', `${address}/cells`)).body.data as ComparisonCell[];
    const post = async (action: string) => {
      expect((await callJson(host, way, 'POST', `${address}/${action}`)).status).toBe(202);
      await expect.poll(async () => (await read()).state, patience).not.toBe('Running');
    };
    await post('start');
    const needs = async () => (await callJson(host, way, 'GET', `${address}/judge`)).body.judges[0];
    return { read, cells, needs, judgeAgain: () => post('judge') };
  }

  const answersAndJudges = (judged: string | null) =>
    answerWith((text) => (text.includes('Does it keep') ? judged : 'Good day.'));

  test('inside others costs as much as one beside them, and the spend cap holds for it', async () => {
    const { id } = await create(way);
    answersAndJudges(verdict('pass'));
    const judge: Check = { kind: 'judge', judgeId: id };
    const inside: Check = {
      kind: 'all',
      checks: [
        { kind: 'any', checks: [judge, judge] },
        { kind: 'length', min: 1 },
      ],
    };
    const beside = await compareWith([judge]);
    const { cost } = await beside.read();
    expect(cost.spentByJudges).toBeGreaterThan(0);
    const nested = await compareWith([inside]);
    expect((await nested.read()).cost).toEqual(cost);
    const [cell] = await nested.cells();
    const { runIds, cost: ofCheck } = cell!.checks[0]!;
    expect(runIds).toEqual(cell!.verdicts.map(({ runId }) => runId));
    expect(ofCheck).toBeCloseTo(cost.spentByJudges / 2, 12);
    expect(cell!.verdicts[0]!.reason).toContain('Because');
    const capped = await compareWith([inside], { rows: 4, maxCost: cost.spent });
    expect(await capped.read()).toMatchObject({ state: 'Stopped', cells: { completed: 2 } });
  });

  test.each([
    ['alone', (judge: Check): Check => ({ kind: 'any', checks: [judge] })],
    ['beside another check', (judge: Check): Check => ({ kind: 'all', checks: [{ kind: 'length', min: 1 }, judge] })],
  ])('inside others, %s, decides after its calibration only', async (_, around) => {
    const { id } = await create(way);
    await labelAnswers(way, id);
    answerWith((text) => {
      if (!text.includes('Does it keep')) return 'Good day.';
      return verdict(text.includes('Answer: good') ? 'pass' : 'fail');
    });
    const checks: Check[] = [{ kind: 'length', min: 1 }, around({ kind: 'judge', judgeId: id })];
    const { cells, needs, judgeAgain } = await compareWith(checks);
    expect((await cells()).map(({ passed }) => passed)).toEqual([true, true]);
    expect(await needs()).toMatchObject({ uncounted: 0 });
    const calibrated = await callJson(host, way, 'POST', `/judges/${id}/calibration`);
    expect(calibrated.body.calibration).toMatchObject({ isCalibrated: true });
    expect(await needs()).toMatchObject({ missing: 0, uncounted: 2 });
    await judgeAgain();
    expect((await cells()).map(({ passed }) => passed)).toEqual([false, false]);
    expect(await needs()).toMatchObject({ uncounted: 0 });
  });

  test('is paid once for two checks', async () => {
    const { id } = await create(way);
    answersAndJudges(verdict('pass'));
    const judge: Check = { kind: 'judge', judgeId: id };
    const once = await compareWith([judge]);
    const twice = await compareWith([judge, { ...judge, weight: 0 }, { kind: 'all', checks: [judge] }]);
    expect((await twice.read()).cost).toEqual((await once.read()).cost);
    const changed = { ...input, promptText: `${input.promptText}!` };
    expect((await callJson(host, way, 'PUT', `/judges/${id}`, { body: changed })).status).toBe(200);
    await once.judgeAgain();
    await twice.judgeAgain();
    expect((await twice.read()).cost).toEqual((await once.read()).cost);
  });

  test('is paid for an answer outside its schema, and again when it judges again', async () => {
    const { id } = await create(way);
    answersAndJudges('I think that it does.');
    const { read, cells, judgeAgain } = await compareWith([
      { kind: 'length', min: 1 },
      { kind: 'judge', judgeId: id },
    ]);
    const { spentByJudges } = (await read()).cost;
    expect(spentByJudges).toBeGreaterThan(0);
    const [cell] = await cells();
    expect(cell).toMatchObject({ passed: true, verdicts: [{ verdict: null }] });
    expect(cell!.checks[1]).toMatchObject({
      pass: null,
      score: null,
      counts: false,
      reason: 'The judge did not answer with JSON (The judge is not calibrated.)',
      runIds: [cell!.verdicts[0]!.runId],
      cost: spentByJudges / 2,
    });
    await judgeAgain();
    expect((await read()).cost.spentByJudges).toBeCloseTo(2 * spentByJudges, 12);
    const capped = await compareWith([{ kind: 'judge', judgeId: id }], {
      rows: 4,
      maxCost: (await read()).cost.spent / 2,
    });
    expect((await capped.read()).state).toBe('Stopped');
  });

  const change = async (id: string, promptText: string) =>
    expect((await callJson(host, way, 'PUT', `/judges/${id}`, { body: { ...input, promptText } })).status).toBe(200);

  test('judges again until its key is rejected, and the verdicts that there were stay', async () => {
    const { id } = await create(way);
    answersAndJudges(verdict('pass'));
    const { read, cells, judgeAgain } = await compareWith([{ kind: 'judge', judgeId: id }], { rows: 4 });
    const before = await cells();
    expect(before.map(({ checks }) => checks[0]!.pass)).toEqual([true, true, true, true]);
    await change(id, `${input.promptText}!`);
    answersAndJudges(null);
    const requested = host.provider.calls.length;
    await judgeAgain();
    expect(host.provider.calls.length - requested).toBe(1);
    expect(await read()).toMatchObject({ state: 'Completed', stopReason: expect.stringMatching(/key/) });
    expect((await cells()).map(({ checks }) => checks)).toEqual(before.map(({ checks }) => checks));
    answersAndJudges(verdict('fail'));
    await judgeAgain();
    expect((await read()).stopReason).toBeNull();
    expect((await cells()).map(({ checks }) => checks[0]!.pass)).toEqual([false, false, false, false]);
  });

  test('is paid once though another one fails when they judge again', async () => {
    const [first, second] = [await create(way), await create(way, { promptText: `Second. ${input.promptText}` })];
    answersAndJudges(verdict('pass'));
    const judges = [first, second].map(({ id }): Check => ({ kind: 'judge', judgeId: id }));
    const { read, judgeAgain } = await compareWith(judges, { rows: 1 });
    const { spentByJudges: before } = (await read()).cost;
    for (const { id } of [first, second]) await change(id, `${id === first.id ? '' : 'Second. '}${input.promptText}!`);
    answerWith((text) => (text.includes('Second') ? null : verdict('pass')));
    await judgeAgain();
    const { cost, stopReason } = await read();
    expect(stopReason).toMatch(/key/);
    expect(cost.spentByJudges).toBeGreaterThan(before);
    const ofFirst = cost.spentByJudges - before;
    answersAndJudges(verdict('pass'));
    await judgeAgain();
    expect(calls).toHaveLength(1);
    expect((await read()).cost.spentByJudges).toBeCloseTo(cost.spentByJudges + ofFirst, 12);
  });

  test('judges again beside one that was deleted, whose verdicts stay', async () => {
    const [id, deletedId] = [(await create(way)).id, (await create(way)).id];
    answersAndJudges(verdict('pass'));
    const checks: Check[] = [
      { kind: 'judge', judgeId: id },
      { kind: 'judge', judgeId: deletedId },
    ];
    const { cells, judgeAgain } = await compareWith(checks);
    const before = await cells();
    expect((await callJson(host, way, 'DELETE', `/judges/${deletedId}`)).status).toBe(204);
    await change(id, `${input.promptText}?`);
    answersAndJudges(verdict('fail'));
    await judgeAgain();
    const after = await cells();
    expect(after.map((cell) => cell.checks[0]!.pass)).toEqual([false, false]);
    expect(after.map((cell) => cell.checks[1])).toEqual(before.map((cell) => cell.checks[1]));
  });
});
