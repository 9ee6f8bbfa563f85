import type { Session } from 'electron';
import { namesProxy, type OutgoingNetwork } from '../outgoing-network.ts';

/** A script that finds the proxy may be on another computer. The window waits at most this long for it, in milliseconds. */
const longestWait = 2_000;

/** Any external address: scripts that decide by host name return their usual proxy for it. */
const anyAddress = 'https://example.com/';

/** In the system's order; the first one is used. */
const schemes: Readonly<Record<string, string>> = { PROXY: 'http', HTTPS: 'https', SOCKS5: 'socks5', SOCKS: 'socks5' };

/** Parses `PROXY proxy.test:3128; DIRECT` to the address of a proxy; null for a direct connection. */
export function proxyOfRules(rules: string): string | null {
  const [kind, host] = rules.split(';')[0]!.trim().split(/\s+/);
  const scheme = schemes[kind!.toUpperCase()];
  return scheme && host ? `${scheme}://${host}` : null;
}

/**
 * The environment, with the system's proxy in `HTTPS_PROXY` and `HTTP_PROXY`, unless it sets one itself: a program that is started
 * from a menu has no such variables. A change of the system's settings applies at the next start.
 */
export async function systemNetwork(environment: NodeJS.ProcessEnv, session: Session): Promise<OutgoingNetwork> {
  if (namesProxy(environment)) return { environment };
  const rulesOf = (address: string, otherwise: string): Promise<string> => {
    const timeUp = new Promise<string>((resolve) => setTimeout(resolve, longestWait, otherwise).unref());
    return Promise.race([session.resolveProxy(address), timeUp]).catch(() => otherwise);
  };
  const rules = await rulesOf(anyAddress, 'DIRECT');
  const proxy = proxyOfRules(rules);
  if (proxy === null) return { environment };
  return {
    environment: { ...environment, HTTPS_PROXY: proxy, HTTP_PROXY: proxy },
    isDirect: async (origin) => proxyOfRules(await rulesOf(`${origin}/`, rules)) === null,
  };
}
