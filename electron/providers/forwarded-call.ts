import { AppError } from '../../shared/app-error.ts';
import type { Credentials } from './credentials.ts';
import { secretForms } from '../provider-exchanges/redact.ts';
import type { ExchangeLog } from '../provider-exchanges/exchange-log.ts';
import type { ProviderId } from './provider-addresses.ts';
import type { PassedRequest, ProviderFetch } from './provider-fetch.ts';
import type { ResponseReceiver } from './response-receiver.ts';

/** Another program's call of a provider's API. */
export interface ForwardedCall extends Pick<PassedRequest, 'method' | 'body' | 'signal'> {
  readonly providerId: ProviderId;
  /** Below the base address, with the query, which may have a key. */
  readonly path: string;
  /** Replaces the version at the end of the base address; null leaves it. */
  readonly apiVersion: string | null;
  /** Names and values in turn, as the program sent them. */
  readonly headers: readonly string[];
  /** Whether the headers have the program's own provider key, which then goes along and is stored nowhere. */
  readonly hasOwnKey: boolean;
  /** Records the call; null if it isn't stored. */
  readonly exchanges: ExchangeLog | null;
}

/** Headers about the connection, which end here, and those that the transport writes itself. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'content-length',
  'x-hl-api-key',
]);
/** Headers in which the APIs of providers have a key, besides `authorization`. */
export const namedKeyHeaders = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;
const keyHeaders: ReadonlySet<string> = new Set(['authorization', ...namedKeyHeaders]);

/** A key of this service, which never leaves it. */
const isOwnServiceKey = (value: string): boolean => /^(?:bearer +)?ts_/i.test(value);
/** One in another header, where a text may begin with the same letters. */
const hasOwnServiceKey = (value: string): boolean => /ts_[\w-]{43}/.test(value);

function isForwarded(name: string, value: string, hasOwnKey: boolean): boolean {
  if (ownHeaders.has(name) || name.startsWith(':')) return false;
  if (name.startsWith('x-touchstone-') || name.startsWith('x-app-')) return false;
  if (hasOwnServiceKey(value)) return false;
  return !keyHeaders.has(name) || (hasOwnKey && !isOwnServiceKey(value));
}

/** The program's headers without those that end here. */
function forwardedHeaders({ headers, hasOwnKey }: ForwardedCall): string[] {
  const result: string[] = [];
  let named: readonly string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const isConnection = headers[index]!.toLowerCase() === 'connection';
    if (isConnection) named = headers[index + 1]!.toLowerCase().split(',');
  }
  const dropped = new Set(named.map((name) => name.trim()));
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value] = [headers[index]!, headers[index + 1]!];
    const lower = name.toLowerCase();
    if (isForwarded(lower, value, hasOwnKey) && !dropped.has(lower)) result.push(name, value);
  }
  return result;
}

/** The keys in the query, as Gemini's API takes them. */
export function queryKeys(path: string): string[] {
  const start = path.indexOf('?');
  return start === -1 ? [] : new URLSearchParams(path.slice(start)).getAll('key');
}

/** The path without keys in its query, or without those of this service. The rest stays as the program wrote it. */
function forwardedPath({ path, hasOwnKey }: Pick<ForwardedCall, 'path' | 'hasOwnKey'>): string {
  if (queryKeys(path).length === 0) return path;
  const start = path.indexOf('?');
  const others = path
    .slice(start + 1)
    .split('&')
    .filter((parameter) => {
      const [key] = queryKeys(`?${parameter}`);
      return key === undefined || (hasOwnKey && !isOwnServiceKey(key));
    });
  return path.slice(0, start) + (others.length === 0 ? '' : `?${others.join('&')}`);
}

/** A base address without a version, such as that of a gateway, stays as it is. */
function versioned(address: string, { apiVersion }: ForwardedCall): string {
  const start = address.lastIndexOf('/') + 1;
  const hasVersion = /^v\d+[a-z]*$/.test(address.slice(start));
  return apiVersion === null || !hasVersion ? address : address.slice(0, start) + apiVersion;
}

/** The program's own keys. */
function ownKeys({ headers, path, hasOwnKey }: Pick<ForwardedCall, 'headers' | 'path' | 'hasOwnKey'>): string[] {
  if (!hasOwnKey) return [];
  const inHeaders = headers.flatMap((name, index) =>
    index % 2 === 0 && keyHeaders.has(name.toLowerCase()) ? [headers[index + 1]!.replace(/^bearer +/i, '')] : [],
  );
  return [...inHeaders, ...queryKeys(path)];
}

function keyHeader(providerId: ProviderId, key: string): [string, string] {
  if (providerId === 'Anthropic') return ['x-api-key', key];
  return providerId === 'GoogleGemini' ? ['x-goog-api-key', key] : ['authorization', `Bearer ${key}`];
}

/** How many hosts a call has passed. Only a host whose stored key is one of Touchstone sends it, and only to another host. */
const hopsHeader = 'x-touchstone-hops';
/** More than a person connects on purpose. A call whose endpoint leads back here would call itself until no connection is left. */
const maxHops = 4;

function nextHop({ headers }: ForwardedCall): string {
  const index = headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === hopsHeader);
  const hops = index === -1 ? 0 : Number(headers[index + 1]);
  if (hops < maxHops) return String(hops + 1);
  throw new AppError(
    'invalid_request',
    `The call has passed ${maxHops} hosts of Touchstone and isn't sent to another one. Check whether the address of an endpoint leads to Touchstone itself.`,
  );
}

/**
 * Sends a call with the stored key, or with the program's own, and returns that key in each form in which the provider may repeat it: nothing
 * that is stored may have it. Throws 503 if the key is missing or the address isn't confirmed, and 400 for a call that goes in circles.
 */
export function forwardCall(
  call: ForwardedCall,
  receiver: ResponseReceiver,
  credentials: Pick<Credentials, 'destination'>,
  transport: ProviderFetch,
): readonly string[] {
  const { providerId, method, body, signal, hasOwnKey, exchanges } = call;
  const { address, key } = credentials.destination(providerId, { hasOwnKey });
  const headers = forwardedHeaders(call);
  if (key !== null) headers.push(...keyHeader(providerId, key));
  if (key !== null && isOwnServiceKey(key)) headers.push(hopsHeader, nextHop(call));
  const secrets = [key, ...ownKeys(call)].flatMap(secretForms);
  // One key may be the start of another.
  secrets.sort((one, other) => other.length - one.length);
  const capture: PassedRequest['capture'] = exchanges
    ? (request) => exchanges.beginHttp(() => ({ request: request(), secrets }))
    : undefined;
  transport.pass(
    {
      address: versioned(address, call) + forwardedPath(call),
      method,
      headers,
      body,
      signal,
      ...(capture && { capture }),
    },
    receiver,
  );
  return secrets;
}
