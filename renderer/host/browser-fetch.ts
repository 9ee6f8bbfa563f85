import { AppError } from '../../shared/app-error.ts';
import { browserUpload } from './browser-upload.ts';
import type { HostFetch } from './host-fetch.ts';

/** Reaches the host that served this page; the window's cookie says who asks. */
export const browserFetch: HostFetch = async (request) => {
  const { method, path, headers, body, signal } = request;
  try {
    if (body instanceof FormData) return await browserUpload(request, body);
    return await fetch(path, {
      method,
      headers,
      body,
      signal: signal ?? null,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new AppError('internal', 'The host does not answer. Start it again, then reload this page.', {
      cause: error,
    });
  }
};
