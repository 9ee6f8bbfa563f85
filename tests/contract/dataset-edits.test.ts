import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callJson, rejectionOf } from '../support/json-call.ts';
import { formOf, uploadRequest } from '../support/source-upload.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const columns = [
  { name: 'ticket', type: 'text' },
  { name: 'answer', type: 'expected' },
];

async function create(way: Way, tickets: readonly string[]): Promise<string> {
  const rows = tickets.map((ticket) => ({ ticket, answer: `${ticket}!` }));
  const answer = await callJson(host, way, 'POST', '/datasets', { body: { name: 'Tickets', columns, rows } });
  expect(answer.status).toBe(201);
  return answer.body.id as string;
}

async function edit(way: Way, id: string, lines: readonly unknown[] | string, fields: Record<string, string> = {}) {
  const content = typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n');
  const given = Object.entries({ baseVersion: '1', ...fields }).map(([name, value]) => ({ name, content: value }));
  const form = formOf([...given, { name: 'file', content, fileName: 'edits.jsonl' }]);
  const answer = await host.send(way, { ...uploadRequest(host, form), path: `/datasets/${id}/edits` });
  return { ...answer, body: JSON.parse(answer.text) };
}

async function rowsOf(way: Way, id: string, query = ''): Promise<{ id: string; values: Record<string, unknown> }[]> {
  return (await callJson(host, way, 'GET', `/datasets/${id}/rows${query}`)).body.data;
}

const difference = (way: Way, id: string, version: number, query = '') =>
  callJson(host, way, 'GET', `/datasets/${id}/versions/${version}/difference${query}`);

