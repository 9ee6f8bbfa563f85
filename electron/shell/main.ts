import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { app, BrowserWindow, dialog, session } from 'electron';
import { AppError } from '../../shared/app-error.ts';
import type { Capability } from '../../shared/contract/settings.ts';
import { hostPlatform } from '../common/host-platform.ts';
import { type HostOptions, UsageError } from '../server/command-line.ts';
import { describeFailure, redactLog } from '../log.ts';
import { describeStartFailure } from '../storage/disk-failure.ts';
import { setApplicationMenu } from './application-menu.ts';
import type { DesktopHost } from './desktop-host.ts';
import { readDesktopOptions } from './desktop-options.ts';
import { applyLastTheme, openMainWindow } from './main-window.ts';
import { prepareDirectory } from '../storage/data-directory.ts';
import { addressOfLink, linkedAddress, linkScheme, openAddress } from './window-address.ts';
import { createOpenedFiles, importAddress, promptFilesIn } from './opened-files.ts';
import { closeWaysOut, offerPorts, registerWindowScheme, serveWindowFiles } from './window-session.ts';

/** A provider or a disk that hangs must not keep the application alive. */
const maxClosingMs = 5_000;

/** Closes the host before the application exits: active runs are recorded as cancelled, and the database is written. */
function closeBeforeQuit(closeHost: () => Promise<void>): void {
  let state: 'open' | 'closing' | 'closed' = 'open';

  async function close(): Promise<void> {
    try {
      await Promise.race([closeHost(), setTimeout(maxClosingMs)]);
    } catch (error) {
      log('The host did not close cleanly.', error);
    }
    state = 'closed';
    app.exit();
  }

  app.on('will-quit', (event) => {
    if (state === 'closed') return;
    event.preventDefault();
    if (state === 'closing') return;
    state = 'closing';
    void close();
  });
}

function log(message: string, error?: unknown): void {
  console.error(error === undefined ? redactLog(message) : `${redactLog(message)} ${describeFailure(error)}`);
}

async function readOptionsOrExit(): Promise<HostOptions> {
  try {
    return await readDesktopOptions(process.argv.slice(1));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    log(error.message);
    // A user who started it from a menu has no terminal. Linux shows no message box this early.
    if (process.platform !== 'linux') dialog.showErrorBox("Touchstone couldn't start", error.message);
    process.exit(2);
  }
}

const options = await readOptionsOrExit();
/** Chromium's data of the window (drafts, caches) is in the data folder too, so one folder contains everything. */
const windowDirectory = join(options.dataDirectory, 'window');

function showWindow(): BrowserWindow {
  const [window] = BrowserWindow.getAllWindows();
  if (!window) return openMainWindow(windowDirectory);
  if (window.isMinimized()) window.restore();
  window.focus();
  return window;
}

/** Shows the window, at this address if there is one. */
function showAddress(address: string | null): BrowserWindow {
  const window = showWindow();
  if (address !== null) openAddress(window, address);
  return window;
}

/** A page that doesn't come must not keep the host from starting. */
const maxPageMs = 2_000;

const capabilities: readonly Capability[] = [
  'native-dialogs',
  'window-controls',
  'local-server-switch',
  'open-folder',
  'app-links',
  'prompt-files',
  'updates',
  ...(process.platform === 'darwin' ? [] : ['application-menu' as const]),
];

const openedFiles = createOpenedFiles();

/** The address of a command line: that of a link, or the import that shows its prompt files. */
function requestedAddress(parameters: readonly string[], folder: string): string | null {
  const files = promptFilesIn(parameters, folder).filter((file) => file !== resolve(options.dataDirectory));
  return openedFiles.add(files) ? importAddress : linkedAddress(parameters);
}

/** On a Mac links and files arrive as events, perhaps before the host has started. */
let isStarted = false;
let earlyAddress: string | null = null;

