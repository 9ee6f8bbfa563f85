// @module-tag slow
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maximumSourceBytes } from '../../shared/contract/dataspaces.ts';
import { callJson, rejectionOf, walk } from '../support/json-call.ts';
import { addSource, formOf, openFormOf, settledSource, upload, uploadRequest } from '../support/source-upload.ts';
import { judgeError } from '../support/specification-judge.ts';
import { readAll, startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/);
const name = { name: 'name', content: 'Birds' };
const file = { name: 'file', content: 'Ravens are black.', fileName: 'birds.txt' };

/** Files that are still on their way in. */
const incoming = () => readdirSync(join(host.dataDirectory, 'sources', 'incoming'));

const search = async (way: Way, dataspaceId: string, query: string, limit?: number) =>
  callJson(host, way, 'POST', `/dataspaces/${dataspaceId}/search`, { body: { query, limit } });

/** Sends a beginning and then zeros without an end, as fast as they are taken. */
function endless(beginning: Buffer): Readable {
  return Readable.from(
    (function* () {
      yield beginning;
      for (;;) yield Buffer.alloc(65_536);
    })(),
    { objectMode: false },
  );
}

describe.each(ways)('%s: sources', (way) => {
  test('a file is accepted at once, indexed, read, listed, found and deleted', async () => {
    const { body: space } = await callJson(host, way, 'POST', '/dataspaces', { body: { name: 'Birds' } });
    const dataspaceId = { name: 'dataspaceId', content: space.id };
    const created = await upload(host, way, [file, dataspaceId, name]);
    const expected = {
      id: uuid,
      name: 'Birds',
      fileName: 'birds.txt',
      mediaType: 'text/plain',
      bytes: 17,
      failureReason: null,
      dataspaceId: space.id,
      createdAt: time,
    };
    expect([created.status, created.body]).toEqual([201, { ...expected, status: 'Processing' }]);
    const { id } = created.body;
    expect(await settledSource(host, way, id)).toEqual({ ...expected, id, status: 'Ready' });
    const listed = await walk(host, way, '/sources', 2);
    expect(listed.find((source) => source.id === id)).toEqual({ ...expected, id, status: 'Ready' });

    const found = await search(way, space.id, 'what colour are ravens?');
    expect([found.status, found.body]).toEqual([
      200,
      {
        data: [
          {
            index: 1,
            sourceId: id,
            sourceName: 'Birds',
            text: 'Ravens are black.',
            relevance: expect.any(Number),
            start: 0,
            end: 17,
          },
        ],
      },
    ]);

    const again = await callJson(host, way, 'POST', `/sources/${id.toUpperCase()}/reindex`);
    expect([again.status, again.body]).toEqual([202, { ...expected, id, status: 'Processing' }]);
    const deleted = await callJson(host, way, 'DELETE', `/sources/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await search(way, space.id, 'ravens')).body).toEqual({ data: [] });
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/reindex'],
    ] as const) {
      expect((await callJson(host, way, method, `/sources/${id}${path}`)).status).toBe(404);
    }
  });

  test('without a dataspace it is added to the one named Default', async () => {
    const one = await addSource(host, way, 'one');
    const other = await addSource(host, way, 'other');
    const space = await callJson(host, way, 'GET', `/dataspaces/${one.dataspaceId}`);
    expect([other.dataspaceId, space.body]).toEqual([
      one.dataspaceId,
      { id: one.dataspaceId, name: 'Default', createdAt: time },
    ]);
  });

  test.each([
    ['no file', [name], 400, 'file'],
    ['no name', [file], 400, 'name'],
    ['a blank name', [{ name: 'name', content: '  ' }, file], 400, 'name'],
    ['an empty file', [name, { ...file, content: '' }], 400, 'file'],
    ['an unknown field', [name, file, { name: 'colour', content: 'red' }], 400, 'colour'],
    ['an unknown dataspace', [name, file, { name: 'dataspaceId', content: randomUUID() }], 400, 'dataspaceId'],
    ['no uuid for a dataspace', [name, file, { name: 'dataspaceId', content: 'mine' }], 400, 'dataspaceId'],
    [
      'a picture that is called a text',
      [name, { ...file, content: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') }],
      415,
      'file',
    ],
  ])('rejects %s, and leaves nothing behind', async (_what, parts, status, field) => {
    const before = (await walk(host, way, '/sources', 100)).length;
    const answer = await upload(host, way, parts);
    judgeError(answer, status);
    expect([answer.status, answer.body.error.details[0]?.field]).toEqual([status, field]);
    expect(incoming()).toEqual([]);
    expect(await walk(host, way, '/sources', 100)).toHaveLength(before);
  });

  test('rejects another media type', async () => {
    const answer = await callJson(host, way, 'POST', '/sources', { body: { name: 'Birds' } });
    expect(answer.status).toBe(415);
  });

  test('rejects a file that is too large during the upload, and leaves nothing behind', async () => {
    const { response, leave } = host.begin(way, uploadRequest(host, endless(openFormOf([name, file]))));
    const { status, body } = await response;
    expect(status).toBe(413);
    expect(JSON.parse(await readAll(body))).toMatchObject({ error: { code: 'payload_too_large' } });
    expect(incoming()).toEqual([]);
    leave();
  });

  test('rejects a body with a too large length before it is sent', async () => {
    const waiting = new PassThrough();
    const headers = { 'content-length': String(2 * maximumSourceBytes) };
    const { response, leave } = host.begin(way, uploadRequest(host, waiting, headers));
    waiting.write(openFormOf([name, file]));
    expect((await response).status).toBe(413);
    leave();
  });

  test('leaves nothing behind if the caller disconnects in the middle', async () => {
    const sending = new PassThrough();
    const { leave } = host.begin(way, uploadRequest(host, sending));
    sending.write(openFormOf([name, file]));
    const drain = sending.write(Buffer.alloc(200_000)) ? null : once(sending, 'drain');
    await drain;
    await expect.poll(incoming).toHaveLength(1);
    leave();
    await expect.poll(incoming).toEqual([]);
    expect(host.log).toEqual([]);
  });

  test('a key without the scope manage, and a wrong one, reach nothing', async () => {
    const key = host.issueKey({ scopes: ['run', 'audit'] });
    expect((await host.send(way, uploadRequest({ key }, formOf([name, file])))).status).toBe(403);
    expect((await host.send(way, uploadRequest({ key: 'ts_wrong' }, formOf([name, file])))).status).toBe(401);
    for (const path of ['/sources', '/dataspaces']) {
      expect((await callJson(host, way, 'GET', path, { key })).status).toBe(403);
    }
    expect((await callJson(host, way, 'GET', '/window/knowledge/dataspaces')).status).toBe(404);
  });
});

describe.each(ways)('%s: dataspaces', (way) => {
  test('are created, listed newest first, read and deleted with their sources', async () => {
    const made = [];
    for (const dataspace of ['One', 'Two', 'Three']) {
      const { status, body } = await callJson(host, way, 'POST', '/dataspaces', { body: { name: dataspace } });
      expect([status, body]).toEqual([201, { id: uuid, name: dataspace, createdAt: time }]);
      made.push(body);
    }
    const listed = await walk(host, way, '/dataspaces', 1);
    expect(listed.slice(0, 3)).toEqual(made.toReversed());
    const [one] = made;
    const source = await addSource(host, way, 'Swans are white.', { dataspaceId: one.id });
    await settledSource(host, way, source.id);
    expect((await search(way, one.id, 'swans')).body.data).toHaveLength(1);
    expect((await callJson(host, way, 'DELETE', `/dataspaces/${one.id}`)).status).toBe(204);
    for (const path of [`/dataspaces/${one.id}`, `/sources/${source.id}`]) {
      expect((await callJson(host, way, 'GET', path)).status).toBe(404);
    }
  });

  test('rejects unknown ones with 404, and names invalid fields', async () => {
    const unknown = `/dataspaces/${randomUUID()}`;
    expect((await callJson(host, way, 'GET', unknown)).status).toBe(404);
    expect((await callJson(host, way, 'DELETE', unknown)).status).toBe(404);
    expect((await callJson(host, way, 'POST', `${unknown}/search`, { body: { query: 'x' } })).status).toBe(404);
    expect((await callJson(host, way, 'GET', '/dataspaces/mine')).status).toBe(400);
    const { body: space } = await callJson(host, way, 'POST', '/dataspaces', { body: { name: 'Space' } });
    expect(rejectionOf(await callJson(host, way, 'POST', '/dataspaces', { body: { name: ' ', size: 1 } }))).toEqual([
      400,
      'invalid_request',
      [
        { field: 'name', issue: 'must not be empty' },
        { field: 'size', issue: 'is not a known field' },
      ],
    ]);
    for (const body of [{ query: ' ' }, { query: 'x', limit: 0 }, { query: 'x', limit: 101 }, {}]) {
      expect((await callJson(host, way, 'POST', `/dataspaces/${space.id}/search`, { body })).status).toBe(400);
    }
  });
});
