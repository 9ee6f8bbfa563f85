import { expect, onTestFinished, test } from 'vitest';
import { defaultSettings, type Settings } from '../../../shared/contract/settings.ts';
import type { ServerState } from '../../../electron/create-host.ts';
import { createLocalServer } from '../../../electron/server/local-server.ts';
import { fetchText, startListener, temporaryFolder } from '../../support/http-clients.ts';

const off: ServerState = { serverAddress: null, serverFailure: null, protocols: [] };

/** A host as far as the control needs one; `state` is what its window would show. */
async function startControl(localServer: Settings['localServer']) {
  let settings = { ...defaultSettings, localServer };
  const listeners = new Set<(settings: Settings) => void>();
  const seen: { state: ServerState } = { state: off };
  const control = createLocalServer({
    host: {
      api: { fetch: async (_request, { access }) => new Response(access), isKnown: () => true },
      setServer: (state) => void (seen.state = state),
      storage: {
        settings: {
          read: () => settings,
          update: () => settings,
          subscribe(listener) {
            listeners.add(listener);
            return () => listeners.delete(listener);
          },
        },
      },
    },
    dataDirectory: await temporaryFolder(),
    log: () => {},
  });
  onTestFinished(() => control.close());
  const set = async (change: Partial<Settings['localServer']>) => {
    settings = { ...settings, localServer: { ...settings.localServer, ...change } };
    listeners.forEach((listener) => listener(settings));
    await control.ready();
    return seen.state;
  };
  await control.ready();
  return { control, seen, set, listeners };
}

test('the local server is off by default', async () => {
  const { seen, set } = await startControl({ isEnabled: false, port: 0, isTls: false });
  expect(seen.state).toEqual(off);
  const state = await set({ isEnabled: true });
  expect(state).toMatchObject({ serverFailure: null, protocols: ['HTTP/1.1', 'HTTP/2'] });
  expect((await fetchText('HTTP/2', String(state.serverAddress))).text).toBe('network');
});

test('it follows the settings at the start and later', async () => {
  const { seen, set } = await startControl({ isEnabled: true, port: 0, isTls: false });
  const address = String(seen.state.serverAddress);
  expect((await fetchText('HTTP/1.1', address)).text).toBe('network');
  expect(await set({ isEnabled: false })).toEqual(off);
  await expect(fetchText('HTTP/1.1', address)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test("it doesn't serve the window", async () => {
  const { seen } = await startControl({ isEnabled: true, port: 0, isTls: false });
  const answer = await fetchText('HTTP/1.1', String(seen.state.serverAddress), { path: '/?token=' });
  expect([answer.status, answer.text]).toEqual([200, 'network']);
});

test('it restarts when TLS is switched on', async () => {
  const { set } = await startControl({ isEnabled: true, port: 0, isTls: false });
  const { serverAddress } = await set({ isTls: true });
  expect(serverAddress).toMatch(/^https:/);
  expect((await fetchText('HTTP/2 over TLS', String(serverAddress))).text).toBe('network');
});

test('it ignores changes of other settings', async () => {
  const { seen, set } = await startControl({ isEnabled: true, port: 0, isTls: false });
  const before = seen.state.serverAddress;
  expect((await set({})).serverAddress).toBe(before);
});

test("it reports why it couldn't start, and starts after the port changes", async () => {
  const { port } = await startListener(async () => new Response());
  const { seen, set } = await startControl({ isEnabled: true, port, isTls: false });
  expect(seen.state).toEqual({
    serverAddress: null,
    serverFailure: `Port ${port} is already in use. Choose another port, or 0 for any free port.`,
    protocols: [],
  });
  expect(await set({ port: 0 })).toMatchObject({ serverAddress: expect.any(String), serverFailure: null });
});

test('closing it stops listening and unsubscribes from the settings', async () => {
  const { control, seen, listeners } = await startControl({ isEnabled: true, port: 0, isTls: false });
  const address = String(seen.state.serverAddress);
  await control.close();
  await expect(fetchText('HTTP/1.1', address)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect([seen.state, listeners.size]).toEqual([off, 0]);
});
