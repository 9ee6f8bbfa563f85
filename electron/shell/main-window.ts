import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { app, BrowserWindow, type BrowserWindowConstructorOptions, dialog, nativeTheme, screen } from 'electron';
import {
  type Bounds,
  firstState,
  parseWindowState,
  fitWindow,
  smallestSize,
  titleBarColours,
  titleBarHeight,
  type WindowState,
} from './window-frame.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { windowOrigin } from './window-address.ts';

function stateFile(directory: string): string {
  return join(directory, 'window-state.json');
}

function readStoredState(directory: string): WindowState {
  try {
    return parseWindowState(readFileSync(stateFile(directory), 'utf8'));
  } catch {
    return firstState;
  }
}

/** The last state of the window, moved onto the current displays. */
export function readWindowState(directory: string): { readonly bounds: Bounds; readonly isMaximized: boolean } {
  const { bounds, isMaximized } = readStoredState(directory);
  const workAreas = screen.getAllDisplays().map((display) => display.workArea);
  return { bounds: fitWindow(bounds, screen.getPrimaryDisplay().workArea, workAreas), isMaximized };
}

function writeWindowState(directory: string, state: WindowState): void {
  const file = stateFile(directory);
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
}

/** Milliseconds without a change after which the state is written, so that a crash doesn't lose it. */
const quietTime = 500;

/** Stores the window's position and size in `directory` from now on. */
export function keepWindowState(window: BrowserWindow, directory: string): void {
  let timer: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(timer);
    if (window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return;
    const theme = nativeTheme.themeSource;
    writeWindowState(directory, { bounds: window.getNormalBounds(), isMaximized: window.isMaximized(), theme });
  }

  function schedule(): void {
    clearTimeout(timer);
    timer = setTimeout(write, quietTime);
  }

  window.on('resize', schedule);
  window.on('move', schedule);
  window.on('close', write);
  window.on('closed', () => clearTimeout(timer));
}

function buttonsOverlay() {
  return {
    ...(nativeTheme.shouldUseDarkColors ? titleBarColours.dark : titleBarColours.light),
    height: titleBarHeight,
  };
}

/** The window draws its own title bar; the system only adds its buttons. */
export function titleBarOptions(): BrowserWindowConstructorOptions {
  const background = nativeTheme.shouldUseDarkColors ? titleBarColours.dark.color : titleBarColours.light.color;
  const common = { titleBarStyle: 'hidden', backgroundColor: background } as const;
  if (process.platform === 'darwin') return { ...common, trafficLightPosition: { x: 14, y: 12 } };
  return { ...common, titleBarOverlay: buttonsOverlay() };
}

/** Repaints the system's buttons when the theme changes. */
export function followTheme(window: BrowserWindow): void {
  if (process.platform === 'darwin') return;
  const repaint = (): void => window.setTitleBarOverlay(buttonsOverlay());
  nativeTheme.on('updated', repaint);
  window.on('closed', () => nativeTheme.off('updated', repaint));
}

/** Applies the theme of the last start, until the settings are read. */
export function applyLastTheme(directory: string): void {
  nativeTheme.themeSource = readStoredState(directory).theme;
}

/** Applies the theme of the settings to the whole window, including the system's parts. */
export function followThemeSetting(settings: SettingsStore): void {
  nativeTheme.themeSource = settings.read().appearance.theme;
  settings.subscribe(({ appearance }) => {
    nativeTheme.themeSource = appearance.theme;
  });
}

/** A page that crashes again within this time after a reload isn't reloaded a second time. */
const calmTime = 60_000;

/** Reloads the window when its process ends, and tells the user. Active runs were recorded as cancelled. */
export function recoverFromCrashes(window: BrowserWindow): void {
  let lastCrash = Number.NEGATIVE_INFINITY;

  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return;
    const isRepeated = Date.now() - lastCrash < calmTime;
    lastCrash = Date.now();
    if (isRepeated) {
      dialog.showErrorBox(
        "Touchstone couldn't open its window",
        'The window crashed twice. Your drafts and runs are saved.',
      );
      return app.quit();
    }
    // Not inside the event: the frame is still being destroyed, and Electron would crash.
    setImmediate(() => {
      if (!window.isDestroyed()) window.webContents.reload();
    });
    void dialog.showMessageBox(window, {
      type: 'warning',
      message: 'The window crashed and was reloaded.',
      detail: 'Your drafts are saved. Active runs are in the history as cancelled, with their partial answers.',
    });
  });
}

const preload = fileURLToPath(new URL('../preload/preload.cjs', import.meta.url));

/** Opens the window at its last position; `directory` has its state. */
export function openMainWindow(directory: string): BrowserWindow {
  const { bounds, isMaximized } = readWindowState(directory);
  const window = new BrowserWindow({
    ...bounds,
    // On a smaller display, the system would leave a part of the window beyond its edge.
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
      // The spell checker downloads its dictionaries from a server.
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
