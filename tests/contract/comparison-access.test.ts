// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { comparisonCalls, echo, promptOf, provider, until, variant } from '../support/comparison-calls.ts';
import { threat } from '../support/guarded-host.ts';
import { callJson, jsonRequest } from '../support/json-call.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(echo));

const [memory] = ways;
const { create, act, read, cellsOf, ended, run } = comparisonCalls(() => host);

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
    // It is no paying key for judging again either.
    const again = apiKeys.issue({ name: 'Revoked, too' });
    const callsBefore = host.provider.calls.length;
    host.provider.answerWith((call) => {
      apiKeys.revoke(again.id);
      echo(call);
    });
    await act(memory, id, 'judge', undefined, again.key);
    expect((await ended(memory, id)).stopReason).toBe(stopped.stopReason);
    expect(host.provider.calls.length - callsBefore).toBe(1);
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
});
