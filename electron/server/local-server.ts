import type { Settings } from '../../shared/contract/settings.ts';
import type { Host } from '../create-host.ts';
import { listen, type Listener, protocols } from './listen.ts';
import type { Log } from '../log.ts';

/** Why a listener couldn't start, and what the user can do. */
export function describePortFailure(failure: unknown, port: number): string {
  const code = (failure as NodeJS.ErrnoException | null)?.code;
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. Choose another port, or 0 for any free port.`;
  if (code === 'EACCES') return `This system doesn't allow port ${port}. Choose port 1024 or higher.`;
  return `Couldn't start the local server on port ${port}${code ? ` (${code})` : ''}.`;
}

export interface LocalServerOptions {
  readonly host: Pick<Host, 'api' | 'setServer'> & { readonly storage: Pick<Host['storage'], 'settings'> };
  /** Has the certificate of a TLS listener. */
  readonly dataDirectory: string;
  readonly log: Log;
}

type ServerSettings = Settings['localServer'];

const off = { serverAddress: null, serverFailure: null, protocols: [] };

function isSame(one: ServerSettings, other: ServerSettings): boolean {
  return one.isEnabled === other.isEnabled && one.port === other.port && one.isTls === other.isTls;
}

/**
 * The network listener of the desktop host, which follows the settings: it is off until the user enables it, and restarts when the port or
 * TLS changes. It serves only programs with API keys, never the window. If it can't start, the host's state says why.
 */
export interface LocalServer {
  /** Resolves when the current settings are applied, or the listener has failed to start. */
  ready(): Promise<void>;
  /** Stops listening and aborts active requests. */
  close(options?: { signal?: AbortSignal }): Promise<void>;
}

export function createLocalServer({ host, dataDirectory, log }: LocalServerOptions): LocalServer {
  let applied: ServerSettings = { isEnabled: false, port: 0, isTls: false };
  let listener: Listener | null = null;
  let work: Promise<void> = Promise.resolve();
  async function apply(): Promise<void> {
    const requested = host.storage.settings.read().localServer;
    if (isSame(requested, applied)) return;
    applied = requested;
    await stop();
    if (requested.isEnabled) await start(requested);
  }

  async function start({ port, isTls }: ServerSettings): Promise<void> {
    try {
      listener = await listen({ api: host.api, port, isTls, dataDirectory, window: null, log });
      host.setServer({ serverAddress: listener.address, serverFailure: null, protocols: [...protocols] });
    } catch (failure) {
      host.setServer({ ...off, serverFailure: describePortFailure(failure, port) });
    }
  }

  async function stop(options: { signal?: AbortSignal } = {}): Promise<void> {
    const closing = listener;
    listener = null;
    host.setServer(off);
    await closing?.close(options);
  }

  /** Applies one change after the other, because two listeners can't share the port. */
  function schedule(): void {
    work = work.then(apply);
  }

  const unsubscribe = host.storage.settings.subscribe(schedule);
  schedule();

  return {
    ready: () => work,
    async close(options) {
      unsubscribe();
      work = work.then(() => stop(options));
      await work;
    },
  };
}
