// @module-tag slow
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ZipFile } from 'yazl';
import { pngOf } from '../support/image-files.ts';
import { callJson } from '../support/json-call.ts';
import { patience } from '../support/patience.ts';
import { formOf, uploadRequest, type UploadPart } from '../support/source-upload.ts';
import { minimalRequest, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

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
    // Also what would be JSON in a cell of CSV.
    const mixed = [{ v: '1.0' }, { v: 'null' }, { v: '12345678901234567890' }, { v: { a: 1 } }];
    expect((await imported(way, mixed.map((row) => JSON.stringify(row)).join('\n'), 'a.jsonl')).rows).toEqual(mixed);
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
    const jsonl = `${JSON.stringify({ order: '{"no": 7}' })}\n`;
    const parsed = await imported(way, jsonl, 'a.jsonl', { types: JSON.stringify({ order: 'json' }) });
    expect(parsed.rows).toEqual([{ order: { no: 7 } }]);
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
    const badQuote = (row: number) => [
      400,
      'file',
      `The file has a quotation mark in row ${row} that is not closed or not doubled.`,
    ];
    expect(await rejected('a,b\nOne,1\n\n"Two,2\nThree,3\n', 'a.csv')).toEqual(badQuote(3));
    expect(await rejected('a,b\n"One" more,1\nTwo,2\n"Three" x,3\n', 'a.csv')).toEqual(badQuote(2));
    // Its first chunk of 64 KB ends between a quotation mark and the line end.
    const beyondOneChunk = `text,b\r\n${'One,"1"\r\n'.repeat(20_000)}One,"1" more\r\n`;
    expect(await rejected(beyondOneChunk, 'a.csv')).toEqual(badQuote(20_002));
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
    const deep = `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`;
    const nested = [400, 'file', 'The file has values that are nested too deeply.'];
    expect(await rejected(deep, 'a.jsonl')).toEqual(nested);
    // Not in the preview.
    const late = await rejected(`${'{"a": []}\n'.repeat(60)}${deep}`, 'a.jsonl');
    expect(late).toEqual([400, 'rows[60]', 'rows[60]: is nested too deeply']);
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

  const zipOf = async (files: Readonly<Record<string, string | Buffer>>) => {
    const zip = new ZipFile();
    for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content as string), path);
    zip.end();
    return buffer(zip.outputStream);
  };

  test('a ZIP file of images with a CSV file, whose cells become files', async () => {
    const [cat, dog] = [pngOf({ width: 4 }), pngOf({ width: 5 })];
    const csv = 'image,label,note\ncat.png,cat,\nimages/dog.png,dog,x\ncat.png,again,\n,none,\n';
    const zip = await zipOf({
      'pets/table.csv': csv,
      'pets/images/cat.png': cat,
      'pets/images/dog.png': dog,
      'pets/images/unused.png': 'no image',
      '__MACOSX/pets/._table.csv': 'x',
    });
    const preview = await importFile(way, zip, 'pets.zip', {}, '/datasets/import/preview');
    expect([preview.status, preview.body.columns]).toEqual([
      200,
      [
        { name: 'image', type: 'file', missing: 1 },
        { ...text('label'), missing: 0 },
        { ...text('note'), missing: 3 },
      ],
    ]);
    expect(preview.body.report).toMatchObject({ format: 'csv', sheets: ['pets/table.csv'], sheet: 'pets/table.csv' });
    const { rows } = await imported(way, zip, 'pets.zip');
    const id = (content: Buffer) => ({ fileId: createHash('sha256').update(content).digest('hex') });
    expect(rows).toEqual([
      { image: id(cat), label: 'cat', note: '' },
      { image: id(dog), label: 'dog', note: 'x' },
      { image: id(cat), label: 'again', note: '' },
      { label: 'none', note: '' },
    ]);
    const file = await callJson(host, way, 'GET', `/files/${id(dog).fileId}`);
    expect(file.status).toBe(200);
  });

  test('images that were chosen one by one are found without their folders, and missing ones reported', async () => {
    const cat = pngOf({ width: 6 });
    const { rows } = await imported(way, await zipOf({ 'a.csv': 'image\npets/cat.png\n', 'cat.png': cat }), 'a.zip');
    expect(rows).toEqual([{ image: { fileId: createHash('sha256').update(cat).digest('hex') } }]);
    const partial = await zipOf({ 'a.csv': 'image\ncat.png\ndog.png\n', 'cat.png': cat });
    const { body } = await importFile(way, partial, 'a.zip', {}, '/datasets/import/preview');
    expect(body).toMatchObject({
      columns: [{ name: 'image', type: 'text' }],
      report: { entries: [{ field: 'image', message: expect.stringContaining('did not come with'), rows: 1 }] },
    });
  });

  test('cells name files that were sent before', async () => {
    const form = formOf([{ name: 'file', content: pngOf(), fileName: 'a.png' }]);
    const { id } = JSON.parse((await host.send(way, { ...uploadRequest(host, form), path: '/files' })).text);
    const files = JSON.stringify({ 'a.png': id });
    expect(await imported(way, 'picture\na.png\n', 'a.csv', { files })).toMatchObject({
      columns: [{ name: 'picture', type: 'file' }],
      rows: [{ picture: { fileId: id } }],
    });
  });

  test('a ZIP file with samples and their graders has the checks of the graders', async () => {
    const graders = {
      testing_criteria: [
        {
          type: 'string_check',
          name: 'Same',
          input: '{{sample.output_text}}',
          operation: 'eq',
          reference: '{{item.ideal}}',
        },
      ],
    };
    const zip = await zipOf({
      'graders.json': JSON.stringify(graders),
      'notes.json': '{"about": "nothing"}',
      'samples.jsonl': '{"item": {"input": "2 + 2", "ideal": "4"}}\n',
    });
    const { status, body } = await importFile(way, zip, 'eval.zip');
    expect([status, body.report.sheet, body.report.format]).toEqual([201, 'samples.jsonl', 'openai-evals']);
    expect(body.report.checks).toEqual([expect.objectContaining({ kind: 'equals', name: 'Same', column: 'ideal' })]);
    expect(body.report.entries).toContainEqual(
      entry('imported', 'graders.json', 'Read as the definition of the rows, which has their checks', null),
    );
    expect(readdirSync(join(host.dataDirectory, 'incoming-datasets'))).toEqual([]);
  });

  test('a ZIP file with a configuration of promptfoo has the files that it refers to', async () => {
    const config = `
prompts: ['About {{topic}}: {{text}}']
defaultTest: file://shared/default.yaml
tests:
  - file://tests/*.csv
  - vars: { topic: code, text: file://texts/long.txt, more: file://../secret.txt }
    assert:
      - { type: javascript, value: file://checks/short.js }
      - { type: javascript, value: file://checks/module.js }
`;
    const zip = await zipOf({
      'evals/promptfooconfig.yaml': config,
      'evals/shared/default.yaml': 'vars: { tone: polite }\n',
      'evals/tests/a.csv': 'topic,text,__expected\ncats,Meow,contains: cat\n',
      'evals/texts/long.txt': 'A long text\n',
      'evals/checks/short.js': 'module.exports = (output, { vars }) => output.length < vars.topic.length;',
      'evals/checks/module.js': "import fs from 'node:fs';\nexport default () => true;",
    });
    const { status, body } = await importFile(way, zip, 'evals.zip');
    expect([status, body.report.format]).toEqual([201, 'promptfoo']);
    expect(await rowsOf(way, body.id)).toEqual([
      { topic: 'cats', text: 'Meow', tone: 'polite', __expected: 'cat' },
      {
        topic: 'code',
        text: 'A long text',
        tone: 'polite',
        __expected2: expect.stringContaining('output.length < vars.topic.length'),
      },
    ]);
    const skipped = body.report.entries.filter(({ outcome }: { outcome: string }) => outcome === 'skipped');
    expect(skipped).toEqual([
      entry('skipped', 'vars.more', "secret.txt isn't among the imported files; add it, or import the whole folder", 1),
      entry(
        'skipped',
        'javascript',
        'evals/checks/module.js: The code uses modules, promises or the network, which checks can not',
        1,
      ),
    ]);
    const { rows } = await imported(way, zip, 'evals.zip', { sheet: 'evals/tests/a.csv' });
    expect(rows).toEqual([{ topic: 'cats', text: 'Meow', tone: 'polite', __expected: 'cat' }]);
  });

  test('a ZIP file that cannot be read is rejected with the reason, and nothing of it stays', async () => {
    const rejected = async (content: Buffer, fields: Record<string, string> = {}) => {
      const { status, body } = await importFile(way, content, 'a.zip', fields);
      return [status, body.error.message];
    };
    expect(await rejected(await zipOf({ 'a.png': pngOf() }))).toEqual([
      400,
      'The file is a ZIP file without a table: add a CSV file that names its files.',
    ]);
    const two = await zipOf({ 'a.csv': 'x\n1\n', 'b/c.csv': 'y\n2\n' });
    expect(await rejected(two, { sheet: 'c.csv' })).toEqual([
      400,
      'The file has no table "c.csv"; it has a.csv, b/c.csv.',
    ]);
    expect((await imported(way, two, 'a.zip', { sheet: 'b/c.csv' })).rows).toEqual([{ y: '2' }]);
    expect(await rejected(two.subarray(0, two.length - 30))).toEqual([400, 'The file is a damaged ZIP file.']);
    const large = await zipOf({ 'a.csv': 'x\ny.txt\n', 'y.txt': Buffer.alloc(21 * 1_048_576, 'a') });
    expect((await rejected(large))[1]).toContain('"y.txt" in it, which is larger than 20 MB');
    const wrong = await zipOf({ 'a.csv': 'x\ny.png\n', 'y.png': pngOf().subarray(0, 20) });
    const before = (await callJson(host, way, 'GET', '/datasets?pageSize=100')).body.data.length;
    expect((await importFile(way, wrong, 'a.zip', { types: '{"x": "file"}' })).status).toBeGreaterThanOrEqual(400);
    const missing = await importFile(way, 'x\ny.png\n', 'a.csv', { types: '{"x": "file"}' });
    expect([missing.status, missing.body.error.details]).toEqual([
      400,
      [{ field: 'rows[0].x', issue: 'is the name of no file that came with the table' }],
    ]);
    expect((await callJson(host, way, 'GET', '/datasets?pageSize=100')).body.data.length).toBe(before);
    expect(readdirSync(join(host.dataDirectory, 'incoming-datasets'))).toEqual([]);
  });

  test('runs of the audit become rows with their answers and feedback', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'An answer' }));
    const run = async (body: object) =>
      (await callJson(host, way, 'POST', '/api/completions/sync', { body: { ...minimalRequest, ...body } })).body;
    const conversationId = randomUUID();
    const replacements = { topic: 'a', order: { no: 7 } };
    const first = await run({ promptText: '{{topic}} {{order.no}}', replacements, metadata: { conversationId } });
    const second = await run({ promptText: 'Plain prompt' });
    const rated = await callJson(host, way, 'PUT', `/conversations/${conversationId}/runs/${first.runId}/feedback`, {
      body: { score: 8, scoreText: 'Good', scoreTags: 'kind,short' },
    });
    expect(rated.body).toMatchObject({ score: 8 });
    const create = (body: object, key = host.key) =>
      callJson(host, way, 'POST', '/datasets/from-runs', { key, body: { name: 'Runs', ...body } });
    const runIds = [first.runId, second.runId];
    const made = await create({ selection: { runIds } });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ rowCount: 2, skippedRuns: 0 })]);
    expect(made.body.columns).toEqual([
      text('topic'),
      { name: 'order', type: 'json' },
      text('run prompt'),
      { name: 'run answer', type: 'expected' },
      text('run model'),
      { name: 'feedback score', type: 'json' },
      text('feedback comment'),
      text('feedback tags'),
      text('run ID'),
    ]);
    const model = minimalRequest.model;
    expect(await rowsOf(way, made.body.id)).toEqual([
      {
        topic: 'a',
        order: { no: 7 },
        'run answer': 'An answer',
        'run model': model,
        'feedback score': 8,
        'feedback comment': 'Good',
        'feedback tags': 'kind,short',
        'run ID': first.runId,
      },
      { 'run prompt': 'Plain prompt', 'run answer': 'An answer', 'run model': model, 'run ID': second.runId },
    ]);
    const add = (id: string, body: object) => callJson(host, way, 'POST', `/datasets/${id}/from-runs`, { body });
    const columns = [text('question'), { name: 'best', type: 'expected' }, text('run model')];
    const own = await callJson(host, way, 'POST', '/datasets', { body: { name: 'Own', columns, rows: [{}] } });
    const grown = await add(own.body.id, { runIds });
    expect([grown.status, grown.body]).toEqual([
      201,
      expect.objectContaining({ version: 2, rowCount: 3, skippedRuns: 0, note: '2 recorded runs added' }),
    ]);
    expect((await rowsOf(way, own.body.id)).slice(1)).toEqual([
      { topic: 'a', order: { no: 7 }, best: 'An answer', 'run model': model },
      { question: 'Plain prompt', best: 'An answer', 'run model': model },
    ]);
    const named = await add(own.body.id, { runIds: [second.runId], columns: { prompt: 'asked', answer: 'question' } });
    expect((await rowsOf(way, named.body.id)).at(-1)).toEqual({
      asked: 'Plain prompt',
      question: 'An answer',
      'run model': model,
    });
    expect((await add(own.body.id, { runIds: [randomUUID()] })).body.error.details).toEqual([
      { field: 'runIds[0]', issue: 'is not a run' },
    ]);
    expect((await add(randomUUID(), { runIds })).status).toBe(404);
    const selected = await create({
      selection: { filter: { hasFeedback: true } },
      answer: 'none',
      hasFeedback: false,
    });
    expect(await rowsOf(way, selected.body.id)).toEqual([
      { topic: 'a', order: { no: 7 }, 'run model': model, 'run ID': first.runId },
    ]);
    const unknown = await create({ selection: { runIds: [first.runId, randomUUID()] } });
    expect([unknown.status, unknown.body.error.details]).toEqual([
      400,
      [{ field: 'selection.runIds[1]', issue: 'is not a run' }],
    ]);
    const none = await create({ selection: { filter: { score: { min: -10, max: -10 } } } });
    expect([none.status, none.body.error.details]).toEqual([
      400,
      [{ field: 'selection.filter', issue: 'matches no run' }],
    ]);
    for (const scopes of [['audit'], ['manage']] as const) {
      expect((await create({ selection: { runIds } }, host.issueKey({ scopes: [...scopes] }))).status).toBe(403);
    }
  });

  test('a job makes a dataset of runs in the background', async () => {
    host.provider.answerWith((call) => call.chatAnswer({ content: 'An answer' }));
    const { runId } = (
      await callJson(host, way, 'POST', '/api/completions/sync', {
        body: { ...minimalRequest, promptText: 'In a job' },
      })
    ).body;
    const selection = { runIds: [runId] };
    const started = await callJson(host, way, 'POST', '/dataset-jobs', { body: { name: 'Job', selection } });
    expect([started.status, started.body]).toEqual([
      202,
      expect.objectContaining({ name: 'Job', state: 'running', datasetId: null, completedAt: null }),
    ]);
    const read = async () => (await callJson(host, way, 'GET', `/dataset-jobs/${started.body.id}`)).body;
    const job = await vi.waitUntil(async () => {
      const found = await read();
      return found.state === 'running' ? false : found;
    }, patience);
    expect(job).toMatchObject({ state: 'completed', runs: 1, readRuns: 1, skippedRuns: 0, failure: null });
    expect(await rowsOf(way, job.datasetId)).toEqual([expect.objectContaining({ 'run ID': runId })]);
    expect((await callJson(host, way, 'GET', '/dataset-jobs')).body.data[0]).toEqual(job);
    expect((await callJson(host, way, 'POST', `/dataset-jobs/${job.id}/stop`)).body).toEqual(job);
    const unknown = await callJson(host, way, 'GET', `/dataset-jobs/${randomUUID()}`);
    expect(unknown.status).toBe(404);
    const failing = { name: 'None', selection: { runIds: [randomUUID()] } };
    const { body } = await callJson(host, way, 'POST', '/dataset-jobs', { body: failing });
    const failed = await vi.waitUntil(async () => {
      const found = (await callJson(host, way, 'GET', `/dataset-jobs/${body.id}`)).body;
      return found.state === 'running' ? false : found;
    }, patience);
    expect(failed).toMatchObject({ state: 'failed', datasetId: null });
    expect(failed.failure).toContain('is not a run');
  });
});
