import { session } from 'electron';
import { takeOpenedFiles } from '../../shared/contract/host-specific.ts';
import { maxRequestBytes } from '../../shared/contract/prompt-transfer.ts';
import type { Capability } from '../../shared/contract/settings.ts';
import { type Api, implement } from '../api/api.ts';
import { tuneEngine } from '../common/tune-engine.ts';
import { createHost } from '../create-host.ts';
import type { Log } from '../log.ts';
import { useNetwork } from '../outgoing-network.ts';
import type { HostOptions } from '../server/command-line.ts';
import { createLocalServer } from '../server/local-server.ts';
import { desktopHandlers } from './desktop-handlers.ts';
import { followThemeSetting } from './main-window.ts';
import type { OpenedFiles } from './opened-files.ts';
import { systemNetwork } from './system-proxy.ts';
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
  readonly capabilities: readonly Capability[];
  readonly openedFiles: OpenedFiles;
  readonly log: Log;
}

/** The host of the window. Its modules load after the first screen is drawn, so nothing that the window needs before may import this one. */
export async function startDesktopHost({
  options,
  capabilities,
  openedFiles,
  log,
}: DesktopHostOptions): Promise<DesktopHost> {
  const { dataDirectory, providerBases, endpoints } = options;
  const network = await systemNetwork(process.env, session.defaultSession);
  await useNetwork(network, log);
  const feed = await readFeed();
  const updates = createUpdates({ feed, loadUpdater: () => loadUpdater(feed!), log });
  const host = await createHost({
    dataDirectory,
    providerBases,
    endpoints,
    capabilities,
    ...network,
    startChild: startUtilityChild,
    handlers: [
      ...desktopHandlers(dataDirectory),
      ...updates.handlers,
      implement(takeOpenedFiles, () => openedFiles.take(maxRequestBytes)),
    ],
    log,
  });
  const server = createLocalServer({ host, dataDirectory, log });
  updates.follow(host.storage.settings);
  followThemeSetting(host.storage.settings);
  tuneEngine();
  return {
    api: host.api,
    async close() {
      updates.close();
      await server.close();
      await host.close();
    },
  };
}
