// @module-tag slow
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxFileBytes } from '../../shared/contract/files.ts';
import { exifOf, jpegOf, pngOf } from '../support/image-files.ts';
import { callJson, rejectionOf } from '../support/json-call.ts';
import { formOf, uploadRequest, type UploadPart } from '../support/source-upload.ts';
import { startTestHost, ways, type TestHost, type Way } from '../support/test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.close());

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const storedPath = (id: string) => join(host.dataDirectory, 'files', id.slice(0, 2), id);
const incoming = () => readdirSync(join(host.dataDirectory, 'files', 'incoming'));

async function uploadFile(way: Way, parts: readonly UploadPart[], key = host.key) {
  const answer = await host.send(way, { ...uploadRequest({ key }, formOf(parts)), path: '/files' });
  return { ...answer, body: JSON.parse(answer.text) };
}

const filePart = (content: Buffer | string, fileName = '', mediaType?: string): UploadPart => ({
  name: 'file',
  content,
  fileName,
  ...(mediaType === undefined ? {} : { mediaType }),
});
const download = (way: Way, id: string, key = host.key) =>
  host.send(way, { method: 'GET', path: `/files/${id}`, headers: { authorization: `Bearer ${key}` } });

describe.each(ways)('%s: files', (way) => {
  test('an image is stored once, by its content, and downloaded', async () => {
    const png = pngOf({ width: 2 + ways.indexOf(way) });
    const created = await uploadFile(way, [filePart(png, 'räven.png', 'image/png')]);
    const file = {
      id: sha256(png),
      mediaType: 'image/png',
      name: 'räven.png',
      bytes: png.length,
      width: 2 + ways.indexOf(way),
      height: 3,
      pages: null,
    };
    expect([created.status, created.body]).toEqual([201, file]);
    const again = await uploadFile(way, [filePart(png, 'other.png')]);
    expect([again.status, again.body]).toEqual([200, { ...file, name: 'other.png' }]);
    const { status, headers } = await download(way, file.id);
    expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([200, 'image/png', 'nosniff']);
    expect(headers['content-disposition']).toBe("attachment; filename*=UTF-8''other.png");
    expect(readFileSync(storedPath(file.id))).toEqual(png);
    if (process.platform !== 'win32') expect(statSync(storedPath(file.id)).mode & 0o777).toBe(0o600);
    expect(incoming()).toEqual([]);
  });

  test('bad forms are rejected', async () => {
    const png = filePart(pngOf(), 'a.png');
    const rejections = [
      await uploadFile(way, []),
      await uploadFile(way, [png, png]),
      await uploadFile(way, [png, { name: 'keepLocation', content: 'yes' }]),
      await uploadFile(way, [png, { name: 'size', content: '1' }]),
      await uploadFile(way, [filePart('', 'a.txt')]),
    ];
    expect(rejections.map(({ status, body }) => [status, body.error.details[0]?.field])).toEqual([
      [400, 'file'],
      [400, 'file'],
      [400, 'keepLocation'],
      [400, 'size'],
      [400, 'file'],
    ]);
    expect(incoming()).toEqual([]);
  });

  test('a file of more than 20 MB is 413', async () => {
    const rejected = await uploadFile(way, [filePart(Buffer.alloc(maxFileBytes + 1), 'zeros.bin')]);
    expect(rejectionOf(rejected)).toEqual([413, 'payload_too_large', []]);
    expect(incoming()).toEqual([]);
  });
});

