import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ComparisonCell } from '../../shared/contract/comparison-results.ts';
import { callJson, rejectionOf } from '../support/json-call.ts';
import type { ScriptedCall } from '../support/scripted-provider.ts';
import { startTestHost, ways, type TestHost } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const [way] = ways;
const provider = { aiSystem: 'OpenAiCompatible', model: 'scripted/model' };
const promptOf = (call: ScriptedCall) => (call.body['messages'] as { content: string }[]).at(-1)!.content;

/** Answers with the prompt; judges pass an answer of the variant A. */
function reply(call: ScriptedCall): void {
  const prompt = promptOf(call);
  const verdict = JSON.stringify({
    reason: `Because ${prompt.length}`,
    verdict: prompt.includes('A:') ? 'pass' : 'fail',
  });
  const content = prompt.startsWith('Judge') ? verdict : prompt;
  if (call.body['stream'] === true) call.chatStream([content]);
  else call.chatAnswer({ content });
}

beforeEach(() => host.provider.answerWith(reply));

interface Compared {
  readonly id: string;
  readonly judgeId: string;
  cells(query?: string, key?: string): Promise<ComparisonCell[]>;
  vote(cell: Partial<ComparisonCell>, vote: object, key?: string): ReturnType<typeof callJson>;
}

/** A comparison of A and B over so many rows, which has completed. */
async function compare(rowCount = 3, change: Record<string, unknown> = {}): Promise<Compared> {
  const call = (method: string, path: string, body?: unknown, key = host.key) =>
    callJson(host, way, method, path, { key, ...(body === undefined ? {} : { body }) });
  const dataset = await call('POST', '/datasets', {
    name: 'T',
    columns: [{ name: 'ticket', type: 'text' }],
    rows: Array.from({ length: rowCount }, (_, row) => ({ ticket: `ticket ${row}` })),
  });
  const judge = await call('POST', '/judges', {
    name: 'Strict',
    promptText: 'Judge {{answer}}',
    verdict: { kind: 'passOrFail' },
    ...provider,
  });
  const created = await call('POST', '/comparisons', {
    name: 'A or B',
    datasetId: dataset.body.id,
    variants: ['A', 'B'].map((name) => ({ name, prompt: { promptText: `${name}: {{ticket}}` }, ...provider })),
    checks: [{ kind: 'judge', judgeId: judge.body.id }],
    ...change,
  });
  expect([created.status, created.body]).toEqual([201, expect.any(Object)]);
  const path = `/comparisons/${created.body.id}`;
  await call('POST', `${path}/start`);
  await expect.poll(async () => (await call('GET', path)).body.state).toBe('Completed');
  return {
    id: created.body.id,
    judgeId: judge.body.id,
    cells: async (query = '', key = host.key) => (await call('GET', `${path}/cells${query}`, undefined, key)).body.data,
    vote: ({ rowId, variant, repeat }, vote, key = host.key) =>
      call('PUT', `${path}/votes`, { cell: { rowId, variant, repeat }, ...vote }, key),
  };
}

