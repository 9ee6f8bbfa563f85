import { fileURLToPath } from 'node:url';
import {
  app,
  ipcMain,
  type IpcMainEvent,
  MessageChannelMain,
  type MessagePortMain,
  protocol,
  type Session,
  shell,
  type WebContents,
} from 'electron';
import { readWindowFile, windowHeaders } from '../server/window-content.ts';
import { isExternalAddress, isWindowAddress, portChannel, windowOrigin, windowScheme } from './window-address.ts';
import type { Capability, HostState } from '../../shared/contract/settings.ts';
import type { FramePort, HostFrame } from '../../shared/port-frames.ts';
import type { Api } from '../api/api.ts';

const windowDirectory = fileURLToPath(new URL('../window', import.meta.url));

/** Must be called before the application is ready. */
export function registerWindowScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: windowScheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/**
 * Serves the built window, with the files and headers that the headless host gives a browser, but one: because of
 * `cross-origin-opener-policy`, Chromium would replace the page's process by a second one. No page can open this window, or be opened by it.
 *
 * `protocol.handle` is the successor of this function. It needs Node's `fetch`, whose code takes 80 ms of this thread before the first page.
 */
export function serveWindowFiles(session: Session): void {
  withoutOtherOrigins(session);
  session.protocol.registerBufferProtocol(windowScheme, (request, answer) => {
    const path = isWindowAddress(request.url) ? new URL(request.url).pathname : '';
    void readWindowFile(windowDirectory, path).then((file) => {
      const { 'cross-origin-opener-policy': _, ...headers } = file?.headers ?? windowHeaders;
      return answer(file ? { headers, data: file.body } : { headers, statusCode: 404, data: Buffer.from('Not found') });
    });
  });
}

/** Electron lets every origin read what a buffer protocol answers, and joins a header of the answer to its own. */
function withoutOtherOrigins(session: Session): void {
  session.webRequest.onHeadersReceived({ urls: [`${windowOrigin}/*`] }, ({ responseHeaders = {} }, answer) => {
    const own = Object.entries(responseHeaders).filter(
      ([name]) => name.toLowerCase() !== 'access-control-allow-origin',
    );
    answer({ responseHeaders: Object.fromEntries(own) });
  });
}

/** Links of an answer open in the system's browser. Other addresses than web addresses don't open. */
function openOutside(address: string): void {
  if (isExternalAddress(address)) void shell.openExternal(address);
}

function secureContents(contents: WebContents): void {
  contents.setWindowOpenHandler(({ url }) => {
    openOutside(url);
    return { action: 'deny' };
  });
  contents.on('will-navigate', (event) => {
    if (isWindowAddress(event.url)) return;
    event.preventDefault();
    openOutside(event.url);
  });
  contents.on('will-redirect', (event) => {
    if (!isWindowAddress(event.url)) event.preventDefault();
  });
  contents.on('will-frame-navigate', (event) => {
    if (!event.isMainFrame) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
}

/** The permissions for the copy buttons and the paste button of the key field. All others are denied without a prompt. */
const clipboard = new Set(['clipboard-sanitized-write', 'clipboard-read']);

/** Closes every way out of the window, for all present and future windows. */
export function closeWaysOut(session: Session): void {
  app.on('web-contents-created', (_event, contents) => secureContents(contents));
  session.setPermissionRequestHandler((_contents, permission, answer) => answer(clipboard.has(permission)));
  session.setPermissionCheckHandler((_contents, permission) => clipboard.has(permission));
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event, item) => {
    if (!item.getURL().startsWith('blob:')) event.preventDefault();
  });
}

/** Keeps what arrives before somebody receives it. `onFirst` is called when something has arrived. */
function framePort(port: MessagePortMain, onFirst: () => void): FramePort<unknown, HostFrame> {
  const early: unknown[] = [];
  let receive = (frame: unknown): void => {
    early.push(frame);
    onFirst();
  };
  port.on('message', (event) => receive(event.data));
  port.start();
  return {
    send: (frame) => port.postMessage(frame),
    receive(listener) {
      receive = listener;
      for (const frame of early.splice(0)) listener(frame);
    },
    onClose: (listener) => port.on('close', listener),
  };
}

/** Whether it is our own page, in the main frame: nothing else may hold a port to the service. */
function isFromWindow({ senderFrame, sender }: IpcMainEvent): boolean {
  return senderFrame !== null && senderFrame === sender.mainFrame && isWindowAddress(senderFrame.url);
}

/** What a page needs to know of the host before it draws its first screen. */
export type HostDetails = Pick<HostState, 'platform' | 'version'> & {
  readonly capabilities: readonly Capability[];
};

async function serve(frames: FramePort<unknown, HostFrame>, host: Promise<{ readonly api: Api }>): Promise<void> {
  const { api } = await host;
  // Its modules are the host's, which must not load before the window.
  const { servePort } = await import('../ipc/serve-port.ts');
  servePort(frames, api);
}

/**
 * Gives every page of the window that requests it the details of the host and a separate port to the service, which answers when there is
 * one. Resolves with the first request.
 */
export function offerPorts(details: HostDetails, host: Promise<{ readonly api: Api }>): Promise<void> {
  return new Promise((resolve) => {
    ipcMain.on(portChannel, (event) => {
      if (!isFromWindow(event)) return;
      const { port1, port2 } = new MessageChannelMain();
      const frames = framePort(port1, resolve);
      // Without a service the application ends.
      void serve(frames, host).catch(() => undefined);
      event.senderFrame?.postMessage(portChannel, details, [port2]);
    });
  });
}
