import { session } from 'electron';
import { takeOpenedFiles } from '../../shared/contract/host-specific.ts';
import { type Api, implement } from '../api/api.ts';
import { releaseStartMemory } from '../common/release-memory.ts';
import { createHost } from '../create-host.ts';
import type { Log } from '../log.ts';
import { useNetworkOf } from '../outgoing-network.ts';
import type { HostOptions } from '../server/host-options.ts';
import { createLocalServer } from '../server/local-server.ts';
import { desktopHandlers } from './desktop-handlers.ts';
import { followThemeSetting } from './main-window.ts';
import type { OpenedFiles } from './opened-files.ts';
import { withSystemProxy } from './system-proxy.ts';
import { loadUpdater, readFeed } from './update-feed.ts';
import { createUpdates } from './updates.ts';
import { startUtilityChild } from './utility-child.ts';

export interface DesktopHost {
  readonly api: Api;
  /** Records active runs as cancelled and closes the database. */
  close(): Promise<void>;
}

export interface DesktopHostOptions {
  readonly options: HostOptions;
  readonly openedFiles: OpenedFiles;
  readonly log: Log;
}

/** The host of the window. Its modules load after the window is open, so nothing that the window needs before may import this one. */
export async function startDesktopHost({ options, openedFiles, log }: DesktopHostOptions): Promise<DesktopHost> {
  const { dataDirectory, providerBases, endpoints } = options;
  const environment = await withSystemProxy(process.env, session.defaultSession);
  await useNetworkOf(environment, log);
  const feed = await readFeed();
  const updates = createUpdates({ feed, loadUpdater: () => loadUpdater(feed!), log });
  const host = await createHost({
    dataDirectory,
    providerBases,
    endpoints,
    capabilities: [
      'native-dialogs',
      'window-controls',
      'local-server-switch',
      'open-folder',
      'app-links',
      'prompt-files',
      'updates',
      ...(process.platform === 'darwin' ? [] : ['application-menu' as const]),
    ],
    environment,
    startChild: startUtilityChild,
    handlers: [
      ...desktopHandlers(dataDirectory),
      ...updates.handlers,
      implement(takeOpenedFiles, () => openedFiles.take()),
    ],
    log,
  });
  const server = createLocalServer({ host, dataDirectory, log });
  updates.follow(host.storage.settings);
  followThemeSetting(host.storage.settings);
  releaseStartMemory();
  return {
    api: host.api,
    async close() {
      updates.close();
      await server.close();
      await host.close();
    },
  };
}
