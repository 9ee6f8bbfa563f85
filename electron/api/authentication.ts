import { AppError } from '../../shared/app-error.ts';
import { scopes, type Access } from '../../shared/contract/endpoint.ts';
import type { ApiKeyStore } from '../storage/storage.ts';
import type { ApiContext, Caller } from './api.ts';

const missingKey =
  'Send an API key as `Authorization: Bearer <key>` or `x-hl-api-key: <key>`. Keys are issued in Settings, API keys.';
const wrongKey = 'This API key is unknown or was revoked. Issue a new one in Settings, API keys.';

function keyFromHeaders(headers: Pick<Headers, 'get'>): string {
  const authorization = headers.get('authorization');
  const custom = headers.get('x-hl-api-key');
  if (authorization === null && custom === null) throw new AppError('unauthorized', missingKey);
  if (authorization === null) return (custom ?? '').trim();
  const bearer = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (bearer === undefined) throw new AppError('unauthorized', 'The authorization header must be `Bearer <key>`.');
  if (custom !== null && custom.trim() !== bearer) {
    throw new AppError(
      'unauthorized',
      'The request carries two different API keys. Send one, or the same in both headers.',
    );
  }
  return bearer;
}

/** Identifies the caller. Throws `unauthorized` if the key is missing, wrong or contradicted. */
export function authenticate(
  headers: Headers,
  context: ApiContext,
  stores: { apiKeys: ApiKeyStore; windowCallerId: string },
): Caller {
  if (context.access === 'window') return { callerId: stores.windowCallerId, key: null, scopes };
  const key = stores.apiKeys.authenticate(keyFromHeaders(headers));
  if (key === null) throw new AppError('unauthorized', wrongKey);
  return { callerId: key.callerId, key, scopes: key.scopes };
}

/** Whether `authenticate` would accept the key. The names of the headers are in lower case. */
export function hasValidKey(headers: Readonly<Record<string, string>>, apiKeys: ApiKeyStore): boolean {
  // Called for every request of a stranger. Creating an error is slow.
  if (headers['authorization'] === undefined && headers['x-hl-api-key'] === undefined) return false;
  const get = (name: string): string | null => headers[name] ?? null;
  try {
    return apiKeys.authenticate(keyFromHeaders({ get })) !== null;
  } catch {
    // `authenticate` throws the error.
    return false;
  }
}

/** Throws `forbidden` if the caller's key doesn't have the endpoint's scope. */
export function authorize(caller: Caller, access: Access): void {
  if (access === 'public' || access === 'window' || access === 'any scope') return;
  const sufficient: readonly string[] = access === 'run or audit' ? ['run', 'audit'] : [access];
  if (caller.scopes.some((scope) => sufficient.includes(scope))) return;
  throw new AppError(
    'forbidden',
    `This API key does not have the scope \`${sufficient.join('` or `')}\`. Issue one that has it.`,
  );
}
