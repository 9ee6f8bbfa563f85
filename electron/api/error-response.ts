import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { Log } from '../log.ts';
import { describeDiskFailure } from '../storage/disk-failure.ts';

/**
 * On every response that doesn't set its own. Responses hold people's texts: no cache keeps them, no browser guesses another media
 * type, and no page of another origin embeds them.
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
  return Response.json(error.toBody(requestId), {
    status: error.status,
    headers: {
      ...defaultHeaders,
      ...headers,
      'x-request-id': requestId,
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(error.allow ? { allow: error.allow.join(', ') } : {}),
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    },
  });
}

/** What the caller of a request gets to know of a failure. Reports the failures that are ours. */
export function toAppError(failure: unknown, requestId: string, reportFailure: Log): AppError {
  if (failure instanceof AppError) return failure;
  // The caller left, or the service is closing: neither is worth a report.
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
