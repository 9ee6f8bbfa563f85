import { expect, test } from 'vitest';
import { createCallReader } from '../../../electron/passthrough/create-call-reader.ts';

test('long bodies are no longer read after the end, and short ones still are', async () => {
  const reader = createCallReader();
  const read = (length: number) =>
    reader.request({
      api: 'openai-chat',
      pathModel: null,
      encoding: '',
      body: Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(length) }] })),
      scope: 'scope',
      program: { client: null, appHeaders: {} },
      rules: [],
    });
  expect((await read(1_000_000)).model).toBe('m');
  const reading = expect(Promise.resolve(read(1_000_000))).rejects.toThrow('The host is closing.');
  await reader.close();
  await reading;
  await expect(Promise.resolve(read(1_000_000))).rejects.toThrow('The host is closing.');
  expect((await read(10)).model).toBe('m');
});

test.each([
  ['a short body', {}, 'x', true],
  ['one of 16,385 bytes', {}, 'x'.repeat(16_385), false],
  ['events', { isStream: true }, 'data: {}', false],
  ['a compressed body', { encoding: 'gzip' }, 'x', false],
  ["Gemini's streamed array", { api: 'gemini-content' }, '[', false],
  ["Gemini's object", { api: 'gemini-content' }, '{', true],
] as const)('whether a call with %s can end before it is read', async (_, form, text, isShort) => {
  const reader = createCallReader();
  const plain = { api: 'openai-chat', isJudged: false, encoding: '', isStream: false, rules: [] } as const;
  const body = reader.response({ ...plain, ...form });
  body.append(Buffer.from(text), 0);
  expect(body.short?.toString() ?? null).toBe(isShort ? text : null);
  await reader.close();
});
