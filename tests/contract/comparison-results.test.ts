import { Parser } from 'htmlparser2';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checks, comparisonCalls, echo, promptOf, rows, variant } from '../support/comparison-calls.ts';
import { callJson } from '../support/json-call.ts';
import { startTestHost, type TestHost, ways } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());
beforeEach(() => host.provider.answerWith(echo));

const [memory] = ways;
const { createDataset, create, act, cellsOf, ended, run, readRows } = comparisonCalls(() => host);

describe('a comparison', () => {
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
    expect(head).toBe(
      '\uFEFFrow,ticket,dataset_answer,variant,repeat,state,passed,score,answer,failure,cost,total_ms,run_id,judge_preferences',
    );
    expect(first).toMatch(/^1,'=1\+1\|<b>,x,A,1,Completed,false,0,A: =1\+1\|<b>,,,[\d.]+,[\da-f-]{36},$/);
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
    const trend = async (key = host.key) =>
      (await callJson(host, memory, 'GET', `/comparisons/${now.id}/trend`, { key })).body;
    await act(memory, now.id, 'start', { maxRows: 2 });
    await ended(memory, now.id);
    expect((await trend()).variants[0].differences.passRate.sentence).toMatch(/^So far: .* of 3 rows/);
    await run(memory, now.id);
    expect(await trend(host.issueKey({ scopes: ['run'] }))).toMatchObject({
      earlier: { id: earlier.id, name: earlier.name, completedAt: expect.any(String) },
      sharedRows: 3,
      variants: [
        {
          name: 'A',
          earlierPassRate: 1 / 3,
          passRate: 2 / 3,
          differences: { passRate: { estimate: 1 / 3, rows: 3, sentence: expect.stringMatching(/^Cannot tell/) } },
        },
      ],
    });
    await callJson(host, memory, 'DELETE', `/comparisons/${earlier.id}`);
    expect(await trend()).toEqual({ earlier: null, sharedRows: 0, variants: [] });
  });
});
