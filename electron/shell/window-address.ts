import type { BrowserWindow } from 'electron';

/** The only channel between window and host. It transfers the port. The window has the same name. */
export const portChannel = 'touchstone:port';

/** The window's own scheme and address. Nothing else is ever shown in it. */
export const windowScheme = 'app';
export const windowOrigin = `${windowScheme}://touchstone`;

/** The scheme of links that the operating system gives to this application. */
export const linkScheme = 'touchstone';

/** A screen and what is open there. Any web page can have a link, so none runs a command, also not with escaped letters. */
const screenAddress = /^\/(?!commands\b)(?:[a-z-]+(?:[/?]|$)|$)/;

/** The address inside the window in a `touchstone://open/...` link; null for any other text, and for a command. */
export function addressOfLink(link: string): string | null {
  const start = `${linkScheme}://open`;
  // Links contain no control characters and spaces, and no person writes longer ones.
  if (link.length > 8000 || !link.startsWith(`${start}/`) || /[\s\p{Cc}]/u.test(link)) return null;
  const address = link.slice(start.length);
  return screenAddress.test(address) ? address : null;
}

/** Whether an address is a page of the window; a common prefix isn't enough. */
export function isWindowAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, host, username, password } = new URL(address);
  return protocol === `${windowScheme}:` && host === 'touchstone' && username === '' && password === '';
}

/** Whether an address may be opened in the system's browser: only web addresses, no `file:` and no other program's scheme. */
export function isExternalAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

/**
 * Opens an address of the window (`/settings/providers`) in the page that is already loaded: reloading it would end active
 * runs. A page that is still loading opens it when it is complete.
 */
export function openAddress(window: BrowserWindow, address: string): void {
  const { webContents } = window;
  const go = (): void =>
    void webContents.executeJavaScript(`location.hash = ${JSON.stringify(`#${address}`)}`).catch(() => {});
  if (webContents.isLoadingMainFrame() || !webContents.getURL().startsWith(windowOrigin)) {
    webContents.once('did-finish-load', go);
  } else go();
}

/** The address of the first `touchstone:` link on a command line; null without one. */
export function linkedAddress(parameters: readonly string[]): string | null {
  for (const parameter of parameters) {
    const address = addressOfLink(parameter);
    if (address !== null) return address;
  }
  return null;
}
