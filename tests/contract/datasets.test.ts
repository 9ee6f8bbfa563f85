import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pngOf } from '../support/image-files.ts';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import { formOf, uploadRequest } from '../support/source-upload.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const columns = [
  { name: 'ticket', type: 'text' },
  { name: 'answer', type: 'expected' },
];
const input = { name: 'Tickets', columns, rows: [{ ticket: 'Late', answer: 'sorry' }, { ticket: 'Broken' }] };

async function create(way: Way, change: Record<string, unknown> = {}) {
  const answer = await callJson(host, way, 'POST', '/datasets', { body: { ...input, ...change } });
  expect([answer.status, answer.body]).toEqual([201, expect.any(Object)]);
  return answer.body;
}

const addVersion = (way: Way, id: string, body: unknown) =>
  callJson(host, way, 'POST', `/datasets/${id}/versions`, { body });
const rowsOf = async (way: Way, id: string, query = '') =>
  (await callJson(host, way, 'GET', `/datasets/${id}/rows${query}`)).body.data as {
    id: string;
    values: Record<string, unknown>;
  }[];
const idsOf = async (way: Way, id: string, query = '') => (await rowsOf(way, id, query)).map((row) => row.id);

describe.each(ways)('%s: datasets', (way) => {
  test('a dataset is created, read, renamed, listed and deleted', async () => {
    const created = await create(way);
    expect(created).toEqual({
      id: expect.any(String),
      name: 'Tickets',
      createdAt: time,
      updatedAt: time,
      version: 1,
      latestVersion: 1,
      columns,
      rowCount: 2,
      bytes: '{"answer":"sorry","ticket":"Late"}'.length + '{"ticket":"Broken"}'.length,
      note: null,
      comparisonCount: 0,
    });
    const read = await callJson(host, way, 'GET', `/datasets/${created.id}`);
    expect([read.status, read.body]).toEqual([200, created]);
    const renamed = await callJson(host, way, 'PATCH', `/datasets/${created.id}`, { body: { name: 'Letters' } });
    expect([renamed.status, renamed.body]).toEqual([200, { ...created, name: 'Letters' }]);
    expect((await walk(host, way, '/datasets', 1)).map(({ id }) => id)).toContain(created.id);
    expect((await callJson(host, way, 'DELETE', `/datasets/${created.id}`)).status).toBe(204);
    const disconnected = await callJson(host, way, 'GET', `/datasets/${created.id}`);
    expect(rejectionOf(disconnected)).toEqual([404, 'not_found', []]);
    expect((await walk(host, way, '/datasets', 5)).map(({ id }) => id)).not.toContain(created.id);
  });

  test('a row keeps its ID across versions while its values stay the same', async () => {
    const same = { ticket: 'Same' };
    const { id } = await create(way, { rows: [{ ticket: 'Late' }, same, same] });
    const first = await rowsOf(way, id);
    expect(new Set(first.map((row) => row.id)).size).toBe(3);
    const { body } = await addVersion(way, id, {
      rows: [{ ticket: 'New' }, same, { ticket: 'Late', answer: null }, same],
      note: 'One more',
    });
    expect(body).toMatchObject({ id, version: 2, latestVersion: 2, rowCount: 4, note: 'One more' });
    const ids = await idsOf(way, id);
    expect(ids.slice(1)).toEqual([first[1]!.id, first[0]!.id, first[2]!.id]);
    expect(await rowsOf(way, id, '?version=1')).toEqual(first);
    const versions = await walk(host, way, `/datasets/${id}/versions`, 1);
    expect(versions.map(({ version, rowCount }) => [version, rowCount])).toEqual([
      [2, 4],
      [1, 3],
    ]);
  });

  test('changes replace, remove and append rows of an earlier version', async () => {
    const { id } = await create(way, { rows: ['a', 'b', 'c', 'd'].map((ticket) => ({ ticket })) });
    const [a, b, c, d] = await idsOf(way, id);
    const changes = { updated: { [b!]: { ticket: 'a' } }, removed: [c], added: [{ ticket: 'e', answer: { code: 3 } }] };
    expect((await addVersion(way, id, { changes })).status).toBe(201);
    const second = await rowsOf(way, id);
    expect(second.map(({ values }) => values)).toEqual([
      { ticket: 'a' },
      { ticket: 'a' },
      { ticket: 'd' },
      { ticket: 'e', answer: { code: 3 } },
    ]);
    expect([second[0]!.id, second[2]!.id]).toEqual([a, d]);
    // From the first version, without a column and with another one.
    const body = {
      baseVersion: 1,
      columns: [
        { name: 'ticket', type: 'text' },
        { name: 'details', type: 'json' },
      ],
      changes: { updated: { [d!]: { ticket: 'd', details: { urgent: true } } } },
    };
    expect((await addVersion(way, id, body)).body).toMatchObject({ version: 3, columns: body.columns, rowCount: 4 });
    expect(await idsOf(way, id)).toEqual([a, b, c, expect.not.stringMatching(d!)]);
  });

  test('rows are read from an offset', async () => {
    const { id } = await create(way, { rows: Array.from({ length: 700 }, (_, index) => ({ ticket: `${index}` })) });
    const { body } = await callJson(host, way, 'GET', `/datasets/${id}/rows?offset=690&limit=4`);
    expect([body.offset, body.total, body.data.map((row: { values: unknown }) => row.values)]).toEqual([
      690,
      700,
      ['690', '691', '692', '693'].map((ticket) => ({ ticket })),
    ]);
    expect(await rowsOf(way, id)).toHaveLength(100);
    expect(await rowsOf(way, id, '?offset=700')).toEqual([]);
  });

  test('a file in a row is stored with it and must exist', async () => {
    const png = pngOf({ width: 20 + ways.indexOf(way) });
    const form = formOf([{ name: 'file', content: png, fileName: 'a.png' }]);
    const file = JSON.parse((await host.send(way, { ...uploadRequest(host, form), path: '/files' })).text);
    const withFile = [{ name: 'photo', type: 'file' }];
    const { id } = await create(way, { columns: withFile, rows: [{ photo: { fileId: file.id.toUpperCase() } }] });
    expect((await rowsOf(way, id))[0]!.values).toEqual({ photo: { fileId: file.id } });
    await host.host.files.removeUnused({ now: Date.now() + 3 * 86_400_000 });
    const other = host.issueKey({ scopes: ['run'] });
    const path = `/files/${file.id}`;
    const read = () => host.send(way, { method: 'GET', path, headers: { authorization: `Bearer ${other}` } });
    expect((await read()).status).toBe(200);
    const bad = { columns: withFile, rows: [{ photo: { fileId: 'f'.repeat(64) } }] };
    const rejected = await callJson(host, way, 'POST', '/datasets', { body: { ...input, ...bad } });
    expect(rejectionOf(rejected)).toEqual([
      400,
      'invalid_request',
      [{ field: 'rows[0].photo', issue: 'is not a file' }],
    ]);
  });

  test('invalid input names its field', async () => {
    const { id } = await create(way);
    const rejected = async (body: unknown, path = '/datasets') =>
      rejectionOf(await callJson(host, way, 'POST', path, { body }));
    const field = (name: string) => [400, 'invalid_request', [{ field: name, issue: expect.any(String) }]];
    const versions = `/datasets/${id}/versions`;
    expect(await rejected({ ...input, name: '' })).toEqual(field('name'));
    expect(await rejected({ ...input, columns: [] })).toEqual(field('columns'));
    expect(await rejected({ ...input, columns: [columns[0], columns[0]] })).toEqual(field('columns[1].name'));
    expect(await rejected({ ...input, columns: [{ name: 'a', type: 'number' }] })).toEqual(field('columns[0].type'));
    expect(await rejected({ ...input, rows: [{ ticket: 'a' }, { subject: 'b' }] })).toEqual(field('rows[1].subject'));
    expect(await rejected({ ...input, rows: [{ ticket: 1 }] })).toEqual(field('rows[0].ticket'));
    expect(await rejected({}, versions)).toEqual(field('rows'));
    expect(await rejected({ rows: [], changes: {} }, versions)).toEqual(field('rows'));
    expect(await rejected({ changes: { removed: ['a'] } }, versions)).toEqual(field('changes.removed[0]'));
    expect(await rejected({ changes: { updated: { a: {} } } }, versions)).toEqual(field('changes.updated.a'));
    expect(await rejected({ changes: { added: [{ x: 'y' }] } }, versions)).toEqual(field('changes.added[0].x'));
    expect(await rejected({ baseVersion: 9, rows: [] }, versions)).toEqual([404, 'not_found', []]);
    const missing = await callJson(host, way, 'GET', `/datasets/${id}?version=2`);
    expect(missing.body.error.message).toBe('The dataset has no version 2.');
    // Nothing of the rejected versions stays.
    expect((await callJson(host, way, 'GET', `/datasets/${id}`)).body).toMatchObject({ version: 1, rowCount: 2 });
  });

  test('reading needs the scope run, changing needs manage', async () => {
    const { id } = await create(way);
    const as = (scope: 'run' | 'audit' | 'manage') => host.issueKey({ scopes: [scope] });
    const status = async (method: string, key: string, path = `/datasets/${id}`) =>
      (await callJson(host, way, method, path, { key, ...(method === 'GET' ? {} : { body: input }) })).status;
    expect(
      await Promise.all([status('GET', as('run')), status('GET', as('audit')), status('GET', as('manage'))]),
    ).toEqual([200, 403, 403]);
    expect(await status('POST', as('run'), '/datasets')).toBe(403);
    expect(await status('POST', as('manage'), '/datasets')).toBe(201);
  });
});
