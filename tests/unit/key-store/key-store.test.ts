// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createKeychainKeyStore } from '../../../electron/key-store/create-key-store.ts';
import { createMemoryKeyStore } from '../../../electron/key-store/key-store.ts';
import { describeWithKeyring } from '../../support/keyring-suite.ts';
import {
  makeKeyringDirectory,
  removeKeyringDirectory,
  runWithKeyring,
  type KeyringCommandOptions,
} from '../../support/keyring.ts';

const command = [process.execPath, fileURLToPath(new URL('../../support/keyring-command.ts', import.meta.url))];
const crowded = fileURLToPath(new URL('../../support/crowded-keyring-command.ts', import.meta.url));
const keychain = { title: 'Secret Service keyring', source: 'keychain' };
const memory = { title: null, source: 'memory' };
const secret = 'sk-very-secret-0123456789';

function temporaryKeyring(): string {
  const directory = makeKeyringDirectory();
  onTestFinished(() => removeKeyringDirectory(directory));
  return directory;
}

async function inSession(keyringDirectory: string, steps: string[], change: Partial<KeyringCommandOptions> = {}) {
  const environment = { DISPLAY: '', WAYLAND_DISPLAY: '', ...change.environment };
  const result = await runWithKeyring([...command, ...steps], {
    keyring: 'unlocked',
    ...change,
    keyringDirectory,
    environment,
  });
  return result.status === 0 ? (JSON.parse(result.output) as unknown) : result;
}

/** Every regular file of a keyring, as text. `runtime` has only sockets, which the daemon removes a moment after its session. */
function filesOf(keyringDirectory: string): string[] {
  return readdirSync(keyringDirectory)
    .filter((name) => name !== 'runtime')
    .map((name) => join(keyringDirectory, name))
    .flatMap((path) => [path, ...(statSync(path).isDirectory() ? filesIn(path) : [])])
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name));

describeWithKeyring('the Secret Service keyring', () => {
  test('a key outlives the process that wrote it and the daemon, is never in plain text, and can be removed', async () => {
    const directory = temporaryKeyring();
    expect(await inSession(directory, ['read:OpenAi', `write:OpenAi=${secret}`, 'read:OpenAi'])).toEqual({
      ...keychain,
      results: [null, secret],
    });
    expect(await inSession(directory, ['read:OpenAi', 'read:Groq'])).toEqual({ ...keychain, results: [secret, null] });
    const files = filesOf(directory);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((content) => content.includes(secret))).toEqual([]);
    await inSession(directory, ['remove:OpenAi', 'remove:Groq']);
    expect(await inSession(directory, ['read:OpenAi'])).toEqual({ ...keychain, results: [null] });
  });

  test('a host with a thousand connections stores and reads keys, and gets an error instead of blocking', async () => {
    const keyringDirectory = temporaryKeyring();
    const { output, errorOutput } = await runWithKeyring([process.execPath, crowded], {
      keyring: 'unlocked',
      keyringDirectory,
    });
    expect(JSON.parse(output || errorOutput)).toEqual({
      read: 'kept',
      refusal:
        "Couldn't read the key from the keyring. Too many files and connections are open. Close some and try again.",
    });
  });

  test('a locked keyring that stays locked is no keychain: keys are in memory', async () => {
    const directory = temporaryKeyring();
    await inSession(directory, [`write:OpenAi=${secret}`]);
    const steps = ['read:OpenAi', 'write:OpenAi=other', 'read:OpenAi'];
    expect(await inSession(directory, steps, { keyring: 'locked' })).toEqual({ ...memory, results: [null, 'other'] });
  });
});

async function withBus(address: string): Promise<unknown> {
  const [program, ...parameters] = [...command, 'write:OpenAi=x', 'read:OpenAi'];
  const child = spawn(program!, parameters, {
    env: { ...process.env, DBUS_SESSION_BUS_ADDRESS: address, PROBE_MILLISECONDS: '1000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return JSON.parse(output);
}

test.runIf(process.platform === 'linux')('without a session bus keys live in memory', async () => {
  expect(await withBus('unix:path=/nowhere/bus')).toEqual({ ...memory, results: ['x'] });
});

test.runIf(process.platform === 'linux')('a session bus that hangs does not hang the host', async () => {
  const socket = join(temporaryKeyring(), 'bus');
  const connections = vi.fn();
  const server = createServer(connections).listen(socket);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  // An address has no spaces and no letters beyond ASCII, as a folder for temporary files may have.
  const path = socket.replaceAll(/[^-\w/.*]+/g, encodeURIComponent);
  expect(await withBus(`unix:path=${path}`)).toEqual({ ...memory, results: ['x'] });
  expect(connections).toHaveBeenCalled();
});

test.runIf(process.platform === 'linux')('a keychain that refuses says what to do, without the secret', () => {
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/nowhere/bus');
  onTestFinished(() => void vi.unstubAllEnvs());
  const keyStore = createKeychainKeyStore('Secret Service keyring');
  const rejected = (action: string) =>
    expect.objectContaining({
      code: 'provider_not_configured',
      message: `Couldn't ${action} the Secret Service keyring. Unlock it and try again.`,
      cause: undefined,
    });
  expect(() => keyStore.write('OpenAi', secret)).toThrow(rejected('save the key in'));
  expect(() => keyStore.read('OpenAi')).toThrow(rejected('read the key from'));
  expect(() => keyStore.remove('OpenAi')).toThrow(rejected('remove the key from'));
});

test('keeps a key in memory until it is removed', () => {
  const keyStore = createMemoryKeyStore();
  keyStore.write('OpenAi', secret);
  const present = keyStore.read('OpenAi');
  keyStore.remove('OpenAi');
  expect([present, keyStore.read('OpenAi'), keyStore.title, keyStore.source]).toEqual([secret, null, null, 'memory']);
});
