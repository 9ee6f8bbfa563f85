import type { Session } from 'electron';
import { namesProxy } from '../outgoing-network.ts';

/** A script that finds the proxy may lie on another computer; the window does not wait longer for it, in milliseconds. */
const longestWait = 2_000;

/** Any address outside: scripts that choose by name send such a one to their usual proxy. */
const anyAddress = 'https://example.com/';

/** In the order in which the system would try them; the first one is taken. */
const schemes: Readonly<Record<string, string>> = { PROXY: 'http', HTTPS: 'https', SOCKS5: 'socks5', SOCKS: 'socks5' };

/** `PROXY proxy.test:3128; DIRECT` as the address of a proxy; null for what is reached directly. */
export function proxyOfRules(rules: string): string | null {
  const [kind, host] = rules.split(';')[0]!.trim().split(/\s+/);
  const scheme = schemes[kind!.toUpperCase()];
  return scheme && host ? `${scheme}://${host}` : null;
}

/**
 * The environment with the proxy of the system's settings in `HTTPS_PROXY` and `HTTP_PROXY`, as long as it names none itself: a
 * program that is started from a menu has no variables. A change of the settings counts from the next start.
 */
export async function withSystemProxy(environment: NodeJS.ProcessEnv, session: Session): Promise<NodeJS.ProcessEnv> {
  if (namesProxy(environment)) return environment;
  const timeUp = new Promise<string>((resolve) => setTimeout(resolve, longestWait, 'DIRECT').unref());
  const proxy = proxyOfRules(await Promise.race([session.resolveProxy(anyAddress), timeUp]));
  return proxy === null ? environment : { ...environment, HTTPS_PROXY: proxy, HTTP_PROXY: proxy };
}
