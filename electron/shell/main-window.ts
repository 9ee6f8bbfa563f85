import { fileURLToPath } from 'node:url';
import { BrowserWindow } from 'electron';
import { recoverFromCrashes } from './crash-recovery.ts';
import { followTheme, titleBarOptions } from './title-bar.ts';
import { windowOrigin } from './window-address.ts';
import { smallestSize } from './window-bounds.ts';
import { keepWindowState, readWindowState } from './window-state.ts';

const preload = fileURLToPath(new URL('../preload/preload.cjs', import.meta.url));

/** Opens the window where it last stood; `directory` is where its state is kept. */
export function openMainWindow(directory: string): BrowserWindow {
  const { bounds, isMaximized } = readWindowState(directory);
  const window = new BrowserWindow({
    ...bounds,
    // On a display that is smaller still, the system would keep a part of the window beyond its edge.
    minWidth: Math.min(smallestSize.width, bounds.width),
    minHeight: Math.min(smallestSize.height, bounds.height),
    show: false,
    title: 'Touchstone',
    ...titleBarOptions(),
    webPreferences: {
      preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      // The spell checker fetches its dictionaries from a server of its maker.
      spellcheck: false,
      navigateOnDragDrop: false,
    },
  });
  if (isMaximized) window.maximize();
  window.once('ready-to-show', () => window.show());
  keepWindowState(window, directory);
  followTheme(window);
  recoverFromCrashes(window);
  void window.loadURL(`${windowOrigin}/`);
  return window;
}
