import { expect, test } from 'vitest';
import { UsageError } from '../../../electron/server/host-options.ts';
import { readDesktopOptions } from '../../../electron/shell/desktop-options.ts';

test('reads its own options among those of Chromium', () => {
  const options = readDesktopOptions([
    '--inspect=0',
    '/repository',
    '--no-sandbox',
    '--data-dir',
    '/data',
    '--provider-base=OpenAi=http://127.0.0.1:1/v1?a=b',
    '--provider-base',
    'Groq=http://127.0.0.1:2',
    '--endpoint=local=http://127.0.0.1:3/v1',
    '--disable-gpu',
  ]);
  expect(options).toEqual({
    dataDirectory: '/data',
    providerBases: { OpenAi: 'http://127.0.0.1:1/v1?a=b', Groq: 'http://127.0.0.1:2' },
    endpoints: [{ name: 'local', baseAddress: 'http://127.0.0.1:3/v1' }],
  });
});

test('uses the default data folder without an option', () => {
  process.env['TOUCHSTONE_DATA_DIR'] = '/elsewhere';
  try {
    expect(readDesktopOptions(['--no-sandbox']).dataDirectory).toBe('/elsewhere');
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
])('rejects "%s", without repeating an address in it', (typed, message) => {
  const read = (): unknown => readDesktopOptions(typed.split(' '));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/secret/);
});
