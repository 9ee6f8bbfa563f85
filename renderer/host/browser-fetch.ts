import { AppError } from '../../shared/app-error.ts';
import { browserUpload } from './browser-upload.ts';
import type { HostFetch } from './host-fetch.ts';

/** The cookie of this browser ends with the host, and the new one comes with the address that the host prints. */
export const hostIsSilent =
  "Touchstone isn't responding. Start it again and open the address that it prints. Your work is kept.";

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
    throw new AppError('internal', hostIsSilent, { cause: error });
  }
};
