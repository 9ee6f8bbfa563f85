import { Agent, Dispatcher, EnvHttpProxyAgent } from 'undici';

/** Addresses of proxies; empty for none. */
export interface Proxies {
  readonly http: string;
  readonly https: string;
  /** Hosts that are reached without a proxy, separated by commas. */
  readonly none: string;
}

/** Whether the operating system's settings reach an origin without a proxy. Never rejects. */
export type IsDirect = (origin: string) => Promise<boolean>;

export function openDispatcher(
  { http, https, none }: Proxies,
  options: Agent.Options,
  isDirect?: IsDirect,
): Dispatcher {
  if (http === '' && https === '') return new Agent(options);
  const proxied = new EnvHttpProxyAgent({
    ...options,
    httpProxy: http,
    httpsProxy: https,
    noProxy: none,
    // Many proxies open tunnels for TLS only, and need plain requests in readable form.
    proxyTunnel: false,
  });
  return isDirect ? new SystemDispatcher(proxied, new Agent(options), isDirect) : proxied;
}

/** Looks each origin up in the system's settings once: only they know their exceptions, which can be a script. */
class SystemDispatcher extends Dispatcher {
  readonly #proxied: Dispatcher;
  readonly #direct: Dispatcher;
  readonly #isDirect: IsDirect;
  readonly #known = new Map<string, Dispatcher>();

  constructor(proxied: Dispatcher, direct: Dispatcher, isDirect: IsDirect) {
    super();
    this.#proxied = proxied;
    this.#direct = direct;
    this.#isDirect = isDirect;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const origin = String(options.origin);
    const known = this.#known.get(origin);
    if (known) return known.dispatch(options, handler);
    void this.#isDirect(origin).then((isDirect) => {
      const found = isDirect ? this.#direct : this.#proxied;
      this.#known.set(origin, found);
      found.dispatch(options, handler);
    });
    return true;
  }

  override async close(): Promise<void> {
    await Promise.all([this.#proxied.close(), this.#direct.close()]);
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.#proxied.destroy(), this.#direct.destroy()]);
  }
}