test('the location of a photo is removed, unless the caller keeps it', async () => {
  const photo = jpegOf({ exif: exifOf(1) });
  const clean = await uploadFile('in memory', [filePart(photo, 'a.jpg', 'image/jpg')]);
  expect(clean.body).toMatchObject({ id: sha256(jpegOf()), mediaType: 'image/jpeg', width: 640, height: 480 });
  const located = await uploadFile('in memory', [filePart(photo, 'a.jpg'), { name: 'keepLocation', content: 'true' }]);
  expect(located.body).toMatchObject({ id: sha256(photo), bytes: photo.length });
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

test.each([
  ['notes.md', '# Notes', undefined, 'text/markdown'],
  ['table.csv', 'a,b\n1,2', undefined, 'text/csv'],
  ['notes.txt', `The image is ${svg}`, 'text/plain', 'text/plain'],
  ['script.py', 'print(1)', 'text/x-python', 'text/plain'],
  ['', 'GIF8 is a signature, and this is a text.', 'text/plain', 'text/plain'],
])('text: %s', async (fileName, content, claimed, mediaType) => {
  const { status, body } = await uploadFile('in memory', [filePart(content, fileName, claimed)]);
  expect([status, body.mediaType, body.width, body.pages]).toEqual([201, mediaType, null, null]);
});

test('a PDF has pages', async () => {
  const pdf = readFileSync(join(import.meta.dirname, '../fixtures/knowledge/report.pdf'));
  const { status, body } = await uploadFile('in memory', [filePart(pdf, 'a.pdf', 'application/pdf')]);
  expect([status, body.mediaType, body.pages >= 1]).toEqual([201, 'application/pdf', true]);
});

const zip = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), Buffer.alloc(100)]);

test.each([
  ['an SVG image', filePart(svg, 'a.svg', 'image/svg+xml'), 415, 'SVG image'],
  ['an SVG image that claims to be a text', filePart(svg, 'a.txt', 'text/plain'), 415, 'SVG image'],
  ['an SVG image behind a comment', filePart(`<!--${'x'.repeat(9000)}-->${svg}`, 'a.md'), 415, 'SVG image'],
  [
    'an SVG image with a stylesheet',
    filePart(`<?xml version="1.0"?>\n<?xml-stylesheet href="a"?>${svg}`, 'a.csv'),
    415,
    'SVG',
  ],
  ['an SVG image with a prefix', filePart('<s:svg xmlns:s="http://www.w3.org/2000/svg"/>', 'a.json'), 415, 'SVG image'],
  ['an SVG image in UTF-16', filePart(Buffer.from(`\ufeff${svg}`, 'utf16le'), 'a.txt'), 415, 'SVG image'],
  ['an archive', filePart(zip, 'a.zip'), 415, 'ZIP archive'],
  ['a program', filePart(Buffer.from('MZ\x90\0\x03\0\0\0'.padEnd(200, '\0'), 'latin1'), 'a.png'), 415, 'EXE'],
  ['20 MB of zeros', filePart(Buffer.alloc(maxFileBytes), 'a.png', 'image/png'), 415, 'unknown type'],
  ['a JPEG that claims to be a PNG', filePart(jpegOf(), 'a.png', 'image/png'), 400, 'its content is image/jpeg'],
  ['a text that claims to be an image', filePart('just text', 'a.png', 'image/png'), 400, 'its content is text/plain'],
  ['an HTML page that claims to be a PDF', filePart('<html>', 'a.pdf', 'application/pdf'), 400, 'text/html'],
  ['a PNG with a billion pixels', filePart(pngOf({ width: 31_623, height: 31_623 }), 'a.png'), 400, '31,623'],
  ['a PNG that is cut off', filePart(pngOf().subarray(0, 50), 'a.png'), 400, 'damaged'],
  ['a PDF without content', filePart('%PDF-1.7\n%%EOF', 'a.pdf'), 400, 'PDF'],
])('%s is rejected with the reason', async (_what, part, status, reason) => {
  const rejected = await uploadFile('in memory', [part]);
  expect([rejected.status, rejected.body.error.message]).toEqual([status, expect.stringContaining(reason)]);
  expect(incoming()).toEqual([]);
});

test("drops the bytes after the end of a PNG, so that they don't make a second file", async () => {
  const { body } = await uploadFile('in memory', [filePart(Buffer.concat([pngOf(), zip]), 'a.png')]);
  expect(body.id).toBe(sha256(pngOf()));
});

