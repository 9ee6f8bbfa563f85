import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../electron/providers/provider.ts';
import { requestFilesOf } from '../../../electron/providers/request-files.ts';

const chunk = 3 * 262_144;

function requestOf(contents: readonly (Buffer | string)[]): ModelRequest {
  const parts = contents.map((data, index) => ({
    type: 'file' as const,
    fileId: `id-${index}`,
    mediaType: typeof data === 'string' ? 'text/plain' : 'image/png',
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

test('texts are sent as they are', () => {
  expect(requestFilesOf(requestOf(['text']))).toBeNull();
});