describe('votes on cells', () => {
  test('are kept for each voter, replaced and removed, and are in the cells with the verdicts of judges', async () => {
    const { id, judgeId, cells, vote } = await compare();
    const [cell] = await cells();
    expect(cell).toMatchObject({ votes: [], verdicts: [{ judgeId, judge: 'Strict', verdict: 'pass', pass: true }] });
    expect(cell!.verdicts[0]).toMatchObject({ counts: false, isStale: false, runId: expect.any(String) });
    expect(cell!.verdicts[0]!.reason).toContain('Because');
    expect((await vote(cell!, { vote: 'fail', note: ' Too short. ' })).status).toBe(200);
    const other = host.issueKey({ name: 'Anna', scopes: ['run', 'audit', 'manage'] });
    const both = await vote(cell!, { vote: 'pass' }, other);
    expect(both.body.data).toEqual([
      { voter: 'Anna', isOwn: true, vote: 'pass', note: null, updatedAt: expect.any(String) },
      { voter: expect.any(String), isOwn: false, vote: 'fail', note: 'Too short.', updatedAt: expect.any(String) },
    ]);
    expect((await cells('?variant=A'))[0]!.votes.map(({ isOwn }) => isOwn)).toEqual([false, true]);
    expect((await vote(cell!, { note: 'Only a note' }, other)).body.data[0]).toMatchObject({ vote: null });
    expect((await vote(cell!, {}, other)).body.data).toHaveLength(1);
    const rows = async (filter: string) => {
      const address = `http://test/window/comparisons/${id}/rows?filter=${filter}`;
      const answer = await host.host.api.fetch(new Request(address), { access: 'window' });
      return (await answer.json()) as { data: { position: number }[]; total: number };
    };
    expect(await rows('disagrees')).toMatchObject({ data: [{ position: 0 }], total: 1 });
    await vote(cell!, { vote: 'pass' });
    expect(await rows('disagrees')).toMatchObject({ data: [], total: 0 });
    await callJson(host, way, 'PUT', `/judges/${judgeId}`, {
      body: { name: 'Strict', promptText: 'Judge: {{answer}}', verdict: { kind: 'passOrFail' }, ...provider },
    });
    expect((await cells())[0]!.verdicts[0]).toMatchObject({ isStale: true });
    await callJson(host, way, 'DELETE', `/judges/${judgeId}`);
    expect((await cells())[0]!.verdicts).toEqual([]);
    expect((await callJson(host, way, 'DELETE', `/comparisons/${id}`)).status).toBe(204);
    expect((await vote(cell!, { vote: 'pass' })).status).toBe(404);
  });

  test('need a completed cell, and the right to read its run', async () => {
    host.provider.answerWith((call) => (promptOf(call).startsWith('B') ? call.fail(400, 'no') : reply(call)));
    const { cells, vote } = await compare(1);
    const [first, failed] = (await cells()) as [ComparisonCell, ComparisonCell];
    for (const [cell, body, field] of [
      [{ ...first, rowId: 'unknown' }, { vote: 'pass' }, 'cell.rowId'],
      [{ ...first, variant: 'C' }, { vote: 'pass' }, 'cell.variant'],
      [{ ...first, repeat: 2 }, { vote: 'pass' }, 'cell.repeat'],
      [failed, { vote: 'pass' }, 'cell'],
      [first, { vote: 'good' }, 'vote'],
      [first, { note: 'x'.repeat(2001) }, 'note'],
      [first, { stars: 5 }, 'stars'],
    ] as const) {
      expect(rejectionOf(await vote(cell, body))).toMatchObject([400, 'invalid_request', [{ field }]]);
    }
    await vote(first, { vote: 'pass', note: 'Fine' });
    const stranger = host.issueKey({ scopes: ['run', 'manage'] });
    expect(rejectionOf(await vote(first, { vote: 'pass' }, stranger))).toEqual([403, 'forbidden', []]);
    const [seen] = await cells('', stranger);
    expect(seen).toMatchObject({ answer: null, votes: [{ voter: null, isOwn: false, vote: 'pass', note: null }] });
    expect(seen!.verdicts).toMatchObject([{ pass: true, reason: null }]);
    const reader = host.issueKey({ scopes: ['run'] });
    expect((await vote(first, { vote: 'pass' }, reader)).status).toBe(403);
  });

  test('lose their notes with the texts of the run', async () => {
    const { cells, vote } = await compare(1);
    const [cell] = await cells();
    await vote(cell!, { vote: 'fail', note: 'Quotes the answer' });
    host.host.storage.retention.apply('anonymise', Date.now() + 1000, 1000);
    expect((await cells())[0]!.votes).toMatchObject([{ vote: 'fail', note: null }]);
  });
});
