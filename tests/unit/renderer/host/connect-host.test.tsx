import { expect, onTestFinished, test } from 'vitest';
import { connectHost } from '../../../../renderer/host/host-context.tsx';
import { listRuns } from '../../../../shared/contract/runs.ts';

/** What the preload script and the desktop's main process do, with a host that doesn't answer. */
function addDesktop(): { readonly requests: unknown[] } {
  const requests: unknown[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', ({ data }) => requests.push(data));
  port1.start();
  const data = {
    name: 'touchstone:port',
    host: { platform: 'linux', version: '1.2.3', capabilities: ['window-controls'] },
  };
  const requestPort = (): void => {
    // Other scripts of the page may send anything.
    for (const other of [null, undefined, 'text', { name: 'other' }])
      window.dispatchEvent(new MessageEvent('message', { data: other, source: window }));
    window.dispatchEvent(new MessageEvent('message', { data, source: window, ports: [port2] }));
  };
  Object.assign(globalThis, { touchstone: { requestPort } });
  onTestFinished(() => {
    delete (globalThis as { touchstone?: object }).touchstone;
    port1.close();
  });
  return { requests };
}

test('on the desktop knows its host before the host answers; requests wait in the port', async () => {
  const { requests } = addDesktop();
  const errors: unknown[] = [];
  const note = (event: ErrorEvent): void => {
    event.preventDefault();
    errors.push(event.message);
  };
  window.addEventListener('error', note);
  onTestFinished(() => window.removeEventListener('error', note));
  const { signal } = new AbortController();
  const { client, ...host } = await connectHost({ signal, onConnection: () => {} });
  expect(host).toEqual({ platform: 'linux', version: '1.2.3', capabilities: new Set(['window-controls']) });
  expect([requests, errors]).toEqual([[], []]);

  void client.call(listRuns, { query: {}, signal }).catch(() => {});
  await expect.poll(() => requests).toMatchObject([{ type: 'request', method: 'GET', path: '/window/runs' }]);
});