test('a file is readable for its sender and for the scope audit, and 404 for others', async () => {
  const sender = host.issueKey({ scopes: ['run'] });
  const other = host.issueKey({ scopes: ['run'] });
  const auditor = host.issueKey({ scopes: ['audit'] });
  const { body } = await uploadFile('in memory', [filePart('only mine', 'mine.txt')], sender);
  expect((await download('in memory', body.id, sender)).text).toBe('only mine');
  expect((await download('in memory', body.id.toUpperCase(), auditor)).text).toBe('only mine');
  const rejections = [await download('in memory', body.id, other), await download('in memory', '0'.repeat(64))];
  expect(rejections.map(({ status }) => status)).toEqual([404, 404]);
  expect((await download('in memory', 'touchstone.sqlite')).status).toBe(400);
  const twice = await uploadFile('in memory', [filePart('only mine', 'theirs.txt')], other);
  expect([twice.status, twice.body.name]).toEqual([201, 'theirs.txt']);
  const noScope = await uploadFile('in memory', [filePart('x', 'x.txt')], auditor);
  expect(noScope.status).toBe(403);
});

test('reports content that is missing from the disk, until it is sent again', async () => {
  const part = filePart('soon gone', 'gone.txt');
  const { body } = await uploadFile('in memory', [part]);
  rmSync(storedPath(body.id));
  const failed = await callJson(host, 'in memory', 'GET', `/files/${body.id}`);
  expect([failed.status, failed.body.error.message]).toEqual([
    500,
    'The content of the file "gone.txt" is missing from the data folder. Send the file again.',
  ]);
  expect((await uploadFile('in memory', [part])).status).toBe(200);
  expect((await download('in memory', body.id)).text).toBe('soon gone');
});

test('a file that no run uses is removed after a day, and so is content without a row', async () => {
  const own = await startTestHost();
  const { files } = own.host;
  const form = formOf([filePart('short-lived', 'a.txt')]);
  const { text } = await own.send('in memory', { ...uploadRequest(own, form), path: '/files' });
  const path = join(own.dataDirectory, 'files', JSON.parse(text).id.slice(0, 2), JSON.parse(text).id);
  const orphan = join(own.dataDirectory, 'files', 'aa', 'aa'.repeat(32));
  mkdirSync(join(own.dataDirectory, 'files', 'aa'), { recursive: true });
  writeFileSync(orphan, 'renamed, and then the process was killed');
  await files.removeUnused();
  expect([existsSync(path), existsSync(orphan)]).toEqual([true, true]);
  utimesSync(orphan, 0, 0);
  await files.removeUnused({ now: Date.now() + 25 * 3_600_000 });
  expect([existsSync(path), existsSync(orphan)]).toEqual([false, false]);
  expect((await callJson(own, 'in memory', 'GET', `/files/${JSON.parse(text).id}`)).status).toBe(404);
  await own.close();
});

test('a file of the window stays for 30 days after it was last shown', async () => {
  const own = await startTestHost();
  const { files, storage } = own.host;
  await using received = await files.incoming();
  await received.receive({ content: Readable.from(['of a draft']), fileName: 'a.txt', mediaType: null });
  const callerId = storage.windowCallerId;
  const { file } = await received.store({ signal: AbortSignal.timeout(10_000), callerId, keepLocation: false });
  const day = 24 * 3_600_000;
  const reader = { callerId, canReadAll: true };
  const isStoredAfter = async (days: number) => {
    await files.removeUnused({ now: Date.now() + days * day });
    return files.find(file.id, reader) !== null;
  };
  expect([await isStoredAfter(2), await isStoredAfter(29)]).toEqual([true, true]);
  expect(files.keep(file.id, reader).name).toBe('a.txt');
  expect(await isStoredAfter(31)).toBe(false);
  expect(() => files.keep(file.id, reader)).toThrow('No file has this ID.');
  await own.close();
});
