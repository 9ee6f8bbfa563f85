import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  missingWatchers,
  namedAddresses,
  readRecording,
  startRecording,
  unnamedContacts,
} from '../../../scripts/recorded-connections.ts';

/** Contacts outside in every way that Node has. Nothing answers there, on any network: they are reserved for documentation. */
const program = `
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup, resolve4 } from 'node:dns/promises';
import { get } from 'node:https';
import { connect as connectHttp2 } from 'node:http2';
import { connect, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Worker, isMainThread } from 'node:worker_threads';

const ignore = () => {};
connect(Number(process.argv[2]), '127.0.0.1').on('error', ignore);
connect({ path: '/does-not-exist' }).on('error', ignore);
if (process.argv[3] === 'child') {
  connect(7, '192.0.2.7').on('error', ignore);
} else if (!isMainThread) {
  connect(8, '192.0.2.8').on('error', ignore);
} else {
  connect(1, '192.0.2.1').on('error', ignore);
  new Socket().on('error', ignore).connect({ host: '192.0.2.2', port: 2 });
  connectTls({ host: '192.0.2.3', port: 3 }).on('error', ignore);
  connectHttp2('https://192.0.2.4:4').on('error', ignore);
  get('https://192.0.2.5:5').on('error', ignore);
  fetch('http://192.0.2.6:6').catch(ignore);
  lookup('lookup.test').catch(ignore);
  resolve4('resolve.test').catch(ignore);
  createSocket('udp4').on('error', ignore).send('x', 9, '192.0.2.9');
  const child = fork(process.argv[1], [process.argv[2], 'child'], { env: { PATH: process.env.PATH }, execArgv: [] });
  const thread = new Worker(process.argv[1], { argv: process.argv.slice(2) });
  await Promise.all([child, thread].map((each) => new Promise((resolve) => each.once('exit', resolve))));
}
setTimeout(() => process.exit(), 200);
`;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('records the contacts of a process, its threads and its children, except on this device', async () => {
  const folder = temporaryFolder();
  const server = createServer((socket) => void socket.destroy()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const file = join(folder, 'contacts.mjs');
  writeFileSync(file, program);
  const environment: NodeJS.ProcessEnv = { PATH: process.env['PATH'] };
  const recording = join(folder, 'recording');
  startRecording(recording, environment);
  const { port } = server.address() as { port: number };
  await promisify(execFile)(process.execPath, [file, String(port)], { env: environment });
  const lines = readRecording(recording);
  const contacts = lines.filter(({ host }) => host !== undefined);
  expect([...new Set(contacts.map(({ host, port: to }) => `${host} ${to}`))].toSorted()).toEqual([
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `192.0.2.${number} ${number}`),
    'lookup.test null',
    'resolve.test null',
  ]);
  expect(lines.filter(({ host }) => host === undefined).map(({ program: name }) => name)).toEqual([file, file]);
  expect(unnamedContacts(lines, await namedAddresses())).toHaveLength(11);
});

test('a contact is allowed by its host and port, by a host name, or by a domain', async () => {
  const line = (host: string, port: number | null) => ({
    program: 'serve.js',
    host,
    port,
    at: 'at fetch (electron/a.ts:1)',
  });
  const named = [...(await namedAddresses()), 'https://gateway.example:8443'];
  const known: [string, number | null][] = [
    ['api.openai.com', 443],
    ['api.groq.com', null],
    ['huggingface.co', 443],
    ['cas-bridge.xethub.hf.co', 443],
    ['gateway.example', 8443],
    ['no-such-host.invalid', 443],
  ];
  expect(
    unnamedContacts(
      known.map(([host, port]) => line(host, port)),
      named,
    ),
  ).toEqual([]);
  const unknown: [string, number | null][] = [
    ['api.openai.com', 80],
    ['api.openai.com.evil.example', 443],
    ['evil-hf.co', 443],
    ['gateway.example', 443],
    ['telemetry.example', null],
  ];
  const found = unnamedContacts(
    [...unknown, ...unknown].map(([host, port]) => line(host, port)),
    named,
  );
  expect(found).toHaveLength(unknown.length);
  expect(found[0]).toBe(
    "serve.js contacted api.openai.com:80, which Settings, Privacy doesn't name, at fetch (electron/a.ts:1)",
  );
  expect(found[4]).toContain('the name telemetry.example');
});

test('detects a suite whose processes were not recorded', () => {
  const line = (name: string) => ({ program: name });
  expect(missingWatchers([], ['vitest', 'serve', 'electron'])).toHaveLength(3);
  const lines = [
    line('/p/node_modules/vitest/dist/workers/forks.js'),
    line('/p/electron/server/serve.ts'),
    line('electron'),
  ];
  expect(missingWatchers(lines, ['vitest', 'serve', 'electron'])).toEqual([]);
  expect(missingWatchers(lines.slice(0, 2), ['electron'])).toEqual([
    'No process of electron was watched: what it contacts is unknown',
  ]);
});
