import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { Log } from '../log.ts';
import { describeDiskFailure } from '../storage/disk-failure.ts';
import { JsonResponse } from './json-response.ts';

/**
 * Headers of every response that doesn't set its own. Responses contain people's texts. No cache may store them, no browser may guess
 * another media type, and no page of another origin may embed them.
 */
export const defaultHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};

/** The error format of every endpoint and of the listener, with the headers that belong to its code. */
export function errorResponse(
  error: AppError,
  requestId: string = randomUUID(),
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new JsonResponse(error.toBody(requestId), {
    status: error.status,
    headers: {
      ...defaultHeaders,
      ...headers,
      ...error.headers,
      'x-request-id': requestId,
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(error.allow ? { allow: error.allow.join(', ') } : {}),
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    },
  });
}

/** The error that the caller gets for a failure. Logs unexpected failures. */
export function toAppError(failure: unknown, requestId: string, reportFailure: Log): AppError {
  if (failure instanceof AppError) return failure;
  // The caller left, or the service is closing. Neither is logged.
  if (failure instanceof Error && failure.name === 'AbortError') {
    return new AppError('internal', 'The request was stopped before its response was complete.');
  }
  reportFailure(`request ${requestId} failed`, failure);
  return (
    describeDiskFailure(failure) ??
    new AppError(
      'internal',
      `Unexpected error in Touchstone. Your request is not the cause. Search the log for ${requestId}.`,
    )
  );
}
