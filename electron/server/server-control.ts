import type { Settings } from '../../shared/contract/settings.ts';
import type { Host } from '../create-host.ts';
import { listen, type Listener, protocols } from './listen.ts';
import type { Log } from '../log.ts';

/** Why a listener couldn't start and what to do, for the person who runs the host. */
export function describePortFailure(failure: unknown, port: number): string {
  const code = (failure as NodeJS.ErrnoException | null)?.code;
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. Choose another port, or 0 for any free port.`;
  if (code === 'EACCES') return `This system doesn't allow port ${port}. Choose port 1024 or higher.`;
  return `Couldn't start the local server on port ${port}${code ? ` (${code})` : ''}.`;
}

export interface ServerControlOptions {
  readonly host: Pick<Host, 'api' | 'setServer'> & { readonly storage: Pick<Host['storage'], 'settings'> };
  /** The certificate of a TLS listener is kept here. */
  readonly dataDirectory: string;
  readonly log: Log;
}

type LocalServer = Settings['localServer'];

const off = { serverAddress: null, serverFailure: null, protocols: [] };

function isSame(one: LocalServer, other: LocalServer): boolean {
  return one.isEnabled === other.isEnabled && one.port === other.port && one.isTls === other.isTls;
}

/**
 * Keeps the desktop host's network listener as the settings say: off until a person switches it on, moved when the port or
 * TLS changes. It serves programs with API keys alone, never the window. Why it could not start is in the host's state.
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

  /** Resolves when the listener is as the settings say, or has failed to be. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Stops listening and aborts active requests. */
  async close(options: { signal?: AbortSignal } = {}): Promise<void> {
    this.#unsubscribe();
    this.#work = this.#work.then(() => this.#stop(options));
    await this.#work;
  }

  /** One change after the other: two listeners at once would fight for the port. */
  #schedule(): void {
    this.#work = this.#work.then(() => this.#apply());
  }

  async #apply(): Promise<void> {
    const wanted = this.#options.host.storage.settings.read().localServer;
    if (isSame(wanted, this.#applied)) return;
    this.#applied = wanted;
    await this.#stop();
    if (wanted.isEnabled) await this.#start(wanted);
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
