import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { AppError } from '../../shared/app-error.ts';
import { type Access, type Endpoint, scopes } from '../../shared/contract/endpoint.ts';
import type { Log } from '../log.ts';
import type { RateLimits } from '../credits/rate-limits.ts';
import { namedKeyHeaders, queryKeys } from '../providers/forwarded-call.ts';
import type { ApiKeyStore, AuthenticatedKey } from '../storage/storage.ts';
import type { Api, ApiContext, Caller, Handler, HandlerInput } from './api.ts';
import { errorResponse, toAppError } from './error-response.ts';
import { formMediaTypes, readForm, type ReceiveFile } from './form-body.ts';
import { JsonResponse, longJsonResponse } from './json-response.ts';
import { isResponse, LazyResponse } from './lazy-response.ts';
import { errorResponseAt, formatOfPath, passedError } from './passed-error.ts';
import { PassedResponse } from './passed-response.ts';
import { longBodyBytes, readBytes, readJsonBody, requireMediaType } from './request-body.ts';
import { validate } from '../common/validate.ts';
import { validateQuery } from './validation.ts';

const missingKey =
  'Send an API key as `Authorization: Bearer <key>` or `x-hl-api-key: <key>`. Keys are issued in Settings, API keys.';
const twoKeys = 'The request carries two different API keys. Send one, or the same in both headers.';
const wrongKey = 'This API key is unknown or was revoked. Issue a new one in Settings, API keys.';

/** The headers whose whole value can be a key of this service. */
const keyHeaders = ['x-touchstone-key', 'x-hl-api-key', ...namedKeyHeaders] as const;

