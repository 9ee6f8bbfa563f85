import type { HostRequest } from './host-fetch.ts';

/** Header lines as the browser gives them, one below the other. */
function headersOf(lines: string): Headers {
  const headers = new Headers();
  for (const line of lines.trim().split(/[\r\n]+/)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

/**
 * Sends a form as `fetch` would, but tells how far it is: `fetch` does not. Rejects with the signal's reason, or with a
 * `TypeError` when the host cannot be reached.
 */
export function browserUpload(
  { method, path, headers, signal, onUpload }: HostRequest,
  form: FormData,
): Promise<Response> {
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
