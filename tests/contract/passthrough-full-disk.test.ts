import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/http-clients.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/scripted-provider.ts';
import { readAll } from '../support/test-host.ts';

const script = fileURLToPath(new URL('../support/full-disk-process.ts', import.meta.url));
/** Enough for an empty data folder and a few calls. */
const diskSize = '6m';
const mount = `mount -t tmpfs -o size=${diskSize} tmpfs "$1"`;
/** A disk of our own needs Linux, and namespaces that users may create. */
const canMount = spawnSync('unshare', ['-Urm', 'sh', '-c', mount, 'sh', tmpdir()]).status === 0;

let directory: string;
let provider: ScriptedProvider;
let host: ChildProcess;
let address: string;
let key: string;

beforeAll(async () => {
  if (!canMount) return;
  directory = await mkdtemp(join(tmpdir(), 'touchstone-full-'));
  provider = await startScriptedProvider((received) =>
    received.body['stream'] === true ? received.chatStream(['Bl', 'ue.']) : received.chatAnswer({ content: 'Blue.' }),
  );
  const start = `${mount} && exec "$2" "$3" "$1" "$4"`;
  const own = [directory, process.execPath, script, provider.baseAddress];
  host = spawn('unshare', ['-Urm', 'sh', '-c', start, 'sh', ...own], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const started = once(host, 'message');
  [{ address, key }] = (await started) as [{ address: string; key: string }];
});
afterAll(async () => {
  if (!canMount) return;
  if (host.exitCode === null) {
    host.kill('SIGKILL');
    await once(host, 'exit');
  }
  await provider.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 20 });
});

async function send(content: string, stream = false) {
  const { status, headers, body } = await call('HTTP/1.1', address, {
    method: 'POST',
    path: '/openai/scripted/v1/chat/completions',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content }], ...(stream && { stream }) }),
  }).response;
  return { status, recorded: headers['x-touchstone-recorded'], text: await readAll(body) };
}

async function ask(message: string): Promise<unknown> {
  const answered = once(host, 'message');
  host.send(message);
  return (await answered)[0];
}

test.skipIf(!canMount)('calls go through while the disk is really full, and are counted', async () => {
  const long = 'a long question '.repeat(16_000);
  const seen = new Set<unknown>();
  for (let index = 0; index < 60 && !seen.has('failed'); index += 1) {
    const { status, recorded, text } = await send(`${index} ${long}`, index % 2 === 1);
    seen.add(recorded);
    expect(status).toBe(200);
    expect(text.includes('ue.')).toBe(true);
    if (index % 2 === 1) expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  }
  expect([...seen]).toEqual(['all', 'failed']);
  const before = provider.calls.length;
  expect(await ask('counts')).toMatchObject({ failed: expect.any(Number), lastFailureAt: expect.any(String) });
  expect(((await ask('counts')) as { failed: number }).failed).toBeGreaterThan(0);

  await ask('block');
  const { status, text } = await send(long);
  expect([status, JSON.parse(text).error.message]).toEqual([500, expect.stringContaining('The disk is full')]);
  expect(provider.calls).toHaveLength(before);
});
