import { Parser } from 'htmlparser2';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ComparedRow, ComparisonCell } from '../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import { threat } from '../support/guarded-host.ts';
import { callJson, jsonRequest, rejectionOf, walk } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const [memory] = ways;
const columns = [
  { name: 'ticket', type: 'text' },
  { name: 'answer', type: 'expected' },
];
const rows = [
  { ticket: 'late', answer: 'A: late' },
  { ticket: 'broken', answer: 'A: broken' },
  { ticket: 'lost', answer: 'none' },
];
const provider = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
const variant = (name: string) => ({ name, prompt: { promptText: `${name}: {{ticket}}` }, ...provider });
const checks = [{ kind: 'equals', column: 'answer' }];

async function createDataset(change: Record<string, unknown> = {}): Promise<string> {
  const { body } = await callJson(host, memory, 'POST', '/datasets', { body: { name: 'T', columns, rows, ...change } });
  return body.id;
}

async function create(way: Way, change: Record<string, unknown> = {}): Promise<Comparison> {
  const datasetId = await createDataset();
  const body = { name: 'A or B', datasetId, variants: [variant('A'), variant('B')], ...change };
  const answer = await callJson(host, way, 'POST', '/comparisons', { body });
  expect([answer.status, answer.body]).toEqual([201, expect.any(Object)]);
  return answer.body;
}

const act = (way: Way, id: string, action: string, body?: unknown, key = host.key) =>
  callJson(host, way, 'POST', `/comparisons/${id}/${action}`, { key, ...(body === undefined ? {} : { body }) });
const read = async (way: Way, id: string) =>
  (await callJson(host, way, 'GET', `/comparisons/${id}`)).body as Comparison;
const cellsOf = async (way: Way, id: string, query = '') =>
  (await callJson(host, way, 'GET', `/comparisons/${id}/cells${query}`)).body.data as ComparisonCell[];

