import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { runKeysCommand } from '../../../electron/server/keys-command.ts';
import { openStorage } from '../../../electron/storage/open-storage.ts';

const script = fileURLToPath(new URL('../../../electron/server/keys.ts', import.meta.url));

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'touchstone-keys-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function keys(...parameters: string[]) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const status = runKeysCommand(parameters, {
    print: (line) => void printed.push(line),
    complain: (line) => void complaints.push(line),
  });
  return { status, printed, complaints };
}

function issued(...parameters: string[]): { id: string; key: string; callerId: string } {
  return JSON.parse(keys('issue', '--json', ...parameters).printed.join()) as ReturnType<typeof issued>;
}

test('a key is issued, listed and revoked', () => {
  const directory = temporaryDirectory();
  const given = issued('--name', 'ci', '--credits', '5', '--scopes', 'audit, run', '--data-dir', directory);
  expect(given).toEqual({ id: expect.any(String), key: expect.stringMatching(/^ts_/), callerId: expect.any(String) });
  const listed = () =>
    JSON.parse(keys('list', '--json', '--data-dir', directory).printed.join()) as { data: unknown[] };
  expect(listed().data).toMatchObject([
    { id: given.id, name: 'ci', callerId: given.callerId, scopes: ['run', 'audit'], creditLimit: 5, revokedAt: null },
  ]);
  expect(keys('revoke', given.id.toUpperCase(), '--data-dir', directory)).toEqual({
    status: 0,
    printed: [`Revoked ${given.id}.`],
    complaints: [],
  });
  expect(listed().data).toMatchObject([{ id: given.id, revokedAt: expect.any(String) }]);
});

test('prints the key once, and lists keys without it', () => {
  const directory = temporaryDirectory();
  const { printed } = keys('issue', '--name', 'by hand', '--data-dir', directory);
  const key = /ts_[\w-]{43}/.exec(printed.join('\n'))?.[0];
  expect(key).toBeDefined();
  const list = keys('list', '--data-dir', directory).printed.join('\n');
  expect([list.includes('by hand'), list.includes('run,audit,manage'), list.includes(key!)]).toEqual([
    true,
    true,
    false,
  ]);
});

test('works while the service runs, which sees the change at once', async () => {
  const directory = temporaryDirectory();
  const storage = openStorage({ directory });
  onTestFinished(() => storage.close());
  const given = issued('--name', 'late', '--data-dir', directory);
  expect(storage.apiKeys.authenticate(given.key)?.callerId).toBe(given.callerId);
  keys('revoke', given.id, '--data-dir', directory);
  expect(storage.apiKeys.authenticate(given.key)).toBeNull();
});

test.each([
  [[], 'Missing command: issue, list or revoke.'],
  [['rotate'], "Unknown command 'rotate'."],
  [['issue'], 'keys issue needs --name NAME.'],
  [['issue', '--name', ' '], 'Invalid --name'],
  [['issue', '--name', 'x', '--scopes', 'run,root'], "Unknown scope 'root'. The scopes are run, audit, manage."],
  [['issue', '--name', 'x', '--scopes', ''], "Unknown scope ''"],
  [['issue', '--name', 'x', '--credits', '-1'], '--credits'],
  [['issue', '--name', 'x', '--credits', '1.5'], '--credits must be a whole number'],
  [['issue', '--name', 'x', '--credits', '9999999999'], 'Invalid --credits'],
  [['issue', 'x'], 'supports only options'],
  [['list', '--name', 'x'], "doesn't support --name"],
  [['revoke'], 'keys revoke needs exactly one ID.'],
  [['revoke', 'a', 'b'], 'keys revoke needs exactly one ID.'],
  [['revoke', 'nobody'], 'No API key has this ID.'],
  [['list', '--data-dir', ''], '--data-dir must be the path'],
  [['list', '--unheard-of'], 'Unknown option \'--unheard-of\'. Run "npm run keys -- --help" to see all options.'],
  [['list', '--data-dir', '/nowhere/at/all'], 'No Touchstone data in /nowhere/at/all'],
])('rejects keys %j with status 2 and one line', (parameters, sentence) => {
  const directory = temporaryDirectory();
  issued('--name', 'first', '--data-dir', directory);
  const hasFolder = parameters.includes('--data-dir') || parameters.length === 0;
  const result = keys(...parameters, ...(hasFolder ? [] : ['--data-dir', directory]));
  expect(result).toEqual({ status: 2, printed: [], complaints: [expect.stringContaining(sentence)] });
  expect(result.complaints[0]).not.toContain('\n');
});

test.each([['--help'], ['-h'], ['issue --help'], ['issue --unknown -h']])('prints help for "keys %s"', (typed) => {
  const { status, printed, complaints } = keys(...typed.split(' '));
  expect({ status, complaints }).toEqual({ status: 0, complaints: [] });
  const text = printed.join('\n');
  const words = 'issue list revoke --name --credits --scopes --data-dir --json --help run audit manage'.split(' ');
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
});

test('prints JSON for programs, and errors with status 2 on its error output', async () => {
  const directory = temporaryDirectory();
  const run = (...parameters: string[]) => promisify(execFile)(process.execPath, [script, ...parameters]);
  const environment = { ...process.env, TOUCHSTONE_DATA_DIR: directory };
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'issue', '--name', 'p', '--json'], {
    env: environment,
  });
  expect(Object.keys(JSON.parse(stdout) as object)).toEqual(['id', 'key', 'callerId']);
  expect((await run('list', '--data-dir', directory)).stdout).toContain('  p  ');
  await expect(run('revoke', 'nobody', '--data-dir', directory)).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'No API key has this ID.\n',
  });
});
