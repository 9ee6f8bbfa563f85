import { expect, test } from 'vitest';
import { readDesktopOptions } from '../../../electron/shell/desktop-options.ts';

test('reads its own options from among those of Chromium', () => {
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

test('takes the usual data folder when none is named', () => {
  process.env['TOUCHSTONE_DATA_DIR'] = '/elsewhere';
  try {
    expect(readDesktopOptions(['--data-dir']).dataDirectory).toBe('/elsewhere');
  } finally {
    delete process.env['TOUCHSTONE_DATA_DIR'];
  }
});
