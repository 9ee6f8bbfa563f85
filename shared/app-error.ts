/** Expected failures, caused by a request or a provider. Bugs are other errors. */

/** Every stable error code with its HTTP status. */
export const errorStatus = {
  invalid_request: 400,
  unauthorized: 401,
  credits_exhausted: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  rate_limited: 429,
  internal: 500,
  provider_failed: 502,
  provider_not_configured: 503,
  provider_key_refused: 503,
  provider_overloaded: 503,
  model_not_installed: 503,
  team_unavailable: 503,
  provider_silent: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One wrong field of a request. Errors in templates have a `line` and a `column`, which count from 1. */
export interface ErrorDetail {
  field: string;
  issue: string;
  line?: number;
  column?: number;
}

/** The error body of every endpoint, and the last event of a failed stream. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; details: ErrorDetail[]; requestId: string };
}

export interface AppErrorOptions {
  details?: ErrorDetail[];
  /** Seconds to wait before a retry; becomes `retry-after`. */
  retryAfterSeconds?: number;
  /** Methods that the path supports; becomes `Allow`. */
  allow?: string[];
  requestId?: string;
  /** Further headers of the response, with names in lower case. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/**
 * An expected failure with a stable code. Users see `message`: it says what to do next and contains no key, path or stack.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string[] | undefined;
  readonly requestId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
    this.requestId = options.requestId;
    this.headers = options.headers ?? {};
  }

  /** The same error with further headers of the response. */
  withHeaders(headers: Readonly<Record<string, string>>): AppError {
    return this.#copy(this.message, { headers: { ...this.headers, ...headers } });
  }

  /** The same error about other fields, with a message that names them. */
  withDetails(message: string, details: ErrorDetail[]): AppError {
    return this.#copy(message, { details });
  }

  #copy(message: string, changes: AppErrorOptions): AppError {
    const { details, retryAfterSeconds, allow, requestId, headers, cause } = this;
    return new AppError(this.code, message, {
      details,
      headers,
      cause,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(allow !== undefined && { allow }),
      ...(requestId !== undefined && { requestId }),
      ...changes,
    });
  }

  get status(): number {
    return errorStatus[this.code];
  }

  /** The body that the caller gets. */
  toBody(requestId: string): ErrorBody {
    return { error: { code: this.code, message: this.message, details: this.details, requestId } };
  }
}

/** A 400 that names one field. */
export function invalidField(field: string, issue: string, message = `${field}: ${issue}`): AppError {
  return new AppError('invalid_request', message, { details: [{ field, issue }] });
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorStatus, code);
}

/** Reads an error body of a response. Anything else becomes `internal` with the given message. */
export function errorFromBody(body: unknown, fallbackMessage: string): AppError {
  const error = (body as { error?: Partial<ErrorBody['error']> } | null)?.error;
  if (!error || !isErrorCode(error.code)) return new AppError('internal', fallbackMessage);
  return new AppError(error.code, String(error.message ?? fallbackMessage), {
    details: Array.isArray(error.details) ? error.details : [],
    ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
  });
}
