import { AppError } from '../../shared/app-error.ts';
import type { NodeRequest } from './incoming-request.ts';

/** The head of a request, in one format for HTTP/1.1 and HTTP/2. */
export interface RequestHead extends RequestSource {
  readonly method: string;
  /** Path and query, beginning with `/`. */
  readonly target: string;
  /** Lower-case names. Repeated fields are joined, so that a second key or Host isn't silently dropped. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
}

/** `Request` of the Fetch standard throws for these. They are handled like OPTIONS, which no endpoint supports either. */
const unsupportedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

function joinedHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const value = rawHeaders[index + 1] as string;
    const before = headers[name];
    if (name.startsWith(':')) continue;
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  return headers;
}

function hasBody(incoming: NodeRequest, headers: Readonly<Record<string, string>>): boolean {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return false;
  if ('stream' in incoming) return !incoming.stream.endAfterHeaders;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Splits the absolute form, which callers send to a proxy, into authority and target. */
function splitTarget(target: string): { authority: string | null; target: string } | null {
  if (target.startsWith('/')) return { authority: null, target };
  const match = /^https?:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(target);
  if (!match) return null;
  return { authority: match[1] as string, target: match[2]?.startsWith('/') ? match[2] : `/${match[2] ?? ''}` };
}

/** Reads a head. Returns an error if the target is malformed. */
export function readHead(incoming: NodeRequest): RequestHead | AppError {
  const requestMethod = incoming.method ?? 'GET';
  const method = unsupportedMethods.has(requestMethod) ? 'OPTIONS' : requestMethod;
  const split = splitTarget(incoming.url ?? '');
  if (!split) return new AppError('invalid_request', 'The request target must be a path that begins with `/`.');
  const headers = joinedHeaders(incoming.rawHeaders);
  const authorities = [headers['host'], split.authority, 'authority' in incoming ? incoming.authority : undefined];
  return {
    method,
    target: split.target,
    headers,
    hasBody: hasBody(incoming, headers),
    authorities: authorities.filter((authority): authority is string => Boolean(authority)),
    origin: headers['origin'],
  };
}

/** The target hosts and the origin that a request names. */
export interface RequestSource {
  /** Every `Host` line, `:authority` and authority of the target that the request carries. */
  readonly authorities: readonly string[];
  readonly origin: string | undefined;
}

/** The host names of the loopback interface. Any other name belongs to another site. */
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Blocks requests of web pages. A page of another site can reach a loopback port directly, with another `Origin`, or through a host name
 * that resolves to 127.0.0.1 (DNS rebinding), with another `Host`.
 */
export interface AccessRules {
  /** The error for a request that must not reach the API, or null. */
  rejection(source: RequestSource): AppError | null;
  isOwnOrigin(origin: string): boolean;
}

export function createAccessRules(listener: { port: number; isTls: boolean }): AccessRules {
  const scheme = listener.isTls ? 'https' : 'http';
  const defaultPort = listener.isTls ? 443 : 80;
  const allowed = new Set(loopbackNames.map((name) => `${name}:${listener.port}`));
  if (listener.port === defaultPort) for (const name of loopbackNames) allowed.add(name);
  const origins = new Set([...allowed].map((authority) => `${scheme}://${authority}`));
  const isOwnOrigin = (origin: string) => origins.has(origin.toLowerCase());

  function rejection({ authorities, origin }: RequestSource): AppError | null {
    if (authorities.length === 0) {
      return new AppError('invalid_request', 'The request has no Host header; send the address of this service in it.');
    }
    if (!authorities.every((authority) => allowed.has(authority.toLowerCase()))) {
      return new AppError(
        'misdirected_request',
        'This service answers only to 127.0.0.1, localhost and [::1] with its port; use one of them in the address.',
      );
    }
    if (origin !== undefined && !isOwnOrigin(origin)) {
      return new AppError(
        'forbidden',
        'Pages of other sites may not call this service; call it from a program, or use its own window.',
      );
    }
    return null;
  }

  return { rejection, isOwnOrigin };
}
