import { expect, test } from 'vitest';
import { UsageError } from '../../../electron/server/command-line.ts';
import { readDesktopOptions } from '../../../electron/shell/desktop-options.ts';

test('reads its own options among those of Chromium', async () => {
  const options = await readDesktopOptions([
    '--inspect=0',
    '/repository',
    '--no-sandbox',
    '--data-dir',
    '/data',
    '--provider-base=OpenAi=http://127.0.0.1:1/v1/a=b',
    '--provider-base',
    'Groq=http://127.0.0.1:2',
    '--endpoint=local=http://127.0.0.1:3/v1',
    '--disable-gpu',
  ]);
  expect(options).toEqual({
    dataDirectory: '/data',
    providerBases: { OpenAi: 'http://127.0.0.1:1/v1/a=b', Groq: 'http://127.0.0.1:2' },
    endpoints: [{ name: 'local', baseAddress: 'http://127.0.0.1:3/v1' }],
  });
});

test('uses the default data folder without an option', async () => {
  process.env['TOUCHSTONE_DATA_DIR'] = '/elsewhere';
  try {
    expect(await readDesktopOptions(['--no-sandbox'])).toMatchObject({ dataDirectory: '/elsewhere' });
  } finally {
    delete process.env['TOUCHSTONE_DATA_DIR'];
  }
});

test.each([
  ['--data-dir', /--data-dir must be the path of a folder/],
  ['--data-dir --no-sandbox', /--data-dir must be the path of a folder/],
  ['--endpoint', /--endpoint must be NAME=URL/],
  ['--endpoint local', /--endpoint must be NAME=URL/],
  ['--endpoint local=ftp://me:secret@127.0.0.1', /http or https address/],
  ['--provider-base Mistral=http://127.0.0.1:1', /one of OpenAi, Anthropic/],
])('rejects "%s", without repeating an address in it', async (typed, message) => {
  const failure: unknown = await readDesktopOptions(typed.split(' ')).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UsageError);
  expect(failure).toMatchObject({ message: expect.stringMatching(message) });
  expect((failure as UsageError).message).not.toContain('secret');
});
