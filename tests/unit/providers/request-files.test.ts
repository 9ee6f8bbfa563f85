// @module-tag slow
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../electron/providers/provider.ts';
import { requestFilesOf } from '../../../electron/providers/request-files.ts';

const chunk = 3 * 262_144;

function requestOf(contents: readonly Buffer[], mediaType = 'image/png'): ModelRequest {
  const parts = contents.map((data, index) => ({
    type: 'file' as const,
    fileId: `id-${index}`,
    mediaType,
    name: 'a',
    bytes: data.length,
  }));
  return {
    model: 'm',
    systemMessage: null,
    messages: [{ role: 'user', content: parts }],
    files: new Map(contents.map((data, index) => [`id-${index}`, { data }])),
    configuration: {},
  };
}

test.each([0, 1, 2, 3, chunk - 1, chunk, chunk + 1, 2 * chunk + 2])(
  'a body is filled with the base64 of %i bytes, and its length is known before',
  async (length) => {
    const contents = [randomBytes(length), Buffer.from('second')];
    const files = requestFilesOf(requestOf(contents))!;
    const placeholders = [...files.request.files!.values()].map(({ data }) => data);
    const { bytes, chunks } = files.fill(`{"ä":"${placeholders.join('","')}","${placeholders[0]}":1}`);
    const [first, second] = contents.map((content) => content.toString('base64'));
    const sent = await buffer(chunks);
    expect(sent.toString('utf8')).toBe(`{"ä":"${first}","${second}","${first}":1}`);
    expect(bytes).toBe(sent.length);
  },
);

test('a stored request has a note in place of a content', () => {
  const files = requestFilesOf(requestOf([Buffer.from('secret')]))!;
  const [{ data }] = [...files.request.files!.values()] as [{ data: string }];
  expect(files.describe(`{"image":"${data}"}`)).toBe('{"image":"[file id-0, 6 bytes]"}');
});

test('short texts are left to the package', () => {
  expect(requestFilesOf(requestOf([Buffer.alloc(65_535, 'a')], 'text/plain'))).toBeNull();
});

test.each([
  ['a', 'a'],
  ['quotes and backslashes', '"\\'],
  ['line ends and controls', '\n\r\t\b\f\u0000\u001f\u007f'],
  ['two bytes', 'aé'],
  ['three bytes', '\u2028界"'],
  ['four bytes', '🐈'],
])('a body is filled with a long text as in a JSON string: %s', async (_name, piece) => {
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    const text = shift + piece.repeat(Math.ceil((2 * chunk) / piece.length));
    const files = requestFilesOf(requestOf([Buffer.from(text)], 'text/plain'))!;
    const [{ data }] = [...files.request.files!.values()] as [{ data: string }];
    const { bytes, chunks } = files.fill(`{"ä":"${data}"}`);
    const sent = await buffer(chunks);
    expect(sent.toString() === `{"ä":${JSON.stringify(text)}}`).toBe(true);
    expect(bytes).toBe(sent.length);
  }
});

test('bytes of a text that are not UTF-8 become replacement characters', async () => {
  const content = Buffer.concat([Buffer.alloc(chunk - 1, 'a'), Buffer.alloc(5, 0x80), Buffer.from('é')]);
  const files = requestFilesOf(requestOf([content], 'text/plain'))!;
  const [{ data }] = [...files.request.files!.values()] as [{ data: string }];
  const { bytes, chunks } = files.fill(`"${data}"`);
  const sent = await buffer(chunks);
  expect(JSON.parse(sent.toString()) === content.toString()).toBe(true);
  expect(bytes).toBe(sent.length);
});