describe.each(ways)('%s: edits of datasets', (way) => {
  test('rows are moved, inserted, changed and left out, and unchanged ones keep their IDs', async () => {
    const id = await create(way, ['a', 'b', 'c', 'd', 'e']);
    const before = await rowsOf(way, id);
    const { status, body } = await edit(
      way,
      id,
      [
        { columns },
        { keep: [3, 2] },
        { values: { ticket: 'new' } },
        { row: 0, values: { answer: null } },
        // The same values as those of a row that follows.
        { values: { ticket: 'b', answer: 'b!' } },
        { keep: [1, 1] },
      ],
      { note: 'Sorted', latestVersion: '1' },
    );
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ id, version: 2, rowCount: 6, note: 'Sorted', columns }),
    ]);
    const after = await rowsOf(way, id);
    expect(after.map(({ values }) => values)).toEqual([
      { ticket: 'd', answer: 'd!' },
      { ticket: 'e', answer: 'e!' },
      { ticket: 'new' },
      { ticket: 'a' },
      { ticket: 'b', answer: 'b!' },
      { ticket: 'b', answer: 'b!' },
    ]);
    expect([after[0]!.id, after[1]!.id, after[5]!.id]).toEqual([before[3]!.id, before[4]!.id, before[1]!.id]);
    expect(new Set(after.map((row) => row.id)).size).toBe(6);
    expect(await rowsOf(way, id, '?version=1')).toEqual(before);
  });

  test('columns are renamed and retyped with their values, added and removed', async () => {
    const id = await create(way, ['{"late": true}', 'plain']);
    const next = [
      { name: 'details', type: 'json', from: 'ticket' },
      { name: 'ticket', type: 'text', from: null },
    ];
    const lines = [{ columns: next }, { keep: [0, 1] }, { row: 1, values: { ticket: 'T-2' } }];
    expect((await edit(way, id, lines)).status).toBe(201);
    expect((await rowsOf(way, id)).map(({ values }) => values)).toEqual([
      { details: { late: true } },
      { details: 'plain', ticket: 'T-2' },
    ]);
    const back = [{ columns: [{ name: 'details', type: 'text' }] }, { keep: [0, 2] }];
    expect((await edit(way, id, back, { baseVersion: '2' })).body).toMatchObject({ version: 3 });
    expect((await rowsOf(way, id)).map(({ values }) => values)).toEqual([
      { details: '{"late":true}' },
      { details: 'plain' },
    ]);
    expect((await difference(way, id, 2)).body).toEqual({
      base: 1,
      version: 2,
      addedRows: 0,
      removedRows: 0,
      changedRows: 2,
      addedColumns: ['details'],
      removedColumns: ['ticket', 'answer'].filter((name) => name !== 'ticket'),
    });
  });

  test('text in a JSON column stays text when another column is renamed', async () => {
    const { body } = await callJson(host, way, 'POST', '/datasets', {
      body: {
        name: 'Numbers',
        columns: [{ name: 'a', type: 'json' }, columns[0]],
        rows: [{ a: '7', ticket: 'x' }],
      },
    });
    const next = [
      { name: 'a', type: 'json' },
      { name: 'b', type: 'text', from: 'ticket' },
    ];
    await edit(way, body.id, [{ columns: next }, { keep: [0, 1] }]);
    expect((await rowsOf(way, body.id)).map(({ values }) => values)).toEqual([{ a: '7', b: 'x' }]);
  });

  test('a version that was saved since is a conflict, unless the author overwrites it', async () => {
    const id = await create(way, ['a', 'b']);
    const lines = [{ columns }, { keep: [0, 1] }];
    expect((await edit(way, id, lines, { latestVersion: '1' })).body.version).toBe(2);
    const late = await edit(way, id, lines, { latestVersion: '1' });
    expect(rejectionOf(late)).toEqual([409, 'conflict', []]);
    expect(late.body.error.message).toContain('Version 2');
    expect((await edit(way, id, [{ columns }, { keep: [0, 2] }], { latestVersion: '2' })).body.version).toBe(3);
  });

  test('counts the differences between versions', async () => {
    const id = await create(way, ['a', 'b', 'c', 'd']);
    const lines = [
      { columns },
      { keep: [0, 1] },
      { row: 1, values: { answer: 'B' } },
      { keep: [3, 1] },
      { values: {} },
    ];
    await edit(way, id, lines);
    const counts = { addedRows: 1, removedRows: 1, changedRows: 1, addedColumns: [], removedColumns: [] };
    expect((await difference(way, id, 2)).body).toEqual({ base: 1, version: 2, ...counts });
    expect((await difference(way, id, 1, '?base=2')).body).toEqual({ base: 2, version: 1, ...counts });
    expect((await difference(way, id, 1)).body).toMatchObject({
      base: 0,
      addedRows: 4,
      addedColumns: ['ticket', 'answer'],
    });
    expect((await difference(way, id, 3)).status).toBe(404);
  });

  test('a bad file is rejected with the line, and adds no version', async () => {
    const id = await create(way, ['a', 'b']);
    const head = JSON.stringify({ columns });
    const long = JSON.stringify({ keep: [0, 1] }).padEnd(200);
    const cases: [readonly unknown[] | string, string][] = [
      ['', 'line 1'],
      ['{"columns": []}', 'columns: must not be empty'],
      [[{ columns: [{ name: 'x', type: 'text', from: 'nothing' }] }], 'is not a column of version 1'],
      [`${head}\n{"keep": [0, 3]}`, 'line 2'],
      [`${head}\n{"keep": [0, 1]}\n{"keep": [0, 1]}`, 'used before in line 3'],
      [`${head}\n\n{"keep"`, 'no valid JSON in line 3'],
      [`${head}\n{"other": 1}`, 'line 2'],
      [`${head}\n${long}`, 'line 2'],
      [`${head}\n{"row": 2, "values": {}}`, 'line 2'],
      [`${head}\n{"keep": [0, 1]}\n{"values": {"ticket": 7}}`, 'rows[1].ticket'],
      [`${head}\n{"values": {"unknown": "x"}}`, 'rows[0].unknown'],
    ];
    for (const [lines, expected] of cases) {
      const { status, text } = await edit(way, id, lines);
      expect([lines, status, text]).toEqual([lines, 400, expect.stringContaining(expected)]);
    }
    expect((await edit(way, id, [{ columns }], { baseVersion: '7' })).status).toBe(404);
    expect((await callJson(host, way, 'GET', `/datasets/${id}`)).body).toMatchObject({ latestVersion: 1, rowCount: 2 });
  });
});
