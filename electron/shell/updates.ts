import { isLoopback } from '../../shared/address-safety.ts';
import { AppError } from '../../shared/app-error.ts';
import {
  checkForUpdates,
  downloadUpdate,
  installUpdate,
  readUpdates,
  type UpdateState,
} from '../../shared/contract/host-specific.ts';
import { type Handler, implement } from '../api/api.ts';
import type { SettingsStore } from '../storage/storage.ts';

/** The address of a package's update server. Null unless it has TLS, because the check of a download relies on the description. */
export function readUpdateAddress(text: string): string | null {
  const address = URL.parse(text);
  if (!address || address.username !== '' || address.password !== '' || address.search !== '' || address.hash !== '')
    return null;
  const isSafe = address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address.href));
  return isSafe ? address.href : null;
}

interface FoundUpdate {
  readonly isUpdateAvailable: boolean;
  readonly updateInfo: { readonly version: string };
  readonly cancellationToken?: { cancel(): void };
}

/** The parts of electron-updater that are used. */
export interface Updater {
  checkForUpdates(): Promise<FoundUpdate | null>;
  downloadUpdate(cancellationToken: FoundUpdate['cancellationToken']): Promise<unknown>;
  quitAndInstall(): void;
  on(event: 'download-progress', listener: (progress: { readonly percent: number }) => void): unknown;
}

export interface UpdatesOptions {
  /** Address of the folder that describes the newest version; null if the package has none. */
  readonly feed: string | null;
  /** Called at the first check, so that nothing is loaded before. */
  readonly loadUpdater: () => Promise<Updater>;
  readonly log: (message: string, error?: unknown) => void;
}

/** In addition to the check at each start. */
const checkIntervalMs = 24 * 60 * 60_000;

function describeFailure(error: unknown, host: string): string {
  const { code = '', name = '', message = '' } = error as { code?: string; name?: string; message?: string };
  if (code === 'ERR_UPDATER_CHANNEL_FILE_NOT_FOUND') return `${host} has no release for this system.`;
  if (code === 'ERR_CHECKSUM_MISMATCH') return 'The download is damaged and was discarded. Try again.';
  if (message.startsWith('net::ERR_BLOCKED_BY_CLIENT'))
    return `${host} refers to another server. Touchstone contacts no other one.`;
  if (message.startsWith('net::')) return `Couldn't reach ${host}. Check the connection and try again.`;
  if (code.startsWith('HTTP_ERROR_'))
    return `${host} answered with status ${code.slice('HTTP_ERROR_'.length)}. Try again later.`;
  if (name === 'YAMLException' || code.startsWith('ERR_UPDATER_'))
    return `${host} sent a description of the release that can't be read.`;
  return 'The update failed for an unknown reason. The log has details.';
}

export interface Updates {
  readonly handlers: Handler[];
  /** Checks as soon as these settings enable it, and at once if they already do. */
  follow(settings: Pick<SettingsStore, 'read' | 'subscribe'>): void;
  close(): void;
}

/** Checks for updates, downloads and installs them, each only on the user's request. */
export function createUpdates({ feed, loadUpdater, log }: UpdatesOptions): Updates {
  const host = feed === null ? null : new URL(feed).host;
  const off: UpdateState = { host, status: 'off', version: null, percent: 0, failure: null, checkedAt: null };
  let state = off;
  let updater: Promise<Updater> | null = null;
  let found: FoundUpdate | null = null;
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe = (): void => {};

  /** A response after the check was turned off changes nothing. */
  function change(part: Partial<UpdateState>): void {
    if (state.status !== 'off') state = { ...state, ...part };
  }

  function fail(error: unknown): void {
    log('Checking for updates failed.', error);
    change({ status: 'failed', failure: describeFailure(error, host!) });
  }

  async function load(): Promise<Updater> {
    const loaded = await loadUpdater().catch((error: unknown) => {
      updater = null;
      throw error;
    });
    loaded.on('download-progress', ({ percent }) => change({ percent: Math.floor(percent) }));
    return loaded;
  }

  async function check(): Promise<void> {
    state = { ...state, status: 'checking', version: null, percent: 0, failure: null };
    try {
      found = await (await (updater ??= load())).checkForUpdates();
      const version = found?.isUpdateAvailable ? found.updateInfo.version : null;
      change({ status: version === null ? 'current' : 'available', version, checkedAt: new Date().toISOString() });
    } catch (error) {
      fail(error);
    }
  }

  async function download(): Promise<void> {
    change({ status: 'downloading', percent: 0 });
    try {
      await (await updater!).downloadUpdate(found?.cancellationToken);
      change({ status: 'ready', percent: 100 });
    } catch (error) {
      fail(error);
    }
  }

  function turn(isEnabled: boolean): void {
    if (isEnabled === (state.status !== 'off')) return;
    clearInterval(timer);
    if (!isEnabled) {
      found?.cancellationToken?.cancel();
      state = off;
      return;
    }
    timer = setInterval(() => {
      // The next check keeps a version that was found or downloaded.
      if (['current', 'failed'].includes(state.status)) void check();
    }, checkIntervalMs).unref();
    void check();
  }

  function requireStatus(statuses: readonly UpdateState['status'][], message: string): void {
    if (!statuses.includes(state.status)) throw new AppError('conflict', message);
  }

  return {
    handlers: [
      implement(readUpdates, () => state),
      implement(checkForUpdates, async () => {
        requireStatus(
          ['current', 'available', 'failed'],
          state.status === 'off'
            ? 'The check for updates is off. Turn it on in Settings, Updates.'
            : 'Another check or a download is running, or its result is ready.',
        );
        await check();
        return state;
      }),
      implement(downloadUpdate, () => {
        requireStatus(['available'], 'There is no update to download. Check for updates first.');
        void download();
        return state;
      }),
      implement(installUpdate, async () => {
        requireStatus(['ready'], 'There is no downloaded update to install.');
        (await updater!).quitAndInstall();
        return undefined;
      }),
    ],
    follow(settings) {
      turn(host !== null && settings.read().updates.isEnabled);
      unsubscribe = settings.subscribe(({ updates }) => turn(host !== null && updates.isEnabled));
    },
    close() {
      unsubscribe();
      clearInterval(timer);
      found?.cancellationToken?.cancel();
    },
  };
}
