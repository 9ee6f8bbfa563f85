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

export interface ServerControlOptions {
  readonly host: Pick<Host, 'api' | 'setServer'> & { readonly storage: Pick<Host['storage'], 'settings'> };
  /** Has the certificate of a TLS listener. */
  readonly dataDirectory: string;
  readonly log: Log;
}

type LocalServer = Settings['localServer'];

const off = { serverAddress: null, serverFailure: null, protocols: [] };

function isSame(one: LocalServer, other: LocalServer): boolean {
  return one.isEnabled === other.isEnabled && one.port === other.port && one.isTls === other.isTls;
}

/**
 * The network listener of the desktop host, which follows the settings: it is off until the user enables it, and restarts when the port or
 * TLS changes. It serves only programs with API keys, never the window. If it can't start, the host's state says why.
 */
export class ServerControl {
  readonly #options: ServerControlOptions;
  readonly #unsubscribe: () => void;
  #applied: LocalServer = { isEnabled: false, port: 0, isTls: false };
  #listener: Listener | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(options: ServerControlOptions) {
    this.#options = options;
    this.#unsubscribe = options.host.storage.settings.subscribe(() => this.#schedule());
    this.#schedule();
  }

  /** Resolves when the current settings are applied, or the listener has failed to start. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Stops listening and aborts active requests. */
  async close(options: { signal?: AbortSignal } = {}): Promise<void> {
    this.#unsubscribe();
    this.#work = this.#work.then(() => this.#stop(options));
    await this.#work;
  }

  /** Applies one change after the other, because two listeners can't share the port. */
  #schedule(): void {
    this.#work = this.#work.then(() => this.#apply());
  }

  async #apply(): Promise<void> {
    const requested = this.#options.host.storage.settings.read().localServer;
    if (isSame(requested, this.#applied)) return;
    this.#applied = requested;
    await this.#stop();
    if (requested.isEnabled) await this.#start(requested);
  }

  async #start({ port, isTls }: LocalServer): Promise<void> {
    const { host, dataDirectory, log } = this.#options;
    try {
      this.#listener = await listen({ api: host.api, port, isTls, dataDirectory, window: null, log });
      host.setServer({ serverAddress: this.#listener.address, serverFailure: null, protocols: [...protocols] });
    } catch (failure) {
      host.setServer({ ...off, serverFailure: describePortFailure(failure, port) });
    }
  }

  async #stop(options: { signal?: AbortSignal } = {}): Promise<void> {
    const listener = this.#listener;
    this.#listener = null;
    this.#options.host.setServer(off);
    await listener?.close(options);
  }
}
