import type { z } from 'zod';

/** The scopes of API keys. A key without a list has all of them. */
export const scopes = ['run', 'audit', 'manage'] as const;
export type Scope = (typeof scopes)[number];

/**
 * Who may call an endpoint: `public` needs no key, `any scope` any key, a scope a key that has it, `run or audit` one of the two.
 * `window` is only for the window and can't be reached with any API key.
 */
export type Access = 'public' | 'window' | 'any scope' | 'run or audit' | Scope;

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The format of a successful body. `event-stream` and `json-array` contain one JSON object per part; `file` is a download. */
export type ResponseKind = 'json' | 'event-stream' | 'json-array' | 'file' | 'empty';

/**
 * A body of `multipart/form-data`: one file in the part `file`, streamed and never whole in memory, and text fields before or
 * after it.
 */
export interface Form<Fields extends z.ZodType = z.ZodType> {
  /** Schema of the text fields. */
  readonly fields: Fields;
  /** More is 413, even before the upload completes. */
  readonly maximumFileBytes: number;
}

/** One named call of the contract. Paths write parameters as in OpenAPI: `/agents/{id}`. */
export interface Endpoint<
  Parameters extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Part extends z.ZodType = z.ZodType,
  Fields extends z.ZodType = z.ZodType,
> {
  /** Unique; the `operationId` of the OpenAPI document. */
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly access: Access;
  /** A short phrase that starts with a verb, for lists. */
  readonly summary: string;
  /** One to three sentences for the OpenAPI document. Required for every endpoint that API keys can call. */
  readonly description?: string;
  readonly tag: string;
  readonly parameters?: Parameters;
  readonly query?: Query;
  readonly body?: Body;
  /** Instead of `body`. */
  readonly form?: Form<Fields>;
  /** Whether a request without a body counts as `{}`. */
  readonly isBodyOptional?: boolean;
  /** Media types of the body; `application/json` by default. `application/*+json` is a pattern. */
  readonly mediaTypes?: readonly string[];
  /** Whether the body may be compressed with gzip. Its limits hold for the decompressed one. */
  readonly acceptsGzip?: boolean;
  /** Status of success; 200 by default. */
  readonly status?: number;
  /** All formats of a successful response, the default first; `json` by default. */
  readonly kinds?: readonly ResponseKind[];
  /** Schema of a JSON response. */
  readonly response?: Response;
  /** Schema of one part of a streamed response. */
  readonly part?: Part;
  /**
   * The endpoint of another program's API, whose body is read as bytes and whose errors have the format of that API. A key may also be
   * in the headers of that API.
   */
  readonly passes?: 'openai' | 'anthropic' | 'gemini';
  /** Statuses of errors beyond 400, 401, 403, 413, 415, 421 and 500, for the OpenAPI document. */
  readonly errors?: readonly number[];
}

/** Keeps the exact types of one endpoint's schemas, for handlers and the client. */
export function defineEndpoint<
  Parameters extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Response extends z.ZodType = z.ZodUndefined,
  Part extends z.ZodType = z.ZodUndefined,
  Fields extends z.ZodType = z.ZodUndefined,
>(
  endpoint: Endpoint<Parameters, Query, Body, Response, Part, Fields>,
): Endpoint<Parameters, Query, Body, Response, Part, Fields> {
  return endpoint;
}
