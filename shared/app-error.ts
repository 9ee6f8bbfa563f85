/** One expected failure: what a caller sent or what a provider answered, never a bug of ours. */

/** Every stable error code with the HTTP status it is answered with. */
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
  provider_silent: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One place in the request that is wrong; `line` and `column` count from 1 and are given for templates. */
export interface ErrorDetail {
  field: string;
  issue: string;
  line?: number;
  column?: number;
}

/** The error form of every endpoint, and of the last event of a stream that failed. */
export interface ErrorBody {
  error: { code: ErrorCode; message: string; details: ErrorDetail[]; requestId: string };
}

export interface AppErrorOptions {
  details?: ErrorDetail[];
  /** Seconds after which a new attempt makes sense; becomes `retry-after`. */
  retryAfterSeconds?: number;
  /** Methods that the path does take; becomes `Allow`. */
  allow?: string[];
  requestId?: string;
  cause?: unknown;
}

/**
 * An expected failure with a stable code. `message` is shown to people: it says what to do next and holds no key,
 * no path and no stack.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;
  readonly allow: string[] | undefined;
  readonly requestId: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
    this.requestId = options.requestId;
  }

  get status(): number {
    return errorStatus[this.code];
  }

  /** The body that crosses to the caller. */
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

/** Reads an error body that came over a wire; anything that is not one becomes `internal` with the given message. */
export function errorFromBody(body: unknown, fallbackMessage: string): AppError {
  const error = (body as { error?: Partial<ErrorBody['error']> } | null)?.error;
  if (!error || !isErrorCode(error.code)) return new AppError('internal', fallbackMessage);
  return new AppError(error.code, String(error.message ?? fallbackMessage), {
    details: Array.isArray(error.details) ? error.details : [],
    ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
  });
}
