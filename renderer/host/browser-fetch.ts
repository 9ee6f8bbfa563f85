import { sessionHeader, sessionStorageKey } from '../../shared/window-socket.ts';
import type { HostFetch, HostRequest } from './host-fetch.ts';
import { AppError } from '../../shared/app-error.ts';

/**
 * The session secret of this browser; null when it isn't signed in. Read for every request: after a restart of the host, the new
 * secret comes with an address that another tab may open.
 */
export function readSession(): string | null {
  try {
    return localStorage.getItem(sessionStorageKey);
  } catch {
    // The browser blocks site data.
    return null;
  }
}

/** Header lines in the browser's format, one per line. */
function headersOf(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.trim().split(/[\r\n]+/)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/**
 * Sends a form like `fetch`, but reports the progress of the upload, which `fetch` can't. Rejects with the signal's reason, or with
 * a `TypeError` when the host can't be reached.
 */
function browserUpload({ method, path, headers, signal, onUpload }: HostRequest, form: FormData): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open(method, path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.responseType = 'arraybuffer';
    request.upload.addEventListener('progress', ({ loaded }) => onUpload?.(loaded));
    request.addEventListener('load', () => {
      const { status } = request;
      const body = status === 204 ? null : (request.response as ArrayBuffer);
      resolve(new Response(body, { status, headers: headersOf(request.getAllResponseHeaders()) }));
    });
    request.addEventListener('error', () =>
      reject(new TypeError("Couldn't reach Touchstone. Check that it is running.")),
    );
    request.addEventListener('abort', () => reject(signal?.reason as Error));
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', abort));
    signal?.addEventListener('abort', abort);
    request.send(form);
  });
}

/** The cookie of this browser expires with the host, and the new one comes with the address that the host prints. */
export const hostIsSilent =
  "Touchstone isn't responding. Start it again and open the address that it prints. Your work is kept.";

/** Sends requests to the host that served this page. Cookie and session secret together authenticate the browser. */
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