function followLinksAndFiles(): void {
  const show = (address: string | null): void => {
    if (isStarted) showAddress(address);
    else earlyAddress = address;
  };
  if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
  app.on('open-url', (event, link) => {
    event.preventDefault();
    show(addressOfLink(link));
  });
  app.on('open-file', (event, file) => {
    event.preventDefault();
    openedFiles.add([file]);
    show(importAddress);
  });
}

/**
 * The host's modules in parts, of which each blocks this thread for at most a fifth of the time that all of them take. Between them it passes
 * on the window's keys.
 */
const hostParts = [
  () => import('../../shared/contract/settings.ts'),
  () => import('../../shared/contract/index.ts'),
  () => import('../storage/open-storage.ts'),
  () => import('../comparisons/create-comparison-services.ts'),
  () => import('../passthrough/create-passthrough.ts'),
];

/** Resolves when a page has drawn what it has to draw. */
function whenDrawn({ webContents }: BrowserWindow): Promise<void> {
  return webContents.executeJavaScript('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
}

/** Loads the host's modules after the window has drawn its first screen: before, and in one go, they would delay it and the first keys. */
async function loadHost(firstRequest: Promise<void>, window: BrowserWindow): Promise<void> {
  const drawn = firstRequest.then(() => whenDrawn(window)).catch(() => undefined);
  await Promise.race([drawn, setTimeout(maxPageMs)]);
  for (const load of hostParts) {
    await load();
    await nextTurn();
  }
}

/** The window opens first, and its requests wait for the host. */
async function start(): Promise<void> {
  closeWaysOut(session.defaultSession);
  serveWindowFiles(session.defaultSession);
  const host = Promise.withResolvers<DesktopHost>();
  closeBeforeQuit(async () => (await host.promise).close());
  const firstRequest = offerPorts({ platform: hostPlatform, version: app.getVersion(), capabilities }, host.promise);
  setApplicationMenu(options.dataDirectory, showAddress);
  applyLastTheme(windowDirectory);
  isStarted = true;
  const window = showAddress(requestedAddress(process.argv, process.cwd()) ?? earlyAddress);
  app.on('activate', () => void showWindow());
  app.on('second-instance', (_event, parameters, folder) => showAddress(requestedAddress(parameters, folder)));
  await loadHost(firstRequest, window);
  const { startDesktopHost } = await import('./desktop-host.ts');
  host.resolve(startDesktopHost({ options, capabilities, openedFiles, log }));
  await host.promise;
}

function failStart(error: unknown): void {
  const startError = error instanceof AppError ? error : describeStartFailure(error);
  const message = startError?.message ?? 'Unexpected error.';
  log(`Touchstone couldn't start. ${message}`, error);
  dialog.showErrorBox("Touchstone couldn't start", `${message}\n\nData folder: ${options.dataDirectory}`);
  app.exit(1);
}

/** Creates the folder and sets it in Chromium, which allows that only before Electron is ready. */
function useWindowDirectory(): void {
  prepareDirectory(options.dataDirectory);
  mkdirSync(windowDirectory, { recursive: true, mode: 0o700 });
  // The lock below is one per user data folder, so that two data folders can be open at once.
  app.setPath('userData', windowDirectory);
}

function startOrShowOther(): void {
  if (!app.requestSingleInstanceLock()) {
    log(
      'Touchstone is already open with this data folder. Its window is shown; the options of this start have no effect.',
    );
    return app.quit();
  }
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  // Not awaited: Electron becomes ready only after this module has been evaluated.
  app.whenReady().then(start).catch(failStart);
}

// By default Electron shows a dialog with a stack trace and stops everything. An error in one request must not end the others.
process.on('uncaughtException', (error) => log('Unexpected error. Touchstone continues.', error));

registerWindowScheme();
// With V8's default of 1 MB for new objects, the window collects them every few milliseconds while it starts.
app.commandLine.appendSwitch('js-flags', '--min-semi-space-size=16');
followLinksAndFiles();
try {
  useWindowDirectory();
  startOrShowOther();
} catch (error) {
  // Before Electron is ready not every system shows a message box, and a start that only throws would stay without a window
  // forever.
  void app.whenReady().then(() => failStart(error));
}
