import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { readUpdateAddress, type Updater } from './updates.ts';

/** The address that scripts/package.ts wrote beside the application; null without a valid one. */
export async function readFeed(): Promise<string | null> {
  if (!app.isPackaged) return null;
  try {
    const { parse } = await import('yaml');
    const { url } = parse(readFileSync(join(process.resourcesPath, 'app-update.yml'), 'utf8')) as { url?: unknown };
    return readUpdateAddress(String(url));
  } catch {
    // No such file: the package was built without an update server.
    return null;
  }
}

/** Otherwise every installation would send its own ID with each check. */
const sharedUserId = '00000000-0000-0000-0000-000000000000';

/** Loads electron-updater so that it contacts only the feed's server, and downloads and installs only on request. */
export async function loadUpdater(feed: string): Promise<Updater> {
  const { autoUpdater } = (await import('electron-updater')).default;
  autoUpdater.logger = null;
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = false;
  // Differential downloads need files of the installed version, which the server no longer has.
  autoUpdater.disableDifferentialDownload = true;
  // Downloads go to the data folder, like everything else, instead of the system's cache folder.
  const { app: adapter } = autoUpdater as unknown as { app: object };
  Object.defineProperty(adapter, 'baseCachePath', { value: app.getPath('userData') });
  Object.assign(autoUpdater, { stagingUserIdPromise: { value: Promise.resolve(sharedUserId) } });
  const { origin } = new URL(feed);
  // A release description may name files on any host, and a server may redirect.
  autoUpdater.netSession.webRequest.onBeforeRequest(({ url }, answer) =>
    answer({ cancel: new URL(url).origin !== origin }),
  );
  return autoUpdater as unknown as Updater;
}
