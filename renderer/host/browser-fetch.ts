import { AppError } from '../../shared/app-error.ts';
import { browserUpload } from './browser-upload.ts';
import { sessionHeader } from '../../shared/window-session.ts';
import type { HostFetch } from './host-fetch.ts';
import { readSession } from './window-session.ts';

/** The cookie of this browser ends with the host, and the new one comes with the address that the host prints. */
export const hostIsSilent =
  "Touchstone isn't responding. Start it again and open the address that it prints. Your work is kept.";

/** Reaches the host that served this page. Cookie and session secret together say who asks. */
export const browserFetch: HostFetch = async (request) => {
  const { method, path, body, signal } = request;
  const session = readSession();
  const headers = session === null ? request.headers : { ...request.headers, [sessionHeader]: session };
  try {
    if (body instanceof FormData) return await browserUpload({ ...request, headers }, body);
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
