import type { z } from 'zod';
import type { Endpoint, Scope } from '../../shared/contract/endpoint.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import type { ReceiveFile } from './form-body.ts';

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

/** Who makes a request. Runs of the window have a caller id of their own and no key. */
export interface Caller {
  readonly callerId: string;
  readonly key: AuthenticatedKey | null;
  readonly scopes: readonly Scope[];
}

/** What a handler gets: everything is checked already. */
export interface HandlerInput<Parameters, Query, Body, Fields = unknown> {
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  /** For an endpoint with a form: hands the file on as it arrives, and resolves with the text fields when it is complete. */
  readonly readForm: (receive: ReceiveFile) => Promise<Fields>;
  readonly caller: Caller;
  readonly headers: Headers;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** A value becomes the JSON body with the endpoint's status, a `Response` is sent unchanged, and undefined is an empty response. */
export type HandlerResult<Body> = (Body extends undefined ? void : Body) | Response;

/** An endpoint of the contract with the code that answers it. */
export interface Handler {
  readonly endpoint: Endpoint;
  readonly handle: (input: HandlerInput<never, never, never, never>) => unknown;
}

/** Ties a handler to its endpoint, with the types of the contract on both sides. */
export function implement<
  Parameters extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
  Fields extends z.ZodType,
>(
  endpoint: Endpoint<Parameters, Query, Body, Response, z.ZodType, Fields>,
  handle: (
    input: HandlerInput<z.output<Parameters>, z.output<Query>, z.output<Body>, z.output<Fields>>,
  ) => HandlerResult<z.input<Response>> | Promise<HandlerResult<z.input<Response>>>,
): Handler {
  return { endpoint, handle };
}
