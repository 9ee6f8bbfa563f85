import type { AppError } from '../../shared/app-error.ts';

/** The error form of every endpoint, with the headers that belong to its code. */
export function errorAnswer(error: AppError, requestId: string, headers: Record<string, string> = {}): Response {
  return Response.json(error.toBody(requestId), {
    status: error.status,
    headers: {
      ...headers,
      'x-request-id': requestId,
      ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(error.allow ? { allow: error.allow.join(', ') } : {}),
      ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    },
  });
}
