import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditReport, type AuditReport } from '../../shared/contract/audit.ts';
import type { FeedbackEntry } from '../../shared/contract/conversations.ts';
import { askAudit, recordRun } from '../support/audit-runs.ts';
import { completionCall, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

async function ask(way: Way, body: Record<string, unknown>): Promise<AuditReport> {
  const answer = await askAudit(host, way, body);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return JSON.parse(answer.text) as AuditReport;
}

async function idsOf(way: Way, body: Record<string, unknown>): Promise<string[]> {
  return (await ask(way, body)).conversations.map(({ id }) => id);
}

async function call(
  way: Way,
  method: string,
  path: string,
  { key = host.key, body }: { key?: string; body?: unknown } = {},
) {
  const answer = await host.send(way, {
    method,
    path,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: answer.text === '' ? null : JSON.parse(answer.text) };
}

describe.each(ways)('%s', (way) => {
  test("a completion appears immediately, complete and in the contract's format", async () => {
    host.provider.answerWith((scripted) =>
      scripted.chatAnswer({
        content: 'Hello there',
        usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
        finishReason: 'stop',
      }),
    );
    const conversationId = randomUUID();
    const workspaceId = randomUUID();
    const sent = {
      promptText: 'Say hello to {{name}}',
      systemMessage: 'Be kind.',
      replacements: { name: 'Ada' },
      configuration: { temperature: 0.5 },
      metadata: { conversationId, workspaceId, ticket: 7 },
    };
    const completion = JSON.parse(
      (await host.send(way, completionCall(host, '/api/completions/sync', sent, { 'x-app-Team': 'red' }))).text,
    );
    const report = await ask(way, { conversationId: conversationId.toUpperCase(), includeFeedback: true });
    expect(auditReport.parse(report)).toEqual(report);
    expect(report).toEqual({
      conversations: [
        {
          id: conversationId,
          name: 'Say hello to Ada',
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
          workspaceId,
          callerId: expect.any(String),
          runs: [
            {
              conversationRunId: completion.runId,
              promptRunId: null,
              promptId: null,
              promptVersionId: null,
              agentId: null,
              messageId: completion.messageId,
              status: 'Completed',
              aiSystem: 'OpenAiCompatible',
              model: 'scripted/model',
              servedBy: 'OpenAiCompatible/scripted/model',
              origin: { api: 'completions', client: null },
              input: {
                promptText: sent.promptText,
                systemMessage: sent.systemMessage,
                replacements: sent.replacements,
                renderedPrompt: 'Say hello to Ada',
                messages: [{ role: 'user', content: [{ type: 'text', text: 'Say hello to Ada' }] }],
                configuration: sent.configuration,
                dataspaceIds: null,
              },
              output: { content: 'Hello there', reasoning: null, finishReason: 'Stop', error: null },
              usage: completion.usage,
              cost: null,
              timing: { firstTokenMs: expect.any(Number), totalMs: expect.any(Number) },
              createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
              completedAt: expect.stringMatching(/Z$/),
              appHeaders: { team: 'red' },
              metadata: sent.metadata,
              citations: [],
              warnings: [],
              feedback: null,
              matched: true,
            },
          ],
        },
      ],
      continuationToken: null,
    });
    expect((await ask(way, { workspaceId })).conversations[0]?.runs[0]).not.toHaveProperty('feedback');
  });

  test('an active run appears as Running', async () => {
    const callerId = randomUUID();
    const run = { callerId, conversationId: randomUUID(), runId: randomUUID() };
    const { sampleRun } = await import('../unit/storage/sample-run.ts');
    host.host.storage.runs.begin(sampleRun(run));
    const [conversation] = (await ask(way, { callerId })).conversations;
    expect(conversation?.runs).toMatchObject([{ status: 'Running', completedAt: null, usage: null }]);
  });

  test('a run has its cost, by the prices of its token classes or those of an earlier version', async () => {
    const usage = { prompt_tokens: 2_000_000, completion_tokens: 1_000_000, total_tokens: 3_000_000 };
    const raw = { ...usage, prompt_tokens_details: { cached_tokens: 1_500_000 } };
    host.provider.answerWith((scripted) => scripted.chatAnswer({ content: 'Dear', usage: raw }));
    const price = { model: 'scripted/model', inputPrice: 2, outputPrice: 3 };
    host.host.storage.settings.update({ endpointPrices: [price] });
    const conversationId = randomUUID();
    await host.send(way, completionCall(host, '/api/completions/sync', { metadata: { conversationId } }));
    host.host.storage.settings.update({ endpointPrices: [] });
    const [conversation] = (await ask(way, { conversationId })).conversations;
    const pricesFrom = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);
    expect(conversation?.runs).toMatchObject([
      {
        usage: { ...usage, details: { cached_tokens: 1_500_000, cache_write_tokens: null, reasoning_tokens: null } },
        cost: { amount: 7, currency: 'USD', pricesFrom },
      },
    ]);
  });

  test('all filters must match the same run; `matched` marks it, and the other runs are included', async () => {
    const callerId = randomUUID();
    const conversationId = randomUUID();
    const promptId = randomUUID();
    const promptVersionId = randomUUID();
    const first = await recordRun(host.host, { callerId, conversationId, promptId, appHeaders: { team: 'red' } });
    const second = await recordRun(host.host, {
      callerId,
      conversationId,
      promptVersionId,
      appHeaders: { team: 'blue' },
    });
    const matched = async (body: Record<string, unknown>) =>
      (await ask(way, { callerId, ...body })).conversations.map(({ runs }) => runs.map((run) => run.matched));
    expect({
      promptId: await matched({ promptId }),
      version: await matched({ promptVersionId }),
      both: await matched({ promptId, promptVersionId }),
      header: await matched({ appHeaders: { TEAM: 'blue' } }),
      valueCase: await matched({ appHeaders: { team: 'Blue' } }),
      absent: await matched({ appHeaders: { team: null } }),
      absentAndPrompt: await matched({ appHeaders: { colour: null }, promptId }),
      run: await matched({ conversationRunId: second.runId }),
      promptRun: await matched({ promptRunId: first.runId }),
      noPromptRun: await matched({ promptRunId: second.runId }),
      nulls: await matched({ promptId: null, startDate: null, appHeaders: null, continuationToken: null }),
    }).toEqual({
      promptId: [[true, false]],
      version: [[false, true]],
      both: [],
      header: [[false, true]],
      valueCase: [],
      absent: [],
      absentAndPrompt: [[true, false]],
      run: [[false, true]],
      promptRun: [[true, false]],
      noPromptRun: [],
      nulls: [[true, true]],
    });
  });

  test('dates limit the time of a run, both ends included, in any zone', async () => {
    const callerId = randomUUID();
    const createdAt = Date.UTC(2026, 4, 1, 12, 0, 0, 500);
    await recordRun(host.host, { callerId, createdAt });
    const isFound = async (body: Record<string, unknown>) => (await idsOf(way, { callerId, ...body })).length === 1;
    expect([
      await isFound({ startDate: '2026-05-01T12:00:00.500Z', endDate: '2026-05-01T12:00:00.500Z' }),
      await isFound({ startDate: '2026-05-01T14:00:00.5+02:00' }),
      await isFound({ startDate: '2026-05-01T12:00:00.5001Z' }),
      await isFound({ startDate: '2026-05-01T12:00:00.501Z' }),
      await isFound({ endDate: '2026-05-01T12:00:00.499Z' }),
      await isFound({ endDate: '2026-05-01T12:00:00.5009Z' }),
    ]).toEqual([true, true, false, false, false, true]);
  });

  test('sorts by the newest run, ties by descending id, twenty per page by default', async () => {
    const callerId = randomUUID();
    const ids = Array.from({ length: 25 }, () => randomUUID());
    const createdAt = Date.UTC(2026, 6, 1);
    for (const conversationId of ids) await recordRun(host.host, { callerId, conversationId, createdAt });
    await recordRun(host.host, { callerId, conversationId: ids[7]!, createdAt: createdAt + 1 });
    const expected = [
      ids[7]!,
      ...ids
        .filter((id) => id !== ids[7])
        .toSorted()
        .toReversed(),
    ];
    const page = await ask(way, { callerId });
    const rest = await ask(way, { callerId, continuationToken: page.continuationToken, pageSize: 3 });
    expect(page.conversations.map(({ id }) => id)).toEqual(expected.slice(0, 20));
    expect(rest.conversations.map(({ id }) => id)).toEqual(expected.slice(20, 23));
    const end = await ask(way, { callerId, continuationToken: rest.continuationToken, pageSize: 2 });
    expect([end.conversations.map(({ id }) => id), end.continuationToken]).toEqual([expected.slice(23), null]);
  });

  test('all pages show the runs that existed at the first one', async () => {
    const callerId = randomUUID();
    const ids = Array.from({ length: 4 }, () => randomUUID());
    for (const [index, conversationId] of ids.entries()) {
      await recordRun(host.host, { callerId, conversationId, createdAt: Date.UTC(2026, 7, 1, index) });
    }
    const seen: string[] = [];
    let continuationToken: string | null = null;
    do {
      const page: AuditReport = await ask(way, { callerId, pageSize: 1, continuationToken });
      seen.push(...page.conversations.map(({ id, runs }) => `${id} ${runs.length}`));
      continuationToken = page.continuationToken;
      const later = Date.UTC(2026, 8, 1);
      await recordRun(host.host, { callerId, conversationId: ids[0]!, createdAt: later });
      await recordRun(host.host, { callerId, createdAt: later });
    } while (continuationToken !== null);
    expect(seen).toEqual(ids.toReversed().map((id) => `${id} 1`));
    expect(await idsOf(way, { callerId })).toHaveLength(8);
  });

  test('stores, replaces and finds feedback, and returns it on request', async () => {
    const { conversationId, runId, callerId } = await recordRun(host.host, { callerId: randomUUID() });
    const path = `/conversations/${conversationId}/runs/${runId}/feedback`;
    const first = await call(way, 'PUT', path, {
      body: { score: -10, scoreText: 'Ganz FALSCH', scoreTags: 'wrong, unsafe' },
    });
    expect(first).toEqual({
      status: 200,
      body: {
        score: -10,
        scoreText: 'Ganz FALSCH',
        scoreTags: 'wrong, unsafe',
        updatedAt: expect.stringMatching(/Z$/),
      },
    });
    const isFound = async (feedback: unknown) => (await idsOf(way, { callerId, feedback })).length === 1;
    expect([
      await isFound({ score: -10 }),
      await isFound({ score: 10 }),
      await isFound({ scoreText: 'ganz falsch' }),
      await isFound({ scoreText: 'richtig' }),
      await isFound({ scoreTags: 'unsafe,wrong' }),
      await isFound({ scoreTags: 'unsafe,good' }),
      await isFound({ score: null, scoreText: null, scoreTags: null }),
    ]).toEqual([true, false, true, false, true, false, true]);
    await call(way, 'PUT', path, { body: { score: 3 } });
    const [conversation] = (await ask(way, { callerId, includeFeedback: true })).conversations;
    expect(conversation?.runs[0]?.feedback).toMatchObject({ score: 3, scoreText: null, scoreTags: null });
    expect([await isFound({ score: -10 }), await isFound({ score: 3 })]).toEqual([false, true]);
  });

  test('keeps all feedback on a run with its reviewers, newest first', async () => {
    const { conversationId, runId } = await recordRun(host.host);
    const path = `/conversations/${conversationId}/runs/${runId}/feedback`;
    const other = host.host.storage.apiKeys.issue({ name: 'Second reader', scopes: ['audit'] });
    const history = async () => (await call(way, 'GET', path)).body as FeedbackEntry[];
    expect(await history()).toEqual([]);
    const first = { score: -4, scoreText: 'Too long', scoreTags: 'wrong' };
    await call(way, 'PUT', path, { body: first });
    // A client that repeats a request says nothing new.
    await call(way, 'PUT', path, { body: first });
    await call(way, 'PUT', path, { body: first, key: other.key });
    await call(way, 'PUT', path, { body: {}, key: other.key });
    host.host.storage.apiKeys.revoke(other.id);
    const entries = await history();
    expect(entries.map(({ reviewer, value, note }) => [reviewer, value, note])).toEqual([
      ['Second reader', { score: null, scoreTags: null }, null],
      ['Second reader', { score: -4, scoreTags: 'wrong' }, 'Too long'],
      [expect.any(String), { score: -4, scoreTags: 'wrong' }, 'Too long'],
    ]);
    expect(entries.map(({ replaces }) => replaces)).toEqual([entries[1]!.id, entries[2]!.id, null]);
    const missing = `/conversations/${randomUUID()}/runs/${runId}/feedback`;
    expect([
      (await call(way, 'GET', missing)).status,
      (await call(way, 'GET', path, { key: host.issueKey({ scopes: ['run', 'manage'] }) })).status,
    ]).toEqual([404, 403]);
  });

  test('rejects invalid feedback', async () => {
    const { conversationId, runId } = await recordRun(host.host);
    const path = `/conversations/${conversationId}/runs/${runId}/feedback`;
    const statusOf = async (body: unknown, address = path, key = host.key) =>
      (await call(way, 'PUT', address, { body, key })).status;
    expect([
      await statusOf({ score: 11 }),
      await statusOf({ score: -11 }),
      await statusOf({ score: 0.5 }),
      await statusOf({ stars: 5 }),
      await statusOf({ score: 5 }, `/conversations/${randomUUID()}/runs/${runId}/feedback`),
      await statusOf({ score: 5 }, `/conversations/${conversationId}/runs/${randomUUID()}/feedback`),
      await statusOf({ score: 5 }, `/conversations/x/runs/${runId}/feedback`),
      await statusOf({ score: 5 }, path, host.issueKey({ scopes: ['run'] })),
      (await call(way, 'POST', path, { body: {} })).status,
    ]).toEqual([400, 400, 400, 400, 404, 404, 400, 403, 405]);
  });

  test("lists and reads conversations; without the scope `audit` only the caller's own", async () => {
    const { key, callerId } = host.host.storage.apiKeys.issue({ name: 'a program', scopes: ['run'] });
    const own = await recordRun(host.host, { callerId });
    await recordRun(host.host, { callerId, createdAt: own.createdAt + 1 });
    const foreign = await recordRun(host.host);
    const page = await call(way, 'GET', '/conversations?pageSize=1', { key });
    const rest = await call(way, 'GET', `/conversations?continuationToken=${page.body.continuationToken}`, { key });
    expect([page.body.data.length, rest.body]).toEqual([
      1,
      {
        data: [
          {
            id: own.conversationId,
            name: 'Translate good morning',
            createdAt: expect.any(String),
            updatedAt: expect.any(String),
            workspaceId: null,
            callerId,
          },
        ],
        continuationToken: null,
      },
    ]);
    const read = await call(way, 'GET', `/conversations/${own.conversationId}`, { key });
    expect([read.status, read.body.runs.length, 'feedback' in read.body.runs[0]]).toEqual([200, 1, false]);
    const audited = await call(way, 'GET', `/conversations/${own.conversationId.toUpperCase()}`);
    expect(audited.body.runs[0].feedback).toBeNull();
    const statusOf = async (path: string, as = key) => (await call(way, 'GET', path, { key: as })).status;
    expect([
      await statusOf(`/conversations/${foreign.conversationId}`),
      await statusOf(`/conversations/${randomUUID()}`),
      await statusOf('/conversations/x'),
      await statusOf('/conversations?continuationToken='),
      await statusOf('/conversations?pageSize=101'),
      await statusOf(`/conversations?continuationToken=${page.body.continuationToken}`, host.key),
      await statusOf('/conversations', host.issueKey({ scopes: ['manage'] })),
      await statusOf('/conversations', host.issueKey({ scopes: ['audit'] })),
    ]).toEqual([403, 404, 400, 400, 400, 400, 403, 200]);
  });

  test('a workspace that is set later applies to all runs of the conversation', async () => {
    const { conversationId, callerId } = await recordRun(host.host, { callerId: randomUUID() });
    const workspaceId = randomUUID();
    expect(await idsOf(way, { callerId, workspaceId })).toEqual([]);
    host.host.storage.runs.joinConversation({ conversationId, workspaceId, callerId, name: '' });
    await recordRun(host.host, { conversationId, callerId, workspaceId });
    const [conversation] = (await ask(way, { callerId, workspaceId })).conversations;
    expect(conversation?.runs.map(({ matched }) => matched)).toEqual([true, true]);
  });
});

test('reports none of this as a failure of the service', () => {
  expect(host.log).toEqual([]);
});
