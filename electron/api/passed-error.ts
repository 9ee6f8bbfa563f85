import { randomUUID } from 'node:crypto';
import type { AppError } from '../../shared/app-error.ts';
import type { PassedErrorFormat } from '../../shared/contract/passthrough.ts';
import { defaultHeaders, errorResponse } from './error-response.ts';

/** OpenAI's types of errors, by status. */
const openAiTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** Anthropic's. */
const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
};

/** The status names of Google's APIs. */
const googleStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  504: 'DEADLINE_EXCEEDED',
};

function googleBody({ code, message, status }: AppError, requestId: string): object {
  const reason = { reason: code.toUpperCase(), domain: 'touchstone', metadata: { requestId } };
  return {
    error: {
      code: status,
      message,
      status: googleStatuses[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE'),
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...reason }],
    },
  };
}

function bodyOf(format: PassedErrorFormat, error: AppError, requestId: string): object {
  if (format === 'gemini') return googleBody(error, requestId);
  const { code, message, status, details } = error;
  if (format === 'anthropic') {
    const type = anthropicTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
    return { type: 'error', error: { type, message }, request_id: requestId };
  }
  const type = openAiTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return { error: { message, type, param: details[0]?.field ?? null, code } };
}

const formats: readonly PassedErrorFormat[] = ['openai', 'anthropic', 'gemini'];

/** The format of a path that no endpoint has; null for a path of Touchstone's own API. */
export function formatOfPath(path: string): PassedErrorFormat | null {
  return formats.find((format) => path === `/${format}` || path.startsWith(`/${format}/`)) ?? null;
}

/** An error of this service in the format of another API, so that its libraries show the message. */
export function passedError(error: AppError, format: PassedErrorFormat, requestId: string): Response {
  const { headers, status } = errorResponse(error, requestId);
  headers.delete('www-authenticate');
  // A missing key or an empty account doesn't come right by itself.
  const isPassing = status === 429 || error.code === 'provider_failed' || error.code === 'provider_silent';
  headers.set('x-should-retry', String(isPassing));
  if (format === 'anthropic') headers.set('request-id', requestId);
  headers.delete('content-length');
  return new Response(JSON.stringify(bodyOf(format, error, requestId)), {
    status,
    headers: { ...defaultHeaders, ...Object.fromEntries(headers) },
  });
}

/** An error in the format of the API at the path and query; in that of this service if they are null. */
export function errorResponseAt(target: string | null, error: AppError, requestId: string = randomUUID()): Response {
  const format = target === null ? null : formatOfPath(target.split('?', 1)[0]!);
  return format === null ? errorResponse(error, requestId) : passedError(error, format, requestId);
}
