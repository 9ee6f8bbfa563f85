import { expect, test } from 'vitest';
import {
  decodeLookupFile,
  type LookupMock,
  maxLookupRows,
  readLookupFile,
} from '../../../../renderer/drafts/lookup-file.ts';
import { mockResult } from '../../../../shared/tool-mock.ts';

const empty: LookupMock = {
  kind: 'lookUp',
  entries: [{ arguments: {}, content: '', isError: false }],
  otherwise: 'nothing',
};
const schema = {
  type: 'object',
  properties: {
    order_id: { type: 'string' },
    days: { type: ['integer', 'null'] },
    paid: { type: 'boolean' },
    include: { type: 'array' },
  },
};
const entry = (given: object, content: string, isError = false) => ({ arguments: given, content, isError });

test('reads the columns of a CSV file as arguments of the types in the schema', () => {
  const text = [
    'order_id,days,paid,include,result,is_error',
    '12,3,true,"[""items""]","{""state"": ""in, transit""}",',
    'NW-2,,,,"two\nlines",yes',
    '',
  ].join('\r\n');
  const read = readLookupFile(text, empty, schema);
  const first = { order_id: '12', days: 3, paid: true, include: ['items'] };
  const entries = [entry(first, '{"state": "in, transit"}'), entry({ order_id: 'NW-2' }, 'two\nlines', true)];
  expect(read).toEqual({ mock: { ...empty, entries }, added: 2, skipped: [] });
  const { mock } = read as { mock: LookupMock };
  const call = { name: 'find_order', arguments: '{"include": ["items"], "days": 3, "paid": true, "order_id": "12"}' };
  expect(mockResult(mock, call)?.content).toBe('{"state": "in, transit"}');
});

test('skips and reports the rows of a CSV file that mean nothing', () => {
  const text = [
    'order_id;days;result;error',
    'NW-1;two;a;',
    'NW-2;2.5;a;',
    ';;a;',
    'NW-3;1;a;perhaps',
    'NW-4',
    'NW-5;1;a;no;more',
    'NW-6;1;a;',
    'NW-6;1;b;',
    'NW-7;1;;',
  ].join('\n');
  expect(readLookupFile(text, empty, schema)).toEqual({
    mock: { ...empty, entries: [entry({ order_id: 'NW-6', days: 1 }, 'a'), entry({ order_id: 'NW-7', days: 1 }, '')] },
    added: 2,
    skipped: [
      { row: 2, issue: 'days: "two" is not of type integer or null' },
      { row: 3, issue: 'days: "2.5" is not of type integer or null' },
      { row: 4, issue: 'has no arguments, so it would match every call' },
      { row: 5, issue: '"perhaps" must be true or false' },
      { row: 6, issue: 'has no result' },
      { row: 7, issue: 'has more cells than the first row' },
      { row: 9, issue: 'has the arguments of an earlier row' },
    ],
  });
});

test('reads a JSON list of rows or entries, and the lookup of a tool', () => {
  const text = JSON.stringify([
    { order_id: 'NW-1', result: { state: 'paid' } },
    { arguments: { order_id: 'NW-2' }, content: 'lost', isError: true },
    { arguments: { order_id: 'NW-2' }, content: 'found' },
    'NW-3',
    { order_id: 'NW-4' },
    { result: 'all' },
  ]);
  const entries = [entry({ order_id: 'NW-1' }, '{"state":"paid"}'), entry({ order_id: 'NW-2' }, 'lost', true)];
  const read = readLookupFile(text, empty, null);
  expect(read).toEqual({
    mock: { ...empty, entries },
    added: 2,
    skipped: [
      { row: 3, issue: 'has the arguments of an earlier row' },
      { row: 4, issue: 'is not an object' },
      { row: 5, issue: 'has no result' },
      { row: 6, issue: 'has no arguments, so it would match every call' },
    ],
  });
  const { mock } = read as { mock: LookupMock };
  expect(readLookupFile(JSON.stringify(mock), empty, null)).toEqual({ mock, added: 2, skipped: [] });
  expect(readLookupFile(JSON.stringify(mock), mock, null)).toMatchObject({ mock, added: 0, skipped: [{ row: 1 }, {}] });
});

test.each([
  ['', 'The first row needs a column "result"'],
  ['order_id,answer\n1,2', 'The first row needs a column "result"'],
  ['result\n1', 'The first row needs a column for an argument'],
  ['order_id,order_id,result\n1,2,3', 'Two columns have the name "order_id"'],
  ['orderId,result\n1,2', 'The tool has no parameter "orderId"'],
  ['order_id,result\n"1,2\n3,4', 'Row 2: a quotation mark is not closed or not doubled'],
  ['{"order_id": 1', "Invalid JSON at line 1, column 15: expected ',' or '}' after property value"],
  ['{"order_id": {}}', 'The file must have a list'],
])('says why a file has no rows: %j', (text, problem) => {
  expect(readLookupFile(text, empty, schema)).toEqual({ problem });
});

test('a lookup has at most 1,000 rows and 1 MB, and no row with endless levels', () => {
  const lines = Array.from({ length: maxLookupRows + 2 }, (_, index) => `NW-${index},state`);
  const read = readLookupFile(`order_id,result\n${lines.join('\n')}`, empty, schema);
  const issue = 'does not fit: a lookup has at most 1000 rows';
  expect(read).toMatchObject({
    added: maxLookupRows,
    skipped: [
      { row: 1002, issue },
      { row: 1003, issue },
    ],
  });
  const long = `order_id,result\nNW-1,${'x'.repeat(600_000)}\nNW-2,${'y'.repeat(600_000)}`;
  expect(readLookupFile(long, empty, schema)).toEqual({ problem: 'The results are longer than 1 MB in all' });
  const deep = `[{"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}, "result": "x"}]`;
  expect(readLookupFile(deep, empty, schema)).toMatchObject({
    added: 0,
    skipped: [{ row: 1, issue: 'has more than 100 levels' }],
  });
});

test('reads the encodings that spreadsheets write', async () => {
  const utf16 = new Uint8Array([
    0xff,
    0xfe,
    ...new Uint8Array(new Uint16Array([...'é'].map((c) => c.charCodeAt(0))).buffer),
  ]);
  for (const bytes of [
    utf16,
    new Uint8Array([0xc3, 0xa9]),
    new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xa9]),
    new Uint8Array([0xe9]),
  ])
    expect(await decodeLookupFile(new Blob([bytes]))).toBe('é');
});
