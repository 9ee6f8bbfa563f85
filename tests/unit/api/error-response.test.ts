import { describe, expect, test, vi } from 'vitest';
import { errorResponse, toAppError } from '../../../electron/api/error-response.ts';
import { AppError } from '../../../shared/app-error.ts';

const requestId = '0f7a1a5e-6f0e-4d53-9d1a-3f1d0a4a2f11';

describe('errorResponse', () => {
  test('has the error format and headers that keep it out of caches and other pages', async () => {
    const response = errorResponse(new AppError('not_found', 'There is no run with this ID.'), requestId);
    expect(response.status).toBe(404);
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
    });
    expect(await response.json()).toEqual({
      error: { code: 'not_found', message: 'There is no run with this ID.', details: [], requestId },
    });
  });

  test('adds the headers of the code', () => {
    const headersOf = (error: AppError) => errorResponse(error).headers;
    expect(headersOf(new AppError('unauthorized', 'No key.')).get('www-authenticate')).toBe('Bearer');
    expect(headersOf(new AppError('rate_limited', 'Slow down.', { retryAfterSeconds: 7 })).get('retry-after')).toBe(
      '7',
    );
    const allow = ['GET', 'PUT'];
    expect(headersOf(new AppError('method_not_allowed', 'No.', { allow })).get('allow')).toBe('GET, PUT');
  });
});

describe('toAppError', () => {
  test('logs an unexpected failure and names the request in the log', () => {
    const report = vi.fn();
    const failure = new TypeError('secret detail');
    const error = toAppError(failure, requestId, report);
    expect(report).toHaveBeenCalledExactlyOnceWith(`request ${requestId} failed`, failure);
    expect(error.code).toBe('internal');
    expect(error.message).toContain(requestId);
    expect(error.message).not.toContain('secret');
  });

  test('logs neither expected errors nor aborted requests', () => {
    const report = vi.fn();
    const expected = new AppError('conflict', 'Too late.');
    expect(toAppError(expected, requestId, report)).toBe(expected);
    expect(toAppError(new DOMException('Stopped', 'AbortError'), requestId, report).code).toBe('internal');
    expect(report).not.toHaveBeenCalled();
  });
});
