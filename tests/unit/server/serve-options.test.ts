import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../../electron/server/host-options.ts';
import { readServeOptions } from '../../../electron/server/serve-options.ts';
import { defaultDataDirectory } from '../../../electron/storage/data-directory.ts';

test('without options the port is free to choose and nothing is changed', () => {
  expect(readServeOptions([])).toEqual({
    port: null,
    dataDirectory: defaultDataDirectory(),
    isJson: false,
    isTls: false,
    fetchesModel: false,
    providerBases: {},
    endpoints: [],
  });
});

test('every option is read, those that may repeat as often as they are given', () => {
  const typed =
    '--port 0 --data-dir here --json --tls --fetch-model --provider-base OpenAi=http://a.example/v1?x=y ' +
    '--provider-base Groq=https://b.example --endpoint one=http://127.0.0.1:1/v1 --endpoint two.2=http://127.0.0.1:2';
  expect(readServeOptions(typed.split(' '))).toEqual({
    port: 0,
    dataDirectory: resolve('here'),
    isJson: true,
    isTls: true,
    fetchesModel: true,
    providerBases: { OpenAi: 'http://a.example/v1?x=y', Groq: 'https://b.example' },
    endpoints: [
      { name: 'one', baseAddress: 'http://127.0.0.1:1/v1' },
      { name: 'two.2', baseAddress: 'http://127.0.0.1:2' },
    ],
  });
});

test.each([
  ['--port x', /--port takes a number/],
  ['--port 65536', /--port takes a number/],
  ['--port', /--port/],
  ['--port -1', /--port/],
  ['--data-dir=', /--data-dir takes the path/],
  ['--prot 1', /--prot/],
  ['here', /usage: npm run serve/],
  ['--json=yes', /--json/],
  ['--provider-base OpenAi', /--provider-base takes NAME=URL/],
  ['--provider-base Mistral=http://a.example', /one of OpenAi, Anthropic, GoogleGemini, Groq, Cohere/],
  ['--provider-base OpenAi=a.example', /http or https address/],
  ['--endpoint one/two=http://a.example', /--endpoint takes NAME=URL/],
  ['--endpoint one=file:///etc', /http or https address/],
])('"%s" is refused in one line', (typed, message) => {
  const read = (): unknown => readServeOptions(typed.split(' '));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/\n/);
});

test('an address that is refused is not repeated: it may hold a password', () => {
  expect(() => readServeOptions(['--endpoint', 'one=ftp://me:secret@a.example'])).not.toThrow(/secret/);
});
