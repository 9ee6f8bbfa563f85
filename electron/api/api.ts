import type { z } from 'zod';
import { AppError } from '../../shared/app-error.ts';
import type { Endpoint, Scope } from '../../shared/contract/endpoint.ts';
import type { AuthenticatedKey } from '../storage/storage.ts';
import type { ReceiveFile } from './form-body.ts';

/**
 * Where a request came from. `window` is the user's window, which the desktop host identifies by its process and the headless host
 * by its cookie. Everything else is `network` and needs an API key.
 */
export interface ApiContext {
  readonly access: 'network' | 'window';
}

/** The whole service as one function, which never throws. IPC, HTTP and tests are adapters around it. */
export interface Api {
  fetch(request: Request, context: ApiContext): Promise<Response>;
  /** Whether a request carries a valid API key. `target` has its path and query; the names of the headers are in lower case. */
  isKnown(head: { readonly target: string; readonly headers: Readonly<Record<string, string>> }): boolean;
  /** Called with each request that the access rules rejected before it reached `fetch`. `target` is its path and query. */
  noteBlocked?(target: string, error: AppError): void;
}

/** The caller of a request. The window has its own caller id and no key. */
export interface Caller {
  readonly callerId: string;
  readonly key: AuthenticatedKey | null;
  readonly scopes: readonly Scope[];
}

/** An endpoint names one scope. Throws `forbidden` for a caller that lacks a second one. */
export function requireManage({ scopes }: Caller): void {
  if (scopes.includes('manage')) return;
  throw new AppError('forbidden', 'This API key does not have the scope `manage`. Issue one that has it.');
}

/** Whether a caller may read prompts: with a key for the library or the audit. */
export const readsPrompts = ({ scopes }: Caller): boolean => scopes.includes('manage') || scopes.includes('audit');

/** The validated input of a handler. */
export interface HandlerInput<Parameters, Query, Body, Fields = unknown> {
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
  /** For endpoints with a form: passes the file on as it arrives. Resolves with the text fields when the form is complete. */
  readonly readForm: (receive: ReceiveFile) => Promise<Fields>;
  /** The request itself, for endpoints that pass it on. */
  readonly request: Request;
  /** The unread body of such an endpoint. Throws `payload_too_large`. */
  readonly readBytes: (maximumBytes: number) => Promise<Buffer>;
  readonly caller: Caller;
  readonly headers: Headers;
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** A value becomes the JSON body, with the endpoint's status. A `Response` is sent unchanged. Undefined is an empty response. */
export type HandlerResult<Body> = (Body extends undefined ? void : Body) | Response;

/** An endpoint of the contract with its implementation. */
export interface Handler {
  readonly endpoint: Endpoint;
  readonly handle: (input: HandlerInput<never, never, never, never>) => unknown;
}

/** Connects a handler to its endpoint, with the types of the contract. */
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
