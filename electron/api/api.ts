/**
 * Where a request came in. `window` is the person at the window: the process boundary of the desktop host or the cookie of the
 * headless one vouches for it. Everything else is `network` and needs an API key.
 */
export interface ApiContext {
  readonly access: 'network' | 'window';
}

/** The whole service as one function. IPC, HTTP and tests are adapters around it; it never throws. */
export interface Api {
  fetch(request: Request, context: ApiContext): Promise<Response>;
  /** Whether the headers of a request, with lower-case names, carry a valid API key. */
  isKnown(headers: Readonly<Record<string, string>>): boolean;
}
