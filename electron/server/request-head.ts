import { AppError } from '../../shared/app-error.ts';
import type { RequestSource } from './access-rules.ts';
import type { NodeRequest } from './incoming-request.ts';

/** The head of a request in the one form that both protocols are read into. */
export interface RequestHead extends RequestSource {
  readonly method: string;
  /** Path and query, beginning with `/`. */
  readonly target: string;
  /** Lower-case names; a repeated field is joined, so that a second key or Host is seen and never silently dropped. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
}

/** The Fetch standard's `Request` refuses these. No endpoint takes them, nor OPTIONS, which is answered in their place. */
const refusedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

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

/** Splits the absolute form, which callers that think of us as a proxy send, into authority and target. */
function splitTarget(target: string): { authority: string | null; target: string } | null {
  if (target.startsWith('/')) return { authority: null, target };
  const match = /^https?:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(target);
  if (!match) return null;
  return { authority: match[1] as string, target: match[2]?.startsWith('/') ? match[2] : `/${match[2] ?? ''}` };
}

/** Reads a head; what no answer of the API could be asked for comes back as the error to answer with. */
export function readHead(incoming: NodeRequest): RequestHead | AppError {
  const asked = incoming.method ?? 'GET';
  const method = refusedMethods.has(asked) ? 'OPTIONS' : asked;
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
