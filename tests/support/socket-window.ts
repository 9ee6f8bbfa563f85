import { onTestFinished, vi } from 'vitest';
import type { Api } from '../../electron/api/api.ts';
import { createDownloadTickets } from '../../electron/server/browser-window.ts';
import { sessionHeader, sessionStorageKey } from '../../shared/window-socket.ts';
import { fetchText, startListener, temporaryFolder } from './http-clients.ts';
import { readSession } from './sign-in.ts';

/**
 * A listener with a window, and this process in the place of the browser that was let in: `location`, `localStorage` and
 * `WebSocket` are those of its page.
 */
export async function startSocketWindow(fetch: Api['fetch'], { isTls = false } = {}) {
  const folder = await temporaryFolder();
  const window = {
    directory: folder,
    token: 'start-up-token',
    downloads: createDownloadTickets(),
    onNewAddress: () => {},
  };
  const listener = await startListener(fetch, { window, isTls, dataDirectory: folder });
  const transport = isTls ? 'HTTP/1.1 over TLS' : 'HTTP/1.1';
  const answer = await fetchText(transport, listener.address, { path: '/?token=start-up-token' });
  const session = readSession(answer.headers['set-cookie'], answer.text);
  const { cookie = '' } = session;
  const secret = session[sessionHeader] as string;
  const sockets: WebSocket[] = [];
  class PageSocket extends WebSocket {
    constructor(address: URL, protocols: string[]) {
      super(address, { protocols, headers: { cookie, origin: listener.address } } as never);
      sockets.push(this);
    }
  }
  vi.stubGlobal('location', { origin: listener.address });
  vi.stubGlobal('localStorage', { getItem: (key: string) => (key === sessionStorageKey ? secret : null) });
  vi.stubGlobal('WebSocket', PageSocket);
  onTestFinished(() => void vi.unstubAllGlobals());
  return { ...listener, cookie, secret, sockets };
}
