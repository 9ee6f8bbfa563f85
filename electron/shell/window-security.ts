import { app, shell, type Session, type WebContents } from 'electron';
import { isExternalAddress, isWindowAddress } from './window-address.ts';

/** Links of an answer open in the system's browser; an address that is no plain web address opens nowhere. */
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

/** What the copy buttons and the paste button of the key field need; everything else is refused without a question. */
const clipboard = new Set(['clipboard-sanitized-write', 'clipboard-read']);

/** Closes every way out of the window, for every window there will ever be. */
export function closeWaysOut(session: Session): void {
  app.on('web-contents-created', (_event, contents) => secureContents(contents));
  session.setPermissionRequestHandler((_contents, permission, answer) => answer(clipboard.has(permission)));
  session.setPermissionCheckHandler((_contents, permission) => clipboard.has(permission));
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event, item) => {
    if (!item.getURL().startsWith('blob:')) event.preventDefault();
  });
}
