import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callJson } from '../support/json-call.ts';
import { formOf, uploadRequest, type UploadPart } from '../support/source-upload.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

async function importFile(
  way: Way,
  content: string | Buffer,
  fileName: string,
  fields: Record<string, string> = {},
  path = '/datasets/import',
) {
  const parts: UploadPart[] = Object.entries(fields).map(([name, value]) => ({ name, content: value }));
  const form = formOf([...parts, { name: 'file', content, fileName }]);
  const answer = await host.send(way, { ...uploadRequest(host, form), path });
  return { status: answer.status, body: JSON.parse(answer.text) };
}

async function rowsOf(way: Way, id: string): Promise<unknown[]> {
  const { body } = await callJson(host, way, 'GET', `/datasets/${id}/rows`);
  return body.data.map(({ values }: { values: unknown }) => values);
}

async function imported(way: Way, content: string | Buffer, fileName: string, fields: Record<string, string> = {}) {
  const { status, body } = await importFile(way, content, fileName, fields);
  expect([status, body]).toEqual([201, expect.any(Object)]);
  return { columns: body.columns, rows: await rowsOf(way, body.id), name: body.name };
}

const text = (name: string) => ({ name, type: 'text' });

const entry = (outcome: string, field: string, message: string, rows: number | null) => ({
  outcome,
  field,
  message,
  rows,
});

describe.each(ways)('%s: import of datasets', (way) => {
  test('CSV of a spreadsheet with byte order mark, semicolons and line ends in quotes', async () => {
    const csv = '\uFEFFTicket;Expected;\r\n"late;\r\n""very""";sorry;\r\n\r\nbroken;;x\r\nshort\r\n';
    expect(await imported(way, csv, 'Tickets November.csv')).toEqual({
      name: 'Tickets November',
      columns: [text('Ticket'), { name: 'Expected', type: 'expected' }, text('Column 3')],
      rows: [
        { Ticket: 'late;\r\n"very"', Expected: 'sorry', 'Column 3': '' },
        { Ticket: 'broken', Expected: '', 'Column 3': 'x' },
        { Ticket: 'short' },
      ],
    });
  });

  test('CSV in UTF-16 and in the encoding of old spreadsheets, and with names that are not unique', async () => {
    const utf16 = Buffer.from('\uFEFFname\tname\nMüller\t2\n', 'utf16le');
    expect((await imported(way, utf16, 'a.tsv')).rows).toEqual([{ name: 'Müller', 'name (2)': '2' }]);
    expect((await imported(way, Buffer.from('name,city\nM\u00fcller,K\u00f6ln\n', 'latin1'), 'a.csv')).rows).toEqual([
      { name: 'Müller', city: 'Köln' },
    ]);
  });

  test('JSONL and JSON, with the items of OpenAI Evals and the names of Langfuse', async () => {
    const jsonl = '{"input": "a", "ideal": "b"}\n\n{"input": ["x"], "ideal": {"y": 1}, "n": null}\n';
    expect(await imported(way, jsonl, 'a.jsonl')).toMatchObject({
      columns: [{ name: 'input', type: 'json' }, { name: 'ideal', type: 'expected' }, text('n')],
      rows: [
        { input: 'a', ideal: 'b' },
        { input: ['x'], ideal: { y: 1 } },
      ],
    });
    expect((await imported(way, '{"item": {"q": "1"}}\n{"item": {"q": "2"}, "sample": {}}', 'evals')).rows).toEqual([
      { q: '1' },
      { q: '2' },
    ]);
    const langfuse = [{ input: { question: 'Why?' }, expectedOutput: 'So' }];
    expect(await imported(way, JSON.stringify(langfuse), 'items.json', { name: 'Items' })).toEqual({
      name: 'Items',
      columns: [
        { name: 'input', type: 'json' },
        { name: 'expectedOutput', type: 'expected' },
      ],
      rows: langfuse,
    });
  });

  test('types that the caller gives', async () => {
    const csv = 'order,answer\n"{""no"": 7}",ok\nplain,no\n';
    const types = JSON.stringify({ order: 'json', answer: 'expected' });
    expect(await imported(way, csv, 'a.csv', { types })).toMatchObject({
      columns: [
        { name: 'order', type: 'json' },
        { name: 'answer', type: 'expected' },
      ],
      rows: [{ order: { no: 7 }, answer: 'ok' }, { order: 'plain' }],
    });
  });

  test('a file that cannot be read is rejected with its line, and nothing of it stays', async () => {
    const before = (await callJson(host, way, 'GET', '/datasets?pageSize=100')).body.data.length;
    const rejected = async (content: string | Buffer, fileName: string, fields: Record<string, string> = {}) => {
      const { status, body } = await importFile(way, content, fileName, fields);
      return [status, body.error.details[0]?.field, body.error.message];
    };
    expect(await rejected('', 'a.csv')).toEqual([400, 'file', 'The file is empty.']);
    expect(await rejected('a,b\n', 'a.csv')).toEqual([400, 'file', 'The file has no rows.']);
    expect(await rejected('a,b\n1,2\n1,2,3\n', 'a.csv')).toEqual([
      400,
      'file',
      'The file has 3 cells in row 3, and 2 in its header.',
    ]);
    expect(await rejected('{"a": 1}\n{"a": \n', 'a.jsonl')).toEqual([
      400,
      'file',
      'The file has no valid JSON in line 2.',
    ]);
    expect(await rejected('{"a\\nb": 1}\n', 'a.jsonl')).toEqual([
      400,
      'file',
      'The file has a name that no column can have: "a\\nb".',
    ]);
    expect((await rejected(`${'a,'.repeat(16_383)}a\n1\n`, 'a.csv'))[2]).toContain('has 16,384 columns');
    expect(await rejected('[1]', 'a.json')).toEqual([400, 'file', 'The file has no object at [0].']);
    expect(await rejected(Buffer.from([1, 0, 2, 0]), 'a.csv')).toEqual([400, 'file', 'The file is not text.']);
    expect((await rejected('a\n1\n', 'a.csv', { types: '{"b": "json"}' })).slice(0, 2)).toEqual([400, 'types']);
    expect((await rejected('a\n1\n', 'a.csv', { types: '[]' })).slice(0, 2)).toEqual([400, 'types']);
    const many = `a\n${'1\n'.repeat(100_001)}`;
    expect((await rejected(many, 'a.csv'))[2]).toContain('this one has 100,001 or more');
    expect((await callJson(host, way, 'GET', '/datasets?pageSize=100')).body.data.length).toBe(before);
    expect(readdirSync(join(host.dataDirectory, 'incoming-datasets'))).toEqual([]);
  });
});

