import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../../electron/server/command-line.ts';
import { readServeOptions, serveHelp } from '../../../electron/server/host-options.ts';
import { defaultDataDirectory } from '../../../electron/storage/data-directory.ts';

test('uses the defaults without options', () => {
  expect(readServeOptions([])).toEqual({
    port: null,
    dataDirectory: defaultDataDirectory(),
    isJson: false,
    isTls: false,
    fetchesModel: false,
    team: null,
    teamOfflineMinutes: 60,
    providerBases: {},
    endpoints: [],
  });
});

test('reads every option, and repeatable ones several times', () => {
  const typed =
    '--port 0 --team postgres://wren@db.example/records --team-offline-minutes 5 --data-dir here --json --tls --fetch-model ' +
    '--provider-base OpenAi=http://a.example/v1/x=y --provider-base Groq=https://b.example --endpoint one=http://127.0.0.1:1/v1 --endpoint two.2=http://127.0.0.1:2';
  expect(readServeOptions(typed.split(' '))).toEqual({
    port: 0,
    team: 'postgres://wren@db.example/records',
    teamOfflineMinutes: 5,
    dataDirectory: resolve('here'),
    isJson: true,
    isTls: true,
    fetchesModel: true,
    providerBases: { OpenAi: 'http://a.example/v1/x=y', Groq: 'https://b.example' },
    endpoints: [
      { name: 'one', baseAddress: 'http://127.0.0.1:1/v1' },
      { name: 'two.2', baseAddress: 'http://127.0.0.1:2' },
    ],
  });
});

test.each([
  ['--port x', /--port must be a number/],
  ['--port 65536', /--port must be a number/],
  ['--port', /--port/],
  ['--port -1', /--port/],
  ['--data-dir=', /--data-dir must be the path/],
  ['--prot 1', /--prot/],
  ['here', /Run "npm run serve -- --help" to see all options\.$/],
  ['--json=yes', /--json/],
  ['--provider-base OpenAi', /--provider-base must be NAME=URL/],
  ['--provider-base Mistral=http://a.example', /one of OpenAi, Anthropic, GoogleGemini, Groq, Cohere/],
  ['--provider-base OpenAi=a.example', /http or https address/],
  ['--endpoint one/two=http://a.example', /--endpoint must be NAME=URL/],
  ['--endpoint one=file:///etc', /http or https address/],
  ['--endpoint one=https://a.example/v1?api-version=2', /without query, user name and password/],
  ['--endpoint one=https://me:secret@a.example/v1', /without query, user name and password/],
  ['--provider-base OpenAi=https://a.example/v1#part', /without query, user name and password/],
  ['-x', /'-x'/],
])('rejects "%s" in one line', (typed, message) => {
  const read = (): unknown => readServeOptions(typed.split(' '));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
  expect(read).not.toThrow(/\n/);
});

test.each([['--help'], ['-h'], ['--port x --help'], ['--unknown -h']])('prints help for "%s"', (typed) => {
  expect(readServeOptions(typed.split(' '))).toBeNull();
});

test('the help lists every option', () => {
  const options = '--port --data-dir --tls --json --fetch-model --provider-base --endpoint --help'.split(' ');
  expect(options.filter((option) => !serveHelp.includes(option))).toEqual([]);
});

test("doesn't repeat a rejected address, which may contain a password", () => {
  expect(() => readServeOptions(['--endpoint', 'one=ftp://me:secret@a.example'])).not.toThrow(/secret/);
});
