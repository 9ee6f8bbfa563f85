import { createHost } from '../../electron/create-host.ts';
import { createMemoryKeyStore } from '../../electron/key-store/key-store.ts';
import { listen } from '../../electron/server/listen.ts';

// A host on a data folder that is its own small disk. The parent sends `block` to reverse what happens to calls that can't be recorded.
const [dataDirectory, baseAddress] = process.argv.slice(2) as [string, string];
const host = await createHost({
  dataDirectory,
  endpoints: [{ name: 'scripted', baseAddress }],
  providerBases: {},
  capabilities: [],
  environment: {},
  keyStore: createMemoryKeyStore(),
  log: () => undefined,
});
const { settings, apiKeys } = host.storage;
const { key } = apiKeys.issue({ name: 'Test' });
const listener = await listen({ api: host.api, port: 0, isTls: false, dataDirectory, window: null, log: () => {} });

async function counts(): Promise<unknown> {
  const response = await host.api.fetch(new Request('http://window.test/window/recorder'), { access: 'window' });
  return response.json();
}

process.on('message', (message) => {
  if (message === 'counts') void counts().then((read) => process.send!(read));
  // The disk has no room for the setting either, so it is only set in memory.
  if (message !== 'block') return;
  const { read } = settings;
  Object.assign(settings, { read: () => ({ ...read(), recorder: { ...read().recorder, onFailure: 'block' } }) });
  process.send!('blocked');
});
process.send!({ address: listener.address, key });