describe('import of datasets', () => {
  const way = 'in memory';

  test('the preview shows columns, the first rows and what an import changes, and stores nothing', async () => {
    const before = (await callJson(host, way, 'GET', '/datasets?pageSize=100')).body.data.length;
    const csv = `ticket;ticket;ideal\nM\u00fcller;${'x'.repeat(2000)};yes\n;2;\n`;
    const { status, body } = await importFile(
      way,
      Buffer.from(csv, 'latin1'),
      'Old.csv',
      {},
      '/datasets/import/preview',
    );
    expect([status, body]).toEqual([
      200,
      {
        name: 'Old',
        columns: [
          { ...text('ticket'), missing: 1 },
          { ...text('ticket (2)'), missing: 0 },
          { name: 'ideal', type: 'expected', missing: 1 },
        ],
        rowCount: 2,
        rows: [
          { ticket: 'Müller', 'ticket (2)': `${'x'.repeat(1000)}…`, ideal: 'yes' },
          { ticket: '', 'ticket (2)': '2', ideal: '' },
        ],
        report: {
          format: 'csv',
          sheets: [],
          sheet: null,
          checks: [],
          judges: [],
          entries: [
            entry('changed', 'file', 'Read as Windows-1252, because it is not valid UTF-8', null),
            entry('changed', 'ticket', 'Renamed "ticket (2)", because the name is used more than once', null),
            entry('missing', 'ticket', 'Rows have no value in this column', 1),
            entry('missing', 'ideal', 'Rows have no value in this column', 1),
          ],
        },
      },
    ]);
    expect((await callJson(host, way, 'GET', '/datasets?pageSize=100')).body.data.length).toBe(before);
    expect(readdirSync(join(host.dataDirectory, 'incoming-datasets'))).toEqual([]);
  });

  test('columns get other names, or are left out', async () => {
    const names = JSON.stringify({ 'Ticket text': 'ticket', note: null });
    const types = JSON.stringify({ 'Ticket text': 'json' });
    expect(await imported(way, 'Ticket text,note\n7,x\n', 'a.csv', { names, types })).toMatchObject({
      columns: [{ name: 'ticket', type: 'json' }],
      rows: [{ ticket: 7 }],
    });
    const rejected = async (choice: object) => {
      const { status, body } = await importFile(way, 'a,b\n1,2\n', 'a.csv', { names: JSON.stringify(choice) });
      return [status, body.error.details[0]];
    };
    expect(await rejected({ a: 'b' })).toEqual([400, { field: 'names.b', issue: 'is the name of another column' }]);
    expect(await rejected({ a: null, b: null })).toEqual([400, { field: 'names', issue: 'leave no column' }]);
    expect(await rejected({ c: 'd' })).toEqual([400, { field: 'names', issue: 'has no column "c"' }]);
    expect((await rejected({ a: '' }))[0]).toBe(400);
  });
});
