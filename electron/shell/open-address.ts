import type { BrowserWindow } from 'electron';
import { addressOfLink, windowOrigin } from './window-address.ts';

/**
 * Opens an address of the window (`/settings/providers`) in the page that is already loaded: loading it anew would end active
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
