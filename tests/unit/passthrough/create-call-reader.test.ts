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
