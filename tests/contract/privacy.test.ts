import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { contactedHosts, storedLocations } from '../../electron/privacy.ts';
import { readOrMakeCertificate } from '../../electron/server/certificate.ts';
import type { Client } from '../../renderer/host/client.ts';
import { createAuditExport } from '../../shared/contract/audit-exports.ts';
import { loadAuditSamples } from '../../shared/contract/audit-data.ts';
import { readPrivacy } from '../../shared/contract/privacy.ts';
import { linkPromptFolder } from '../../shared/contract/prompt-folders.ts';
import { addEndpoint, removeEndpoint } from '../../shared/contract/providers.ts';
import { createBackup, updateSettings } from '../../shared/contract/settings.ts';
import { addSource } from '../support/source-upload.ts';
import { startTestHost, type TestHost } from '../support/test-host.ts';
import { windowClient } from '../support/window-client.ts';

let host: TestHost;
let client: Client;
beforeAll(async () => {
  host = await startTestHost();
  client = windowClient(host.host);
});
afterAll(() => host.close());

test('every file of a used data folder is in a location that the page lists', async () => {
  await client.call(loadAuditSamples);
  await client.call(createBackup);
  await readOrMakeCertificate(host.dataDirectory, Date.now());
  await addSource(host, 'in memory', 'Pieces are taken in from Monday to Thursday.');
  await client.call(createAuditExport, {
    body: { selection: { filter: {} }, columns: ['content'], rules: [], formats: ['jsonl'], form: 'folder' },
  });
  const { locations } = await client.call(readPrivacy);
  const named = locations.flatMap(({ path }) => (path?.startsWith(host.dataDirectory) ? [basename(path)] : []));
  // A database has a log, a lock and the like beside it: `knowledge.sqlite-wal`.
  const isNamed = (file: string) => named.some((name) => file.split('.')[0] === name.split('.')[0]);
  const files = readdirSync(host.dataDirectory);
  expect(files).toEqual(expect.arrayContaining(['touchstone.sqlite', 'sources', 'backups', 'exports', 'tls']));
  expect(files.filter((file) => !isNamed(file))).toEqual([]);
  expect(isNamed('elsewhere')).toBe(false);
});

test('a linked folder is listed while it is linked, and the folder for temporary files always', async () => {
  const path = mkdtempSync(join(tmpdir(), 'touchstone-linked-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  writeFileSync(join(path, 'hello.prompt'), 'Hello');
  await client.call(linkPromptFolder, { body: { path } });
  const { locations, keychain } = await client.call(readPrivacy);
  expect(locations).toEqual(
    expect.arrayContaining([
      { kind: 'linked-folder', path },
      { kind: 'temporary', path: tmpdir() },
    ]),
  );
  expect(keychain).toBeNull();
  expect(locations.find(({ kind }) => kind === 'window')).toEqual({ kind: 'window', path: null });
  const desktop = storedLocations({ dataDirectory: '/data', isDesktop: true, linkedFolders: [] });
  expect(desktop.find(({ kind }) => kind === 'window')).toEqual({ kind: 'window', path: join('/data', 'window') });
});

test('a trace collector is confirmed by entering its address, not by a change of what is sent', async () => {
  const collector = async () =>
    (await client.call(readPrivacy)).hosts.find((entry) => entry.use === 'trace-collector')?.isConfirmed;
  const traceExport = { address: 'https://foreign.example/v1/traces', hasContent: true };
  host.host.storage.settings.update({ traceExport });
  await client.call(updateSettings, { body: { traceExport: { ...traceExport, hasContent: false } } });
  expect(await collector()).toBe(false);
  await client.call(updateSettings, { body: { traceExport: { ...traceExport, address: 'https://mine.example/v1' } } });
  expect(await collector()).toBe(true);
  await client.call(updateSettings, { body: { traceExport: { address: null, hasContent: false } } });
});

test('lists the hosts of the current settings, with what prevents contacts', async () => {
  const named = async (name: string) => (await client.call(readPrivacy)).hosts.find((entry) => entry.name === name);
  const { origin } = new URL(host.provider.baseAddress);
  expect(await named('Groq')).toEqual({
    use: 'provider',
    name: 'Groq',
    addresses: [origin],
    isReady: true,
    isConfirmed: true,
  });
  expect(await named('OpenAi')).toMatchObject({ addresses: ['https://api.openai.com'], isReady: false });
  // Earlier versions accepted such an address.
  host.host.storage.providerCache.setBaseAddress('OpenAi', 'https://user:secret@gateway.example:8443/v1?key=secret');
  expect(await named('OpenAi')).toMatchObject({ addresses: ['https://gateway.example:8443'] });
  await client.call(addEndpoint, { body: { name: 'lan', baseAddress: 'http://192.0.2.7:8000/v1' } });
  expect(await named('lan')).toMatchObject({ use: 'endpoint', addresses: ['http://192.0.2.7:8000'], isReady: true });
  await client.call(removeEndpoint, { parameters: { name: 'lan' } });
  expect(await named('lan')).toBeUndefined();
  host.host.storage.providerCache.addEndpoint({ name: 'foreign', baseAddress: 'https://foreign.example/v1' });
  expect(await named('foreign')).toMatchObject({ isReady: false, isConfirmed: false });
});

test('lists proxies, the npm registry and another Hugging Face from the environment, without their passwords', () => {
  const none = { providerStates: () => [], endpoints: () => [] };
  const addresses = (environment: Record<string, string>, registry: string | null) =>
    Object.fromEntries(
      contactedHosts(none, environment, registry, { collector: null, team: null }).map((entry) => [
        entry.use,
        entry.addresses,
      ]),
    );
  expect(addresses({}, null)).toEqual({
    'local-servers': [
      'http://127.0.0.1:11434',
      'http://127.0.0.1:1234',
      'http://127.0.0.1:8080',
      'http://127.0.0.1:8000',
    ],
    'npm-registry': [],
    'hugging-face': ['https://huggingface.co', 'https://*.hf.co'],
  });
  expect(
    addresses(
      {
        HTTPS_PROXY: 'http://me:secret@proxy.example:3128',
        http_proxy: 'socks5://proxy.example:1080',
        HF_ENDPOINT: 'https://mirror.example/hf/',
      },
      'https://npm.example/path/',
    ),
  ).toMatchObject({
    proxy: ['http://proxy.example:3128', 'socks5://proxy.example:1080'],
    'hugging-face': ['https://mirror.example'],
    'npm-registry': ['https://npm.example'],
  });
});
