import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  auditFacetCounts,
  auditFacets,
  auditPage,
  auditSummary,
  type AuditFilter,
  type AuditPage,
  type AuditSearch,
  type AuditSummary,
} from '../../shared/contract/audit.ts';
import { recordRun } from '../support/audit-runs.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';

let host: TestHost;
const day = 86_400_000;
const start = Date.UTC(2026, 2, 2);
const [callerId, otherCaller] = [randomUUID(), randomUUID()];
/** One conversation a day, the second with two runs; oldest first. */
const conversations: string[] = Array.from({ length: 6 }, () => randomUUID());

beforeAll(async () => {
  host = await startTestHost();
  for (const [index, conversationId] of conversations.entries()) {
    const run = { conversationId, callerId: index < 4 ? callerId : otherCaller, createdAt: start + index * day };
    const recorded = await recordRun(
      host.host,
      { ...run, model: index % 2 === 0 ? 'gpt-4o' : 'gpt-4o-mini', renderedPrompt: `prompt number n${index} C++` },
      {
        content: `answer a${index} don't "panic"`,
        totalMs: 100 * (index + 1),
        cost: { amount: (6 - index) / 1000, pricesFrom: '2026-11-22' },
        ...(index === 5
          ? { status: 'Failed' as const, error: { code: 'provider_failed', message: 'no' }, usage: null }
          : {}),
      },
    );
    if (index < 2) {
      const feedback = { score: index - 5, scoreTags: 'wrong,tone' };
      host.host.storage.audit.giveFeedback({ conversationId, runId: recorded.runId }, feedback, {
        reviewerId: 'reviewer',
      });
    }
    if (index === 1) await recordRun(host.host, { ...run, createdAt: start + index * day + 1000 }, { totalMs: 5000 });
  }
});
afterAll(() => host.close());

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: never }> {
  const answer = await host.host.api.fetch(
    new Request(`http://127.0.0.1${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    }),
    { access: 'window' },
  );
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as never };
}

async function search(filter: AuditFilter, query: Omit<AuditSearch, 'filter'> = {}): Promise<AuditPage> {
  const { status, body } = await call('POST', '/window/audit/search', { filter, ...query });
  expect([status, auditPage.safeParse(body).error]).toEqual([200, undefined]);
  return body;
}

/** Numbers of the conversations found, in the order of the list. */
async function found(filter: AuditFilter, query: Omit<AuditSearch, 'filter'> = {}): Promise<number[]> {
  const { rows } = await search(filter, query);
  return rows.map(({ conversationId }) => conversations.indexOf(conversationId));
}

test('a row has the fields of the list, with the newest matching run and the number of matches', async () => {
  const page = await search({ conversationId: conversations[1], totalMs: { min: 300 } });
  expect(page).toEqual({
    rows: [
      {
        conversationId: conversations[1],
        name: 'prompt number n1 C++',
        callerId,
        workspaceId: null,
        updatedAt: new Date(start + day + 1000).toISOString(),
        isSample: false,
        runs: 2,
        turns: 2,
        matchedRunIds: [expect.any(String)],
        run: {
          runId: page.rows[0]?.matchedRunIds[0],
          createdAt: new Date(start + day + 1000).toISOString(),
          status: 'Completed',
          aiSystem: 'OpenAi',
          model: 'gpt-4o',
          servedBy: 'OpenAi/gpt-4o',
          origin: { api: 'completions', client: null },
          title: 'Translate good morning',
          excerpt: expect.stringContaining('Bonjour'),
          totalMs: 5000,
          firstTokenMs: 120.5,
          usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
          cost: 0.000125,
          finishReason: 'Stop',
          httpStatus: null,
          errorCode: null,
          feedback: null,
        },
      },
    ],
    offset: 0,
    total: 1,
    isTotalExact: true,
    snapshot: expect.any(String),
  });
});

test('the list is sorted by time, latency, cost and score', async () => {
  expect({
    newest: await found({}),
    oldest: await found({}, { sort: 'oldest' }),
    slowest: await found({}, { sort: 'slowest' }),
    dearest: await found({}, { sort: 'dearest' }),
    lowestScore: (await found({}, { sort: 'lowest-score' })).slice(0, 2),
    slowestOfFew: await found({ models: ['gpt-4o-mini'] }, { sort: 'slowest' }),
  }).toEqual({
    newest: [5, 4, 3, 2, 1, 0],
    oldest: [0, 1, 2, 3, 4, 5],
    slowest: [1, 5, 4, 3, 2, 0],
    dearest: [0, 1, 2, 3, 4, 5],
    lowestScore: [0, 1],
    slowestOfFew: [5, 3, 1],
  });
});

test('finds any position of the list: by offset, by time, around a conversation', async () => {
  const at = new Date(start + 3 * day + 5).toISOString();
  expect({
    offset: await found({}, { offset: 2, limit: 2 }),
    beyond: await found({}, { offset: 50 }),
    at: await found({}, { at, limit: 2 }),
    atFromOldest: await found({}, { at, limit: 2, sort: 'oldest' }),
    around: await found({}, { around: conversations[1]!, limit: 3 }),
    aroundOffset: (await search({}, { around: conversations[1]!, limit: 3 })).offset,
    aroundUnknown: await found({}, { around: randomUUID(), limit: 1 }),
  }).toEqual({
    offset: [3, 2],
    beyond: [],
    at: [3, 2],
    atFromOldest: [4, 5],
    around: [2, 1, 0],
    aroundOffset: 3,
    aroundUnknown: [5],
  });
});

test('supports more filters than the public query', async () => {
  expect({
    models: await found({ models: ['gpt-4o-mini'] }),
    callers: await found({ callerIds: [otherCaller, randomUUID()] }),
    status: await found({ statuses: ['Failed', 'Cancelled'] }),
    errorCode: await found({ errorCodes: ['provider_failed'] }),
    hasFeedback: await found({ hasFeedback: true }),
    noFeedback: await found({ hasFeedback: false, totalMs: { max: 450 } }),
    score: await found({ score: { min: -5, max: -5 } }),
    tags: await found({ tags: ['tone', 'wrong'], models: ['gpt-4o'] }),
    latency: await found({ totalMs: { min: 200, max: 300 } }),
    cost: await found({ cost: { min: 0.0055 } }),
    tokens: await found({ totalTokens: { min: 15 } }),
  }).toEqual({
    models: [5, 3, 1],
    callers: [5, 4],
    status: [5],
    errorCode: [5],
    hasFeedback: [1, 0],
    noFeedback: [3, 2],
    score: [0],
    tags: [0],
    latency: [2, 1],
    cost: [0],
    tokens: [],
  });
});

test('searches text with operators, and as plain words if the syntax is invalid', async () => {
  const texts: Record<string, number[]> = {
    'n3 OR a4': [4, 3],
    'number NOT (n0 OR n1 OR n2)': [5, 4, 3],
    '"answer a2"': [2],
    'ANSWER a*': [5, 4, 3, 2, 1, 0],
    "n3 don't": [3],
    'C++ n2': [2],
    'n1 AND': [],
    '"n2': [2],
    'nonsense: n2': [],
    'n2 (': [2],
    'a-b^"*': [],
    '***': [],
    '   ': [5, 4, 3, 2, 1, 0],
    'prompt : n2': [2],
  };
  const results = await Promise.all(Object.keys(texts).map(async (text) => [text, await found({ text })]));
  expect(Object.fromEntries(results)).toEqual(texts);
  expect([await found({ text: 'n2', textIn: 'answer' }), await found({ text: 'n2', textIn: 'prompt' })]).toEqual([
    [],
    [2],
  ]);
});

test('a snapshot keeps the list unchanged while runs arrive, and is invalid for another list', async () => {
  const filter: AuditFilter = { callerId: randomUUID() };
  const caller = filter.callerId!;
  for (let index = 0; index < 3; index += 1) await recordRun(host.host, { callerId: caller, createdAt: start - index });
  const { snapshot } = await search(filter);
  await recordRun(host.host, { callerId: caller, createdAt: start + 1 });
  expect([(await search(filter, { snapshot })).total, (await search(filter)).total]).toEqual([3, 4]);
  const statusOf = async (body: unknown) => (await call('POST', '/window/audit/search', body)).status;
  expect([
    await statusOf({ filter: {}, snapshot }),
    await statusOf({ filter, sort: 'oldest', snapshot }),
    await statusOf({ filter, snapshot: 'forged' }),
    await statusOf({ filter: { totalMs: { min: 5, max: 4 } } }),
    await statusOf({ filter, limit: 201 }),
    await statusOf({}),
  ]).toEqual([400, 400, 400, 400, 400, 400]);
});

test('statistics follow the filter', async () => {
  const { status, body } = await call('POST', '/window/audit/summary', {
    filter: { callerIds: [callerId, otherCaller] },
    bucketSize: 'week',
  });
  expect([status, auditSummary.safeParse(body).error]).toEqual([200, undefined]);
  const summary: AuditSummary = body;
  expect(summary).toMatchObject({
    runs: 7,
    conversations: 6,
    promptTokens: 66,
    completionTokens: 18,
    totalTokens: 84,
    statuses: [
      { status: 'Completed', runs: 6 },
      { status: 'Failed', runs: 1 },
    ],
    models: [{ runs: 4 }, { runs: 3 }],
    latency: { max: 5000 },
    feedback: {
      count: 2,
      averageScore: -4.5,
      scores: [
        { score: -5, runs: 1 },
        { score: -4, runs: 1 },
      ],
    },
    bucketSize: 'week',
    buckets: [{ start: '2026-03-02T00:00:00.000Z', runs: 7, failed: 1 }],
  });
  expect(summary.cost).toBeCloseTo(0.021125, 9);
  expect([summary.runsWithoutCost, summary.buckets[0]!.runsWithoutCost]).toEqual([0, 0]);
  expect(Math.abs(summary.latency!.p50 / 400 - 1)).toBeLessThan(0.011);
  const empty = await call('POST', '/window/audit/summary', { filter: { callerId: randomUUID() } });
  expect(empty.body).toMatchObject({ runs: 0, conversations: 0, latency: null, buckets: [] });
});

test('figures count the runs whose cost is unknown', async () => {
  const caller = randomUUID();
  const known = { amount: 0.5, pricesFrom: '2026-03-01' };
  for (const [index, cost] of [known, null, null].entries())
    await recordRun(host.host, { callerId: caller, createdAt: start + Math.min(index, 1) * day }, { cost });
  const { body } = await call('POST', '/window/audit/summary', { filter: { callerId: caller }, bucketSize: 'day' });
  expect(body).toMatchObject({
    cost: 0.5,
    runsWithoutCost: 2,
    buckets: [
      { runs: 1, cost: 0.5, runsWithoutCost: 0 },
      { runs: 2, cost: 0, runsWithoutCost: 2 },
    ],
  });
});

test('facets list existing values, with the names of callers and a mark for the window', async () => {
  const key = host.host.storage.apiKeys.issue({ name: 'Nightly job' });
  await recordRun(host.host, { callerId: key.callerId, appHeaders: { job: '17' } });
  const { body } = await call('GET', '/window/audit/facets');
  const facets = auditFacets.parse(body);
  expect(facets).toMatchObject({
    errorCodes: [{ errorCode: 'provider_failed', runs: 1 }],
    tags: [
      { tag: 'wrong', runs: 2 },
      { tag: 'tone', runs: 2 },
    ],
    appHeaders: [{ name: 'job', values: [{ value: '17', runs: 1 }] }],
  });
  expect(facets.callers).toContainEqual({ callerId: key.callerId, name: 'Nightly job', runs: 1 });
  expect(facets.windowCallerId).toBe(host.host.storage.windowCallerId);
  expect(facets.models.map(({ model }) => model).toSorted()).toEqual(['gpt-4o', 'gpt-4o-mini']);
});

test("counts the runs of each value under the filter's other fields, and tags under all of it", async () => {
  const counts = async (filter: AuditFilter) => {
    const { body } = await call('POST', '/window/audit/facets', {
      filter: { conversationId: conversations[1], ...filter },
    });
    const { models, aiSystems, callers, statuses, tags } = auditFacetCounts.parse(body);
    return { models: models.map(({ model, runs }) => [model, runs]), aiSystems, callers, statuses, tags };
  };
  const whole = {
    models: [
      ['gpt-4o', 1],
      ['gpt-4o-mini', 1],
    ],
    aiSystems: [{ aiSystem: 'OpenAi', runs: 2 }],
    callers: [{ callerId, runs: 2 }],
    statuses: [{ status: 'Completed', runs: 2 }],
    tags: [
      { tag: 'wrong', runs: 1 },
      { tag: 'tone', runs: 1 },
    ],
  };
  expect(await counts({})).toEqual(whole);
  // Its own condition never takes a field's values away: they are what could be chosen instead.
  const none = { models: [], aiSystems: [], callers: [], statuses: [], tags: [] };
  expect(await counts({ models: ['gpt-5'] })).toEqual({ ...none, models: whole.models });
  expect(await counts({ statuses: ['Failed'] })).toEqual({ ...none, statuses: whole.statuses });
  expect(await counts({ callerIds: [otherCaller] })).toEqual({ ...none, callers: whole.callers });
  expect(await counts({ models: ['gpt-5'], statuses: ['Failed'] })).toEqual(none);
  const tagged = {
    models: [['gpt-4o-mini', 1]],
    aiSystems: [{ aiSystem: 'OpenAi', runs: 1 }],
    callers: [{ callerId, runs: 1 }],
    statuses: [{ status: 'Completed', runs: 1 }],
    tags: whole.tags,
  };
  expect(await counts({ tags: ['tone'] })).toEqual(tagged);
  expect(await counts({ text: 'n1' })).toEqual(tagged);
});

test('views are saved, listed by name, changed and deleted', async () => {
  const view = { name: ' Slow ones ', filter: { totalMs: { min: 1000 }, text: 'n1' }, sort: 'slowest' };
  const created = await call('POST', '/window/audit/views', view);
  const { id } = created.body as { id: string };
  expect([created.status, created.body]).toMatchObject([201, { ...view, name: 'Slow ones' }]);
  await call('POST', '/window/audit/views', { ...view, name: 'All', filter: {} });
  const changed = await call('PATCH', `/window/audit/views/${id}`, { name: 'Slower', sort: 'newest' });
  expect([changed.status, changed.body]).toMatchObject([
    200,
    { id, name: 'Slower', sort: 'newest', filter: view.filter },
  ]);
  const { data } = (await call('GET', '/window/audit/views')).body as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).toEqual(['All', 'Slower']);
  const statuses = [
    (await call('DELETE', `/window/audit/views/${id}`)).status,
    (await call('DELETE', `/window/audit/views/${id}`)).status,
    (await call('PATCH', `/window/audit/views/${id}`, { name: 'x' })).status,
    (await call('POST', '/window/audit/views', { ...view, name: ' ' })).status,
    (await call('POST', '/window/audit/views', { ...view, filter: { colour: 'red' } })).status,
  ];
  expect(statuses).toEqual([204, 404, 404, 400, 400]);
});

test('a view keeps its relative span until it gets another one', async () => {
  const made = await call('POST', '/window/audit/views', {
    name: 'This week',
    filter: {},
    sort: 'newest',
    span: 'last-7-days',
  });
  const { id } = made.body as { id: string };
  const change = async (body: object) => {
    const answer = await call('PATCH', `/window/audit/views/${id}`, body);
    return (answer.body as { span?: unknown }).span;
  };
  expect([
    (made.body as { span: unknown }).span,
    await change({ name: 'Seven days' }),
    await change({ span: 'this-month' }),
    await change({ span: null }),
    (await call('PATCH', `/window/audit/views/${id}`, { span: 'last-9-days' })).status,
  ]).toEqual(['last-7-days', 'last-7-days', 'this-month', null, 400]);
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