async function ended(way: Way, id: string): Promise<Comparison> {
  for (;;) {
    const comparison = await read(way, id);
    if (comparison.state !== 'Running') return comparison;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function run(way: Way, id: string): Promise<Comparison> {
  expect((await act(way, id, 'start')).status).toBe(202);
  return ended(way, id);
}

const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[]).at(-1)!.content;
const echo = (call: ScriptedCall) => void call.chatStream([promptOf(call)]);

async function readRows(id: string, query: string) {
  const request = new Request(`http://window.test/window/comparisons/${id}/rows?${query}`);
  const response = await host.host.api.fetch(request, { access: 'window' });
  return (await response.json()) as { data: ComparedRow[]; total: number; counts: unknown };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

beforeEach(() => host.provider.answerWith(echo));

describe.each(ways)('%s: comparisons', (way) => {
  test('variants run over every row, and each cell is a run', async () => {
    const created = await create(way, { repeats: 2, checks });
    expect(created).toMatchObject({
      state: 'Ready',
      baseline: 'A',
      rowCount: 3,
      datasetVersion: 1,
      repeats: 2,
      cells: { total: 12, waiting: 12, completed: 0 },
      cost: { spent: 0, estimate: null },
      startedAt: null,
    });
    const before = host.provider.calls.length;
    const done = await run(way, created.id);
    expect(done).toMatchObject({
      state: 'Completed',
      stopReason: null,
      cells: { total: 12, completed: 12, waiting: 0 },
    });
    expect(host.provider.calls.length - before).toBe(12);
    const cells = await cellsOf(way, created.id);
    expect(cells.map((cell) => [cell.variant, cell.repeat, cell.answer, cell.passed])).toEqual(
      rows.flatMap(({ ticket }) =>
        ['A', 'B'].flatMap((name) =>
          [1, 2].map((repeat) => [name, repeat, `${name}: ${ticket}`, name === 'A' && ticket !== 'lost']),
        ),
      ),
    );
    const page = await callJson(host, way, 'GET', `/comparisons/${created.id}/cells?variant=B&offset=4&limit=1`);
    expect(page.body).toMatchObject({ offset: 4, total: 6, data: [{ variant: 'B', repeat: 1, answer: 'B: lost' }] });
    const [cell] = cells;
    const stored = host.host.storage.runs.read(cell!.runId!)!;
    expect([stored.status, stored.input.renderedPrompt, stored.metadata]).toEqual([
      'Completed',
      'A: late',
      { comparisonId: created.id, rowId: cell!.rowId, variant: 'A', repeat: 1 },
    ]);
    expect(cell!.checks).toEqual([{ kind: 'equals', name: null, pass: true, score: 1, reason: expect.any(String) }]);
    const report = (await callJson(host, way, 'GET', `/comparisons/${created.id}/report`)).body;
    expect([report.isFinal, report.baseline]).toEqual([true, 'A']);
    expect(report.variants).toMatchObject([
      { name: 'A', passRate: 2 / 3, rows: 3, difference: null, latency: { p50: expect.any(Number) } },
      {
        name: 'B',
        passRate: 0,
        rows: 3,
        difference: { estimate: -2 / 3, sentence: expect.stringContaining('3 rows') },
      },
    ]);
    expect((await walk(host, way, '/comparisons', 1)).map(({ id }) => id)).toContain(created.id);
    expect((await callJson(host, way, 'DELETE', `/datasets/${created.datasetId}`)).status).toBe(409);
    expect((await callJson(host, way, 'DELETE', `/comparisons/${created.id}`)).status).toBe(204);
    expect((await act(way, created.id, 'start')).status).toBe(404);
    expect((await callJson(host, way, 'DELETE', `/datasets/${created.datasetId}`)).status).toBe(204);
  });

  test('an estimate has ranges for each variant and judge, from earlier runs of the version and model', async () => {
    const priced = { aiSystem: 'Groq', model: 'openai/gpt-oss-20b' };
    const judge = { name: 'Kind', promptText: '{{answer}} kind?', ...priced, verdict: { kind: 'passOrFail' } };
    const judgeId = (await callJson(host, way, 'POST', '/judges', { body: judge })).body.id;
    const prompt = { name: `Tickets ${way}`, promptText: 'Version: {{ticket}}', ...priced };
    const stored = (await callJson(host, way, 'POST', '/prompts', { body: prompt })).body;
    const datasetId = await createDataset();
    const body = {
      datasetId,
      repeats: 2,
      concurrency: 2,
      variants: [
        { name: 'stored', promptVersionId: stored.latestVersionId },
        { name: 'inline', prompt: { promptText: 'Inline: {{ticket}}' }, ...priced, configuration: { max_tokens: 50 } },
      ],
      checks: [{ kind: 'all', checks: [{ kind: 'judge', judgeId }] }],
    };
    const estimate = async () => (await callJson(host, way, 'POST', '/comparisons/estimate', { body })).body;
    const guessed = await estimate();
    expect(guessed).toMatchObject({
      runs: 12,
      judgeRuns: 12,
      sampledRows: 3,
      variants: [
        { name: 'stored', runs: 6, earlierRuns: 0 },
        { name: 'inline', runs: 6, earlierRuns: 0 },
      ],
      judges: [{ judgeId, name: 'Kind', runs: 12, earlierRuns: 0 }],
      basis: 'From the length of the first 3 rows. The length of the answers is a guess.',
      detectable: expect.stringContaining('3 rows'),
    });
    expect(guessed.variants[0].cost.high).toBeGreaterThan(guessed.variants[1].cost.high);
    const parts = [...guessed.variants, ...guessed.judges];
    expect(guessed.cost.low).toBeCloseTo(
      parts.reduce((sum, { cost }) => sum + cost.low, 0),
      10,
    );
    expect(guessed.tokens.high).toBe(parts.reduce((sum, { tokens }) => sum + tokens.high, 0));

    const usage = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 };
    host.provider.answerWith((call) => call.chatAnswer({ content: 'Yes', usage }));
    for (const ticket of ['late', 'broken', 'lost', 'late', 'broken']) {
      const sent = { promptText: prompt.promptText, ...priced, replacements: { ticket } };
      const metadata = { promptVersionId: stored.latestVersionId };
      expect((await callJson(host, way, 'POST', '/api/completions/sync', { body: { ...sent, metadata } })).status).toBe(
        200,
      );
    }
    const known = await estimate();
    expect(known.variants[0]).toMatchObject({ earlierRuns: 5, tokens: { low: expect.any(Number) } });
    expect(known.variants[0].tokens.high).toBeLessThan(6 * 60);
    expect(known.seconds.high).toBeGreaterThanOrEqual(known.seconds.low);
    expect(known.basis).toBe(
      'From 5 earlier runs and the length of the first 3 rows. The length of the answers of inline, Kind is a guess.',
    );
    const created = (await callJson(host, way, 'POST', '/comparisons', { body: { ...body, name: 'A' } })).body;
    expect(created.cost.estimate).toEqual(known.cost);
    const wrong = { ...body, variables: { ticket: 'unknown' } };
    const rejected = rejectionOf(await callJson(host, way, 'POST', '/comparisons/estimate', { body: wrong }));
    expect(JSON.stringify(rejected)).toContain('variables.ticket');
    const { status } = await callJson(host, way, 'POST', '/comparisons/estimate', {
      body,
      key: host.issueKey({ scopes: ['run'] }),
    });
    expect(status).toBe(403);
  });

  test('a row that lacks a variable is skipped and not run', async () => {
    const datasetId = await createDataset({ rows: [{ ticket: 'late' }, { answer: 'no ticket' }] });
    const { id } = await create(way, { datasetId, variants: [variant('A')] });
    const before = host.provider.calls.length;
    expect((await run(way, id)).cells).toMatchObject({ completed: 1, skipped: 1 });
    expect(host.provider.calls.length - before).toBe(1);
    const [, skipped] = await cellsOf(way, id);
    expect([skipped!.state, skipped!.runId, skipped!.failure]).toEqual([
      'Skipped',
      null,
      { code: 'missing_value', message: 'The row has no value for ticket.' },
    ]);
  });

  test('failed cells are run again by retry and not by start', async () => {
    const failing = (call: ScriptedCall) => (promptOf(call).includes('broken') ? call.fail(500, 'Oh no') : echo(call));
    host.provider.answerWith(failing);
    const { id } = await create(way);
    expect((await run(way, id)).cells).toMatchObject({ completed: 4, failed: 2 });
    const failed = await cellsOf(way, id, '?state=Failed');
    expect(failed.map(({ variant: name, failure, runId }) => [name, failure?.code, typeof runId])).toEqual([
      ['A', 'provider_failed', 'string'],
      ['B', 'provider_failed', 'string'],
    ]);
    host.provider.answerWith(echo);
    const before = host.provider.calls.length;
    expect((await run(way, id)).cells.failed).toBe(2);
    expect(host.provider.calls.length).toBe(before);
    expect((await act(way, id, 'retry', { variant: 'B' })).status).toBe(202);
    expect((await ended(way, id)).cells).toMatchObject({ completed: 5, failed: 1 });
    const [{ rowId }] = failed as [ComparisonCell];
    await act(way, id, 'retry', { cell: { rowId, variant: 'A', repeat: 1 } });
    expect((await ended(way, id)).cells).toMatchObject({ completed: 6, failed: 0 });
    expect(host.provider.calls.length - before).toBe(2);
  });

  test('a stopped comparison resumes with the cells that have not completed', async () => {
    const held: ScriptedCall[] = [];
    host.provider.answerWith((call) => (held.length < 2 ? void held.push(call) : echo(call)));
    const { id } = await create(way, { concurrency: 2 });
    await act(way, id, 'start');
    await until(() => held.length === 2);
    const stopped = (await act(way, id, 'stop')).body as Comparison;
    expect([stopped.state, stopped.stopReason, stopped.cells]).toEqual([
      'Stopped',
      'Stopped.',
      { total: 6, waiting: 4, running: 0, completed: 0, failed: 0, skipped: 0, stopped: 2 },
    ]);
    const before = host.provider.calls.length;
    expect((await run(way, id)).cells.completed).toBe(6);
    expect(host.provider.calls.length - before).toBe(6);
  });

  test('one cell or one variant is stopped while the others run', async () => {
    const held: ScriptedCall[] = [];
    host.provider.answerWith((call) => (promptOf(call) === 'A: late' ? void held.push(call) : echo(call)));
    const { id } = await create(way, { concurrency: 1 });
    await act(way, id, 'start');
    await until(() => held.length === 1);
    await act(way, id, 'stop', { variant: 'B' });
    const [first] = await cellsOf(way, id);
    await act(way, id, 'stop', { cell: { rowId: first!.rowId, variant: 'A', repeat: 1 } });
    const partly = await ended(way, id);
    expect([partly.state, partly.cells]).toEqual(['Stopped', expect.objectContaining({ completed: 2, stopped: 4 })]);
    host.provider.answerWith(echo);
    expect((await run(way, id)).cells.completed).toBe(6);
  });

  test('a variant of a prompt version names its prompt, and a column may name the rows', async () => {
    const input = { name: 'Reply', promptText: 'Reply to {{ticket}}', ...provider };
    const { body: prompt } = await callJson(host, way, 'POST', '/prompts', { body: input });
    const created = await create(way, {
      variants: [{ name: 'A', promptVersionId: prompt.latestVersionId }, variant('B')],
      titleColumn: 'ticket',
    });
    expect(created.titleColumn).toBe('ticket');
    expect(created.variants).toMatchObject([
      { promptId: prompt.id, versionNumber: 1, model: 'scripted/model' },
      { promptId: null, versionNumber: null },
    ]);
  });

  test('invalid input names its field', async () => {
    const datasetId = await createDataset();
    const good = { name: 'A', datasetId, variants: [variant('A')] };
    const rejected = async (change: Record<string, unknown>) => {
      const { status, body } = await callJson(host, way, 'POST', '/comparisons', { body: { ...good, ...change } });
      return [status, body.error.details[0]?.field];
    };
    const missing = '00000000-0000-4000-8000-000000000000';
    const one = (change: Record<string, unknown>) => ({ variants: [{ ...variant('A'), ...change }] });
    expect(await rejected({ datasetId: missing })).toEqual([400, 'datasetId']);
    expect(await rejected({ datasetVersion: 7 })).toEqual([400, 'datasetVersion']);
    expect(await rejected({ variants: [] })).toEqual([400, 'variants']);
    expect(await rejected({ variants: [variant('A'), variant('A')] })).toEqual([400, 'variants[1].name']);
    expect(await rejected({ baseline: 'C' })).toEqual([400, 'baseline']);
    expect(await rejected({ basedOn: missing })).toEqual([400, 'basedOn']);
    expect(await rejected({ repeats: 0 })).toEqual([400, 'repeats']);
    expect(await rejected({ maxCost: 0 })).toEqual([400, 'maxCost']);
    expect(await rejected({ variables: { ticket: 'subject' } })).toEqual([400, 'variables.ticket']);
    expect(await rejected({ titleColumn: 'subject' })).toEqual([400, 'titleColumn']);
    expect(await rejected({ checks: [{ kind: 'equals' }] })).toEqual([400, 'checks[0].value']);
    expect(await rejected({ checks: [{ kind: 'regularExpression', pattern: '(' }] })).toEqual([
      400,
      'checks[0].pattern',
    ]);
    expect(await rejected(one({ prompt: null }))).toEqual([400, 'variants[0].promptVersionId']);
    expect(await rejected(one({ prompt: null, promptVersionId: missing }))).toEqual([
      400,
      'variants[0].promptVersionId',
    ]);
    expect(await rejected(one({ prompt: { promptText: '{{#if' } }))).toEqual([400, 'variants[0].prompt.promptText']);
    expect(await rejected(one({ aiSystem: 'ServiceAi', model: 'no-such' }))).toEqual([400, 'variants[0].model']);
    expect(await rejected(one({ dataspaceIds: [missing] }))).toEqual([400, expect.stringContaining('variants[0]')]);
    const { id } = await create(way);
    expect((await act(way, id, 'stop', { variant: 'C' })).body.error.details[0].field).toBe('variant');
    const cell = { rowId: 'x', variant: 'A', repeat: 1 };
    expect((await act(way, id, 'retry', { cell })).body.error.details[0].field).toBe('cell.rowId');
    expect(rejectionOf(await act(way, missing, 'start'))).toEqual([404, 'not_found', []]);
  });

  test('reading needs the scope run, starting needs manage', async () => {
    const { id } = await create(way);
    const [runKey, auditKey] = [host.issueKey({ scopes: ['run'] }), host.issueKey({ scopes: ['audit'] })];
    const path = `/comparisons/${id}`;
    const status = async (key: string) => (await callJson(host, way, 'GET', path, { key })).status;
    expect([await status(runKey), await status(auditKey)]).toEqual([200, 403]);
    expect((await act(way, id, 'start', undefined, runKey)).status).toBe(403);
  });
});

describe.each(ways)('%s: a key with the scope run', (way) => {
  /** Everything that a key can read of a comparison. */
  async function readAll(id: string, key: string): Promise<string> {
    const paths = ['', '/cells', '/report', ...['csv', 'jsonl', 'junit', 'markdown'].map((f) => `/export?format=${f}`)];
    const texts: string[] = [];
    for (const path of paths)
      texts.push((await host.send(way, jsonRequest(host, 'GET', `/comparisons/${id}${path}`, { key }))).text);
    return texts.join('\n');
  }

  test('sees results, but no texts of the runs of other callers', async () => {
    host.provider.answerWith((call) => {
      if (promptOf(call).includes('broken')) call.fail(500, 'Secret failure');
      else call.chatStream(['{"word": "Secret answer"}']);
    });
    const quoting = [{ kind: 'field', path: 'word', value: 'other' }];
    const prompt = { promptText: 'Secret prompt: {{ticket}}' };
    const { id } = await create(way, { checks: quoting, variants: [{ ...variant('A'), prompt }] });
    await run(way, id);
    const [own, other, auditing] = [
      host.key,
      host.issueKey({ scopes: ['run'] }),
      host.issueKey({ scopes: ['run', 'audit'] }),
    ];
    expect(await readAll(id, other)).not.toContain('Secret');
    for (const key of [own, auditing]) {
      const text = await readAll(id, key);
      for (const word of ['answer', 'failure', 'prompt']) expect(text).toContain(`Secret ${word}`);
    }
    const { body } = await callJson(host, way, 'GET', `/comparisons/${id}/cells`, { key: other });
    const sentence = 'Only the caller of the run and keys with the scope `audit` can read this.';
    expect(body.data).toMatchObject([
      { state: 'Completed', passed: false, score: 0, answer: null, answerHash: null, checks: [{ reason: sentence }] },
      { state: 'Failed', failure: { code: 'provider_failed', message: sentence } },
      { state: 'Completed' },
    ]);
    const manager = host.host.storage.apiKeys.issue({ name: 'Manager', scopes: ['run', 'manage'] }).key;
    const again = await create(way, { variants: [variant('B')] });
    await act(way, again.id, 'start', undefined, manager);
    await ended(way, again.id);
    expect(await readAll(again.id, manager)).toContain('Secret answer');
  });

  test('sees no answer that the guard withheld, also in reasons', async () => {
    const { settings } = host.host.storage;
    settings.update({ guard: { prompts: 'off', answers: 'refuse' } });
    onTestFinished(() => void settings.update({ guard: { prompts: 'off', answers: 'off' } }));
    host.provider.answerWith((call) => call.chatStream([threat]));
    const quoting = [
      { kind: 'regularExpression', pattern: '.*knife.*' },
      { kind: 'javascript', code: 'return { pass: true, score: 1, reason: answer };' },
    ];
    const { id } = await create(way, { checks: quoting, variants: [variant('A')] });
    const done = await run(way, id);
    expect(done.cells.completed).toBe(3);
    for (const key of [host.key, host.issueKey({ scopes: ['run'] })])
      expect(await readAll(id, key)).not.toContain('fingers');
    const [cell] = await cellsOf(way, id);
    expect(cell).toMatchObject({
      answer: '',
      checks: [{ pass: false, reason: 'No match in the answer' }, { pass: true }],
    });
    expect(JSON.stringify(cell)).not.toContain('fingers');
  });
});

describe('a comparison', () => {
  test('waits as long as the provider asks, and counts no attempt', async () => {
    const times: number[] = [];
    host.provider.answerWith((call) => {
      times.push(performance.now());
      if (times.length === 1) call.fail(429, 'Slow down', { 'retry-after': '1' });
      else echo(call);
    });
    const { id } = await create(memory, { concurrency: 1, variants: [variant('A')] });
    const done = await run(memory, id);
    expect([done.state, done.cells.completed]).toEqual(['Completed', 3]);
    expect(times).toHaveLength(4);
    expect(times[1]! - times[0]!).toBeGreaterThan(900);
    expect((await cellsOf(memory, id)).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  test('waits after a rate limit of another caller, and shares its runs at a time with other comparisons', async () => {
    const times: number[] = [];
    host.provider.answerWith((call) => call.fail(429, 'Slow down', { 'retry-after': '1' }));
    const complete = () =>
      callJson(host, memory, 'POST', '/api/completions', { body: { promptText: 'Other', ...provider } });
    expect((await complete()).status).toBe(429);
    const startedAt = performance.now();
    const held: ScriptedCall[] = [];
    host.provider.answerWith((call) => {
      if (promptOf(call) === 'Other') return call.chatAnswer({ content: 'Here' });
      times.push(performance.now());
      held.push(call);
    });
    const ids = await Promise.all(
      [2, 3].map(async (concurrency) => (await create(memory, { concurrency, variants: [variant('A')] })).id),
    );
    for (const id of ids) await act(memory, id, 'start');
    for (let answered = 0; answered < 6; answered += 1) {
      await until(() => held.length > 0);
      // Single calls don't wait. Until they are answered, more runs would have started.
      for (let call = 0; call < 3; call += 1) expect((await complete()).status).toBe(200);
      expect(held.length).toBeLessThanOrEqual(3);
      echo(held.shift()!);
    }
    for (const id of ids) expect((await ended(memory, id)).cells.completed).toBe(3);
    expect(times[0]! - startedAt).toBeGreaterThan(900);
  });

  test('tries a cell again as often as it allows', async () => {
    let calls = 0;
    host.provider.answerWith((call) => ((calls += 1) % 3 === 0 ? echo(call) : call.fail(500, 'Again')));
    const { id } = await create(memory, { attempts: 3, concurrency: 1, variants: [variant('A')] });
    expect((await run(memory, id)).cells).toMatchObject({ completed: 3, failed: 0 });
    expect((await cellsOf(memory, id)).map(({ attempts }) => attempts)).toEqual([3, 3, 3]);
  });

  test('ends a cell whose provider hangs, cuts off or lies', async () => {
    host.provider.answerWith((call) => {
      const prompt = promptOf(call);
      if (prompt.includes('late')) return;
      if (prompt.includes('broken')) call.cut();
      else call.openEventStream().end('data: {"choices": "many"}\n\n');
    });
    const { id } = await create(memory, { timeLimitSeconds: 1, variants: [variant('A')] });
    const done = await run(memory, id);
    expect([done.state, done.cells.failed]).toEqual(['Completed', 3]);
    const failures = (await cellsOf(memory, id)).map(({ failure }) => failure);
    expect(failures[0]).toEqual({ code: 'time_limit', message: 'The run took longer than 1 s.' });
    expect(failures.slice(1).map((failure) => failure?.code)).toEqual(['provider_failed', 'provider_failed']);
  });

  test('stops when no other run would succeed', async () => {
    host.provider.answerWith((call) => call.fail(401, 'Wrong key'));
    const { id } = await create(memory, { concurrency: 1, variants: [variant('A')] });
    const stopped = await run(memory, id);
    expect([stopped.state, stopped.cells.failed, stopped.cells.waiting]).toEqual(['Stopped', 1, 2]);
    expect(stopped.stopReason).toContain('API key');
  });

  test('stops before it exceeds its maximum cost', async () => {
    const { settings } = host.host.storage;
    settings.update({ endpointPrices: [{ model: 'scripted/model', inputPrice: 1, outputPrice: 2 }] });
    onTestFinished(() => void settings.update({ endpointPrices: [] }));
    const many = Array.from({ length: 40 }, (_, index) => ({ ticket: `${index}` }));
    const datasetId = await createDataset({ rows: many });
    const priced = await create(memory, { datasetId, variants: [variant('A')], concurrency: 2 });
    expect(priced.cost.estimate).toEqual({ low: expect.any(Number), high: expect.any(Number) });
    const all = await run(memory, priced.id);
    const maxCost = all.cost.spent * 0.26;
    const capped = await create(memory, { datasetId, variants: [variant('A')], concurrency: 2, maxCost });
    const stopped = await run(memory, capped.id);
    expect([stopped.state, stopped.stopReason]).toEqual(['Stopped', 'The next run could exceed the maximum cost.']);
    expect(stopped.cost.spent).toBeLessThanOrEqual(maxCost);
    expect(stopped.cells.completed).toBe(10);
  });

  test('fills variables from the columns that it maps', async () => {
    const datasetId = await createDataset({
      columns: [
        { name: 'text', type: 'text' },
        { name: 'customer', type: 'json' },
      ],
      rows: [{ text: 'late', customer: { name: 'Ada' } }],
    });
    const prompt = { promptText: '{{customer.name}}, {{ticket.body}}{{#if note}}!{{/if}}' };
    const variables = { 'ticket.body': 'text' };
    const { id } = await create(memory, { datasetId, variables, variants: [{ ...variant('A'), prompt }] });
    await run(memory, id);
    expect((await cellsOf(memory, id)).map(({ answer }) => answer)).toEqual(['Ada, late']);
  });

  test('starts with the first rows only, and runs rows in the order of a seed', async () => {
    const datasetId = await createDataset({ rows: Array.from({ length: 30 }, (_, index) => ({ ticket: `${index}` })) });
    const { id } = await create(memory, { datasetId, variants: [variant('A')], concurrency: 1 });
    expect((await act(memory, id, 'start', { maxRows: 2 })).status).toBe(202);
    expect(await ended(memory, id)).toMatchObject({ state: 'Stopped', cells: { completed: 2, waiting: 28 } });
    const seeded = await create(memory, { datasetId, variants: [variant('S')], concurrency: 1, seed: 7 });
    const before = host.provider.calls.length;
    await run(memory, seeded.id);
    const order = host.provider.calls.slice(before).map(promptOf);
    expect(order).toHaveLength(30);
    expect(order).not.toEqual(order.toSorted());
    expect((await cellsOf(memory, seeded.id)).map(({ answer }) => answer)).toEqual(
      Array.from({ length: 30 }, (_, index) => `S: ${index}`),
    );
  });

  test('is exported as CSV, JSONL, JUnit, Markdown and HTML', async () => {
    const datasetId = await createDataset({ rows: [{ ticket: '=1+1|<b>', answer: 'x' }, { answer: 'none' }] });
    const { id } = await create(memory, { datasetId, variants: [variant('A')], checks });
    await run(memory, id);
    const exported = async (format: string) => {
      const headers = { authorization: `Bearer ${host.key}` };
      const path = `/comparisons/${id}/export?format=${format}`;
      return (await host.send(memory, { method: 'GET', path, headers })).text.split(/\r?\n/);
    };
    const [head, first] = await exported('csv');
    expect(head).toBe('\uFEFFrow,ticket,answer,variant,repeat,state,passed,score,answer,failure,cost,total_ms,run_id');
    expect(first).toMatch(/^1,'=1\+1\|<b>,x,A,1,Completed,false,0,A: =1\+1\|<b>,,,[\d.]+,[\da-f-]{36}$/);
    const lines = (await exported('jsonl')).filter((line) => line !== '').map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { row: 1, variant: 'A', answer: 'A: =1+1|<b>', passed: false },
      { row: 2, state: 'Skipped', values: { answer: 'none' } },
    ]);
    const junit = (await exported('junit')).join('');
    expect(junit).toMatch(/<testcase classname="A" name="Row 1" time="[\d.]+"><failure message="equals: /);
    expect(junit).toContain('<skipped message="The row has no value for ticket."/>');
    expect((await exported('markdown')).at(-2)).toMatch(
      /^\| A \| 0 % \(0 to \d+\) \| 1 \| - \| \d+ \| \d+ \| Baseline \|$/,
    );
    const page = (await exported('html')).join('\n');
    const [tags, attributes, texts]: [Set<string>, Set<string>, string[]] = [new Set(), new Set(), []];
    const parser = new Parser({
      onopentagname: (name) => void tags.add(name),
      onattribute: (name) => void attributes.add(name),
      ontext: (text) => void texts.push(text),
    });
    parser.end(page);
    expect(page).toContain('http-equiv="Content-Security-Policy" content="default-src \'none\';');
    expect(['script', 'img', 'link', 'iframe', 'form', 'a'].filter((name) => tags.has(name))).toEqual([]);
    expect(['src', 'href', 'onclick', 'onload'].filter((name) => attributes.has(name))).toEqual([]);
    const text = texts.join('');
    for (const shown of ['A: =1+1|<b>', 'Skipped', '0 % (95 %: 0 to', 'A: {{ticket}}']) expect(text).toContain(shown);
    const reader = { authorization: `Bearer ${host.issueKey({ scopes: ['run'] })}` };
    const path = `/comparisons/${id}/export?format=html`;
    const shown = (await host.send(memory, { method: 'GET', path, headers: reader })).text;
    expect([shown.includes('{{ticket}}'), shown.includes('A: =1+1')]).toEqual([false, false]);
  });

  test('charges the key that starts it', async () => {
    const key = host.issueKey({ creditLimit: 4 });
    const { id } = await create(memory, { concurrency: 1 });
    await act(memory, id, 'start', undefined, key);
    const stopped = await ended(memory, id);
    expect([stopped.state, stopped.cells.completed]).toEqual(['Stopped', 4]);
    expect(stopped.stopReason).toContain('4 credits');
  });

  test('stops when the key that pays for it is revoked', async () => {
    const { apiKeys } = host.host.storage;
    const { id: keyId, key } = apiKeys.issue({ name: 'Revoked' });
    const judge = { name: 'J', promptText: '{{answer}}?', ...provider, verdict: { kind: 'passOrFail' } };
    const { body } = await callJson(host, memory, 'POST', '/judges', { body: judge });
    const judged = [{ kind: 'judge', judgeId: body.id }];
    const { id } = await create(memory, { concurrency: 1, variants: [variant('A')], checks: judged });
    const before = host.provider.calls.length;
    host.provider.answerWith((call) => {
      apiKeys.revoke(keyId);
      echo(call);
    });
    await act(memory, id, 'start', undefined, key);
    const stopped = await ended(memory, id);
    expect([stopped.state, stopped.cells.completed, stopped.cells.waiting]).toEqual(['Stopped', 1, 2]);
    expect(stopped.stopReason).toBe('The API key that started this was revoked.');
    expect(host.provider.calls.length - before).toBe(1);
    const [cell] = await cellsOf(memory, id);
    expect(cell).toMatchObject({ passed: null, checks: [{ pass: null, reason: stopped.stopReason }] });
    host.provider.answerWith(echo);
    expect(await run(memory, id)).toMatchObject({ state: 'Completed', stopReason: null });
  });

  test('keeps to the requests per minute of its key, as they are now', async () => {
    const { apiKeys } = host.host.storage;
    const { id: keyId, key } = apiKeys.issue({ name: 'Limited', requestsPerMinute: 3 });
    const { id } = await create(memory);
    const before = host.provider.calls.length;
    // The start is a request, too.
    await act(memory, id, 'start', undefined, key);
    await until(() => host.provider.calls.length - before === 2);
    const { id: other } = await create(memory);
    expect(await run(memory, other)).toMatchObject({ state: 'Completed', cells: { completed: 6 } });
    expect(await read(memory, id)).toMatchObject({ state: 'Running', cells: { completed: 2, waiting: 4 } });
    apiKeys.update(keyId, { requestsPerMinute: null });
    expect(await ended(memory, id)).toMatchObject({ state: 'Completed', cells: { completed: 6 } });
    expect((await cellsOf(memory, id)).map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test('waits for the tokens per minute of its key, and no other comparison does', async () => {
    const key = host.issueKey({ tokensPerMinute: 1 });
    const { id } = await create(memory, { concurrency: 1 });
    await act(memory, id, 'start', undefined, key);
    while ((await read(memory, id)).cells.completed === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const { id: other } = await create(memory);
    expect(await run(memory, other)).toMatchObject({ state: 'Completed', cells: { completed: 6 } });
    expect(await read(memory, id)).toMatchObject({ state: 'Running', cells: { completed: 1 } });
    expect((await act(memory, id, 'stop')).body).toMatchObject({ state: 'Stopped', stopReason: 'Stopped.' });
  });

  test('charges the runs of a judge to the same key', async () => {
    const verdict = JSON.stringify({ reason: 'Because', verdict: 'pass' });
    host.provider.answerWith((call) =>
      call.body['stream'] === true ? echo(call) : call.chatAnswer({ content: verdict }),
    );
    const judge = { name: 'J', promptText: '{{answer}}?', ...provider, verdict: { kind: 'passOrFail' } };
    const { body } = await callJson(host, memory, 'POST', '/judges', { body: judge });
    const judged = [{ kind: 'judge', judgeId: body.id }];
    const { id } = await create(memory, { concurrency: 1, variants: [variant('A')], checks: judged });
    const key = host.issueKey({ creditLimit: 3 });
    const before = host.provider.calls.length;
    await act(memory, id, 'start', undefined, key);
    const { cells } = await ended(memory, id);
    expect([cells.completed, cells.failed, host.provider.calls.length - before]).toEqual([2, 1, 3]);
    expect((await cellsOf(memory, id)).flatMap(({ checks: [check] }) => check?.reason ?? [])).toEqual([
      expect.stringContaining('Because'),
      expect.stringContaining('3 credits'),
    ]);
  });

  test('lets the window read rows with their cells', async () => {
    const { id } = await create(memory, { checks });
    await run(memory, id);
    const { data: all } = await readRows(id, 'filter=all');
    expect(all.map(({ values, cells }) => [values, cells.map(({ variant: name }) => name)])).toEqual(
      rows.map((values) => [values, ['A', 'B']]),
    );
    const differs = await readRows(id, 'filter=differs&characters=4');
    expect([differs.total, differs.data.map(({ position }) => position)]).toEqual([2, [0, 1]]);
    expect(differs.counts).toEqual({ all: 3, differs: 2, fails: 3, disagrees: 0 });
    expect(differs.data[1]).toMatchObject({
      values: { ticket: 'brok' },
      cells: [{ answer: 'A: b' }, { answer: 'B: b' }],
    });
    expect((await readRows(id, 'filter=fails&offset=2')).data.map(({ position }) => position)).toEqual([2]);
  });

  test('sorts rows by difference, cost and latency', async () => {
    const byWord = [{ kind: 'contains', value: 'A: late', not: true }];
    const { id } = await create(memory, { checks: byWord, repeats: 2 });
    await run(memory, id);
    const order = async (sort: string) => (await readRows(id, `sort=${sort}`)).data.map(({ position }) => position);
    expect(await order('row')).toEqual([0, 1, 2]);
    expect(await order('difference')).toEqual([0, 1, 2]);
    const slowest = (await readRows(id, 'sort=latency')).data.map((row) =>
      Math.max(...row.cells.map(({ totalMs }) => totalMs!)),
    );
    expect(slowest).toEqual(slowest.toSorted((one, other) => other - one));
    expect(await order('cost')).toEqual([0, 1, 2]);
    const report = (await callJson(host, memory, 'GET', `/comparisons/${id}/report?baseline=B`)).body;
    expect([report.baseline, report.endedRows]).toEqual(['B', 3]);
    expect(report.variants).toMatchObject([
      { checks: [{ passes: 4, judged: 6 }], tokens: expect.any(Number), difference: { rows: 3 } },
      { checks: [{ passes: 6, judged: 6 }], difference: null },
    ]);
    const { body } = await callJson(host, memory, 'GET', `/comparisons/${id}/report?baseline=C`);
    expect(body.error.details[0].field).toBe('baseline');
  });

  test('counts the fields that agree with the expected object', async () => {
    const expected = { months: 3, form: 'written' };
    const datasetId = await createDataset({
      rows: [
        { ticket: 'one', answer: expected },
        { ticket: 'two', answer: JSON.stringify(expected) },
        { ticket: 'three', answer: 'none' },
      ],
    });
    host.provider.answerWith((call) =>
      call.chatStream([
        promptOf(call).startsWith('A') ? '{"form": "written", "months": 3, "more": 1}' : '{"months": "3"}',
      ]),
    );
    const { id } = await create(memory, { datasetId });
    await run(memory, id);
    const { data } = await readRows(id, 'characters=5');
    expect(data.map(({ cells }) => cells.map(({ fields }) => fields && `${fields.agreeing}/${fields.total}`))).toEqual([
      ['2/2', '0/2'],
      ['2/2', '0/2'],
      [null, null],
    ]);
    expect(data[0]!.cells[1]!.fields!.wrong).toEqual(['months', 'form']);
    const agreeing = (count: number) => ({ agreeing: count, answers: 2 });
    const { body } = await callJson(host, memory, 'GET', `/comparisons/${id}/fields`, {
      key: host.issueKey({ scopes: ['run'] }),
    });
    expect(body).toEqual({
      rows: 2,
      isComplete: true,
      fields: ['months', 'form'].map((name) => ({ name, variants: [agreeing(2), agreeing(0)] })),
    });
  });

  test('is compared with the last time, by the rows that both have', async () => {
    const datasetId = await createDataset();
    const earlier = await create(memory, { datasetId, checks, variants: [variant('A'), variant('Old')] });
    host.provider.answerWith((call) => call.chatStream(['none']));
    await run(memory, earlier.id);
    const { body: version } = await callJson(host, memory, 'POST', `/datasets/${datasetId}/versions`, {
      body: { baseVersion: 1, changes: { added: [{ ticket: 'new', answer: 'A: new' }] } },
    });
    host.provider.answerWith(echo);
    const again = { datasetId, datasetVersion: version.version, checks, repeats: 2, basedOn: earlier.id };
    const now = await create(memory, { ...again, variants: [variant('A'), variant('B')] });
    await run(memory, now.id);
    const trend = async (key = host.key) =>
      (await callJson(host, memory, 'GET', `/comparisons/${now.id}/trend`, { key })).body;
    expect(await trend(host.issueKey({ scopes: ['run'] }))).toMatchObject({
      earlier: { id: earlier.id, name: earlier.name, completedAt: expect.any(String) },
      sharedRows: 3,
      variants: [
        {
          name: 'A',
          earlierPassRate: 1 / 3,
          passRate: 2 / 3,
          differences: { passRate: { estimate: 1 / 3, rows: 3, sentence: expect.stringContaining('Cannot tell') } },
        },
      ],
    });
    await callJson(host, memory, 'DELETE', `/comparisons/${earlier.id}`);
    expect(await trend()).toEqual({ earlier: null, sharedRows: 0, variants: [] });
  });
});
