// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ComparisonCell } from '../../shared/contract/comparison-results.ts';
import type { Comparison } from '../../shared/contract/comparisons.ts';
import {
  checks,
  comparisonCalls,
  echo,
  promptOf,
  provider,
  rows,
  until,
  variant,
} from '../support/comparison-calls.ts';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(echo));

const [memory] = ways;
const { createDataset, create, act, cellsOf, ended, run } = comparisonCalls(() => host);

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
    // The host waits from here on, however late its own response comes.
    let limitedAt = 0;
    host.provider.answerWith((call) => {
      limitedAt = performance.now();
      call.fail(429, 'Slow down', { 'retry-after': '1' });
    });
    const complete = () =>
      callJson(host, memory, 'POST', '/api/completions', { body: { promptText: 'Other', ...provider } });
    expect((await complete()).status).toBe(429);
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
    expect(times[0]! - limitedAt).toBeGreaterThan(900);
  });

  test('waits after a rate limit of a call that was passed on, but not of the program with its own key', async () => {
    let limitedAt = 0;
    host.provider.answerWith((call) => {
      limitedAt = performance.now();
      call.fail(429, 'Slow down', { 'retry-after': '1' });
    });
    const pass = async (headers: Record<string, string>) =>
      (
        await host.send(memory, {
          method: 'POST',
          path: '/openai/scripted/v1/chat/completions',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ model: 'model', messages: [{ role: 'user', content: 'Hello' }] }),
        })
      ).status;
    const runOnce = async () => {
      let firstCall = 0;
      host.provider.answerWith((call) => {
        firstCall ||= performance.now();
        echo(call);
      });
      const { id } = await create(memory, { variants: [variant('A')] });
      expect((await run(memory, id)).cells.completed).toBe(3);
      return firstCall - limitedAt;
    };
    expect(await pass({ authorization: `Bearer ${host.key}` })).toBe(429);
    expect(await runOnce()).toBeGreaterThan(900);
    host.provider.answerWith((call) => call.fail(429, 'Slow down', { 'retry-after': '3600' }));
    expect(await pass({ 'x-touchstone-key': host.key, authorization: 'Bearer sk-of-the-program' })).toBe(429);
    await runOnce();
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
    const unpriced = await create(memory, { variants: [{ ...variant('A'), model: 'scripted/other' }], maxCost: 5 });
    expect(unpriced.warnings).toEqual([
      "The price of a model is unknown. Its runs don't count for the spend cap of $5.",
    ]);
    const capped = await create(memory, { datasetId, variants: [variant('A')], concurrency: 2, maxCost });
    expect(capped.warnings).toEqual([]);
    const stopped = await run(memory, capped.id);
    expect([stopped.state, stopped.stopReason]).toEqual(['Stopped', 'The next run could exceed the maximum cost.']);
    expect(stopped.cost.spent).toBeLessThanOrEqual(maxCost);
    expect(stopped.cells.completed).toBe(10);
    // Before a run has ended, nobody knows what those that start beside it will cost.
    const maxCostOfFour = (all.cost.spent / 40) * 4.5;
    const both = [variant('A'), variant('B')];
    const small = await create(memory, { datasetId, variants: both, concurrency: 32, maxCost: maxCostOfFour });
    const soon = await run(memory, small.id);
    expect([soon.state, soon.cells.completed]).toEqual(['Stopped', 4]);
    expect(soon.cost.spent).toBeLessThanOrEqual(maxCostOfFour);
  });
});
