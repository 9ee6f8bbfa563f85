import { isUnencrypted } from '../shared/address-safety.ts';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { addKnownSecret, type Log } from './log.ts';
import type { Agent, Dispatcher } from 'undici';
import type { IsDirect, Proxies } from './outgoing-dispatcher.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How this process reaches other computers. */
export interface OutgoingNetwork {
  /** May name a proxy. Of a host, also the source of provider keys that no keychain has. */
  readonly environment: Environment;
  /** Finds the exceptions of the system's proxy; absent if that isn't used. */
  readonly isDirect?: IsDirect;
}

/** The usual variables, as curl and npm read them: the lower-case one takes precedence. */
const proxyVariables = {
  http: ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
  none: ['no_proxy', 'NO_PROXY'],
} as const;

/** A model server on this computer is never behind a proxy, which would resolve the address to itself. */
const ownHosts = ['localhost', '127.0.0.1', '[::1]'];

function variableIn(environment: Environment, names: readonly string[]): string | undefined {
  return names.find((name) => environment[name]?.trim());
}

/** The address in a form that undici accepts; null for an invalid one. */
function proxyAddress(text: string): string | null {
  const address = URL.parse(/^[a-z\d+.-]+:\/\//i.test(text) ? text : `http://${text}`);
  if (address?.password) addKnownSecret(decodeURIComponent(address.password));
  if (address?.protocol === 'socks5h:') return address.href.replace(/^socks5h/, 'socks5');
  return address && ['http:', 'https:', 'socks5:'].includes(address.protocol) ? address.href : null;
}

/** Whether any variable names a proxy, or hosts that are reached without one. */
export function namesProxy(environment: Environment): boolean {
  return Object.values(proxyVariables).some((names) => variableIn(environment, names) !== undefined);
}

function readProxies(environment: Environment): Proxies & { readonly unreadable: readonly string[] } {
  const unreadable: string[] = [];
  const read = (names: readonly string[]): string => {
    const name = variableIn(environment, names);
    if (name === undefined) return '';
    const address = proxyAddress(environment[name]!.trim());
    if (address === null) unreadable.push(name);
    return address ?? '';
  };
  const noneName = variableIn(environment, proxyVariables.none);
  const none = noneName === undefined ? '' : environment[noneName]!.trim();
  return {
    http: read(proxyVariables.http),
    https: read(proxyVariables.https),
    none: none === '*' ? none : [none, ...ownHosts].filter((hosts) => hosts !== '').join(','),
    unreadable,
  };
}

/** Scheme, host and port of every proxy in use, without user name and password. */
export function proxyOrigins(environment: Environment): string[] {
  const { http, https } = readProxies(environment);
  const origins = [https, http].filter((address) => address !== '').map((address) => new URL(address));
  return [...new Set(origins.map(({ protocol, host }) => `${protocol}//${host}`))];
}

/**
 * The dispatcher for calls to other computers: direct, or through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY` names,
 * except for the hosts of `NO_PROXY`, this computer, and what is direct in the system's settings. Imports undici, 1 MB of code that a
 * start doesn't need.
 */
export async function createDispatcher(
  { environment, isDirect }: OutgoingNetwork,
  options: Agent.Options,
): Promise<Dispatcher> {
  const { openDispatcher } = await import('./outgoing-dispatcher.ts');
  return openDispatcher(readProxies(environment), options, isDirect);
}

/**
 * Uses the same dispatcher for every `fetch` of this process (models are downloaded with it), and logs the proxy for the person who
 * runs the host. Call it once, before anything is fetched.
 */
export async function useNetwork(network: OutgoingNetwork, log: (message: string) => void): Promise<void> {
  const { http, https, unreadable } = readProxies(network.environment);
  for (const name of unreadable) {
    log(`${name} is not the address of a proxy, such as http://proxy.example:3128. It is not used.`);
  }
  if (http === '' && https === '') return;
  const { setGlobalDispatcher } = await import('undici');
  setGlobalDispatcher(await createDispatcher(network, {}));
  // Without user name and password.
  log(`Calls to other computers go through the proxy ${new URL(https || http).host}.`);
}

let isSystemTrusted = false;

/**
 * Trusts the operating system's certificates in this process, in addition to Node's list: certificates of proxies and gateways that
 * inspect TLS are only there. Reading them takes some 60 ms, once; an unreadable list changes nothing.
 */
export function trustSystemCertificates(): void {
  if (isSystemTrusted) return;
  isSystemTrusted = true;
  try {
    setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])]);
  } catch {
    // Node's own list stays.
  }
}

interface CommandLineAddresses {
  readonly providerBases: Readonly<Record<string, string>>;
  readonly endpoints: readonly { readonly name: string; readonly baseAddress: string }[];
  readonly log: Log;
}

/** Warns about unencrypted addresses of the command line. The settings warn about the others. */
export function warnAboutUnencrypted({ providerBases, endpoints, log }: CommandLineAddresses): void {
  const bases = Object.entries(providerBases).map(([name, baseAddress]) => ({ name, baseAddress }));
  for (const { name, baseAddress } of [...bases, ...endpoints].filter((entry) => isUnencrypted(entry.baseAddress))) {
    log(
      `The connection to ${name} at ${new URL(baseAddress).host} isn't encrypted: others on the network can read prompts, ` +
        'answers and keys. Use https:// if the server supports it.',
    );
  }
}