function bearerOf(authorization: string | null | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

function keyFromHeaders(headers: Pick<Headers, 'get'>): string {
  const authorization = headers.get('authorization');
  const custom = headers.get('x-hl-api-key');
  if (authorization === null && custom === null) throw new AppError('unauthorized', missingKey);
  if (authorization === null) return (custom ?? '').trim();
  const bearer = bearerOf(authorization);
  if (bearer === undefined) throw new AppError('unauthorized', 'The authorization header must be `Bearer <key>`.');
  if (custom !== null && custom.trim() !== bearer) {
    throw new AppError('unauthorized', twoKeys);
  }
  return bearer;
}

const missingPassedKey =
  'Send an API key of Touchstone in place of the key of the provider, or as x-touchstone-key beside it. Keys are issued in Settings, API keys.';

/** The key in the headers or the query of another API: in its own header if the program sends its provider key, too. */
function keyFromPassed({ headers, url }: Pick<Request, 'headers' | 'url'>, passes: Endpoint['passes']): string {
  const separate = headers.get('x-touchstone-key')?.trim();
  if (separate) return separate;
  const bearer = bearerOf(headers.get('authorization'));
  const named = namedKeyHeaders.map((name) => headers.get(name)?.trim());
  const sent = [headers.get('x-hl-api-key')?.trim(), ...named, bearer, ...(passes === 'gemini' ? queryKeys(url) : [])];
  const present = new Set(sent.filter((key) => key !== undefined && key !== ''));
  const [key, other] = [...present].filter((candidate) => candidate!.startsWith('ts_'));
  if (other !== undefined) throw new AppError('unauthorized', twoKeys);
  const [first] = present;
  if (first === undefined) throw new AppError('unauthorized', missingPassedKey);
  return key ?? first;
}

/** Identifies the caller. Throws `unauthorized` if the key is missing, wrong or contradicted. */
function authenticate(
  request: Request,
  context: ApiContext,
  stores: Pick<ApiOptions, 'apiKeys' | 'windowCallerId' | 'requireKnownKeys'>,
  passes: Endpoint['passes'],
): Caller {
  if (context.access === 'window') return { callerId: stores.windowCallerId, key: null, scopes };
  const key = stores.apiKeys.authenticate(passes ? keyFromPassed(request, passes) : keyFromHeaders(request.headers));
  stores.requireKnownKeys?.(key);
  if (key === null) throw new AppError('unauthorized', wrongKey);
  return { callerId: key.callerId, key, scopes: key.scopes };
}

/** Whether a request brings a valid key, which a provider's key may accompany. Called for every request of a stranger. */
function hasValidKey({ target, headers }: Parameters<Api['isKnown']>[0], apiKeys: ApiKeyStore): boolean {
  const keys = keyHeaders.map((name) => headers[name]?.trim());
  keys.push(bearerOf(headers['authorization']));
  if (target.startsWith('/gemini/')) keys.push(queryKeys(target)[0]);
  return keys.some((key) => key !== undefined && apiKeys.authenticate(key) !== null);
}

/** Throws `forbidden` if the caller's key doesn't have the endpoint's scope. */
function authorize(caller: Caller, access: Access): void {
  if (access === 'public' || access === 'window' || access === 'any scope') return;
  const sufficient: readonly string[] = access === 'run or audit' ? ['run', 'audit'] : [access];
  if (caller.scopes.some((scope) => sufficient.includes(scope))) return;
  throw new AppError(
    'forbidden',
    `This API key does not have the scope \`${sufficient.join('` or `')}\`. Issue one that has it.`,
  );
}

export interface ApiOptions {
  readonly handlers: readonly Handler[];
  readonly apiKeys: ApiKeyStore;
  readonly rateLimits: RateLimits;
  readonly windowCallerId: string;
  /** Throws if this host can't tell whether a key is still valid. */
  readonly requireKnownKeys?: (key: AuthenticatedKey | null) => void;
  /** Called with each error of a path of a provider's API. Of a request with another Host or Origin, the source is unknown. */
  readonly noteRejection?: (error: AppError, source: 'program' | 'unknown') => void;
  /** Writes runs that have ended. Called before every request that isn't one for a run, because it may read them. */
  readonly flush: () => void;
  /** Logs unexpected failures. The text contains no body and no key. */
  readonly reportFailure: Log;
}

interface Path {
  readonly handlers: Map<string, Handler>;
  readonly isForWindowOnly: boolean;
  readonly isPublic: boolean;
  readonly passes: Endpoint['passes'];
}

const jsonOnly = ['application/json'] as const;

const unknownPath = () =>
  new AppError('not_found', 'There is nothing at this address. The endpoints are described at /openapi.json.');

function groupByPath(handlers: readonly Handler[]): Map<string, Path> {
  const paths = new Map<string, Path>();
  for (const handler of handlers) {
    const { path, method, access, passes } = handler.endpoint;
    const known = paths.get(path) ?? {
      handlers: new Map<string, Handler>(),
      isForWindowOnly: access === 'window',
      isPublic: access === 'public',
      passes,
    };
    known.handlers.set(method.toUpperCase(), handler);
    paths.set(path, known);
  }
  return paths;
}

async function readInput(
  endpoint: Endpoint,
  request: Request,
  parameters: Record<string, string>,
): Promise<Pick<HandlerInput<unknown, unknown, unknown>, 'parameters' | 'query' | 'body'>> {
  const path = endpoint.parameters ? validate(endpoint.parameters, parameters, 'address') : undefined;
  if (endpoint.passes) return { parameters: path, query: undefined, body: undefined };
  if (endpoint.form) requireMediaType(request.headers, formMediaTypes);
  if (endpoint.body) {
    const isEmpty = endpoint.isBodyOptional === true && request.body === null;
    if (!isEmpty) requireMediaType(request.headers, endpoint.mediaTypes ?? jsonOnly, endpoint.acceptsGzip);
  }
  return {
    parameters: path,
    query: endpoint.query ? validateQuery(endpoint.query, request.url) : undefined,
    body: endpoint.body
      ? validate(endpoint.body, (await readJsonBody(request)) ?? emptyBody(endpoint), 'body')
      : undefined,
  };
}

function emptyBody(endpoint: Endpoint): unknown {
  if (endpoint.isBodyOptional) return {};
  throw new AppError('invalid_request', 'The request has no body. Send a JSON object.');
}

/** The response to a long body often repeats it, so it is written in several turns of the event loop, too. */
function toResponse(endpoint: Endpoint, result: unknown, requestId: string, isLong: boolean): Response {
  const init = { status: endpoint.status ?? 200 };
  const toJson = (value: object) => (isLong ? longJsonResponse(value, init) : new JsonResponse(value, init));
  const response =
    isResponse(result) || result === undefined
      ? (result ?? new Response(null, { status: 204 }))
      : toJson(result as object);
  if (response instanceof PassedResponse) return response;
  return withHeaders(response, { 'x-request-id': requestId });
}

/** The router's form of a path. The name of a model can have slashes, or end with a method of Google's: `{model}:countTokens`. */
function routeOf(path: string): {
  pattern: string;
  parametersOf: (values: Record<string, string>) => Record<string, string>;
} {
  const [, name, method] = /\{(\w+)\}(:\w+)$/.exec(path) ?? [];
  const pattern = path.replace(/\/models\/\{model\}$/, '/models/:model{.+}').replaceAll(/\{(\w+)\}/g, ':$1');
  if (name === undefined || method === undefined) return { pattern, parametersOf: (values) => values };
  return {
    pattern: pattern.replace(`:${name}${method}`, `:${name}{[^/]+${method}}`),
    parametersOf: (values) => ({ ...values, [name]: values[name]!.slice(0, -method.length) }),
  };
}

/** What the router finds for a path. */
interface Match {
  readonly known: Path;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Programs call few paths again and again. */
const maxRecentPaths = 256;
const maxRecentCharacters = 256;

function remember(recent: Map<string, Match>, path: string, match: Match): void {
  if (path.length > maxRecentCharacters) return;
  if (recent.size >= maxRecentPaths) recent.clear();
  recent.set(path, match);
}

/** Puts the handlers behind one `fetch`: routing, keys, validation, errors. The order of the checks is deliberate. */
export function createApi(options: ApiOptions): Api {
  const app = new Hono<{ Bindings: ApiContext }>();
  const paths = groupByPath(options.handlers);
  const fixed = [...paths].filter(([path]) => !path.includes('{'));
  const fixedPaths = new Map(fixed.map(([path, known]) => [path, { known, parameters: {} }]));
  const recentPaths = new Map<string, Match>();
  for (const [path, known] of paths) {
    const { pattern, parametersOf } = routeOf(path);
    app.all(pattern, ({ req, env }) => {
      const parameters = parametersOf(req.param());
      remember(recentPaths, req.path, { known, parameters });
      return answer(known, req.raw, env, parameters, options);
    });
  }
  app.notFound(({ req }) => {
    if (formatOfPath(req.path) !== null) options.noteRejection?.(unknownPath(), 'program');
    return errorResponseAt(req.path, unknownPath());
  });
  app.onError((error) => {
    const requestId = randomUUID();
    return errorResponse(toAppError(error, requestId, options.reportFailure), requestId);
  });
  return {
    async fetch(request, context) {
      // The router takes longer than a short request's other checks. It answers HEAD as GET.
      const path = getPath(request);
      const match = request.method === 'HEAD' ? undefined : (fixedPaths.get(path) ?? recentPaths.get(path));
      return match ? answer(match.known, request, context, match.parameters, options) : app.fetch(request, context);
    },
    isKnown: (head) => hasValidKey(head, options.apiKeys),
    noteBlocked(target, error) {
      if (formatOfPath(target.split('?', 1)[0]!) !== null) options.noteRejection?.(error, 'unknown');
    },
  };
}

async function answer(
  path: Path,
  request: Request,
  context: ApiContext,
  parameters: Readonly<Record<string, string>>,
  options: ApiOptions,
): Promise<Response> {
  const requestId = randomUUID();
  let key: AuthenticatedKey | null = null;
  const limited = (response: Response): Response =>
    key === null || response instanceof PassedResponse
      ? response
      : withHeaders(response, options.rateLimits.headersFor(key));
  try {
    if (path.isForWindowOnly && context.access !== 'window') throw unknownPath();
    const handler = path.handlers.get(request.method);
    const caller = path.isPublic ? publicCaller : authenticate(request, context, options, path.passes);
    key = caller.key;
    if (key !== null) options.rateLimits.takeRequest(key);
    if (handler === undefined) throw methodNotAllowed(path);
    authorize(caller, handler.endpoint.access);
    if (!mayStartRun(handler.endpoint)) options.flush();
    const input = await readInput(handler.endpoint, request, parameters);
    const result = await handler.handle({
      ...input,
      readForm: (receive: ReceiveFile) => readForm(request, handler.endpoint.form, receive),
      request,
      readBytes: (maximumBytes: number) => readBytes(request, maximumBytes),
      caller,
      headers: request.headers,
      signal: request.signal,
      requestId,
    } as HandlerInput<never, never, never, never>);
    const isLong = Number(request.headers.get('content-length')) > longBodyBytes;
    if (isLong) await nextTurn();
    return limited(toResponse(handler.endpoint, result, requestId, isLong));
  } catch (error) {
    const failure = toAppError(error, requestId, options.reportFailure);
    if (!path.passes) return limited(errorResponse(failure, requestId));
    // A program that left got no error.
    if (!request.signal.aborted) options.noteRejection?.(failure, 'program');
    return limited(passedError(failure, path.passes, requestId));
  }
}

/** What these read of other runs flushes them itself. */
function mayStartRun({ passes, access, method }: Endpoint): boolean {
  return passes !== undefined || (access === 'run' && method === 'post');
}

/** The names must be in lower case. */
function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) {
    if (response instanceof LazyResponse) response.setHeader(name, value);
    else response.headers.set(name, value);
  }
  return response;
}

const publicCaller: Caller = { callerId: '', key: null, scopes: [] };

function methodNotAllowed(path: Path): AppError {
  const allow = [...path.handlers.keys()];
  return new AppError('method_not_allowed', `This address takes ${allow.join(', ')}.`, { allow });
}
