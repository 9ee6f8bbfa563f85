import type { Host } from '../../electron/create-host.ts';
import { createClient, type Client } from '../../renderer/host/client.ts';
import { holdRequest } from './hold-request.ts';

/** The window's typed client on a host, without a socket. */
export function windowClient({ api }: Pick<Host, 'api'>): Client {
  return createClient(({ method, path, headers, body, signal }) => {
    const request = new Request(`http://window.test${path}`, {
      method,
      headers: { ...headers },
      body,
      ...(signal && { signal }),
    });
    if (signal) holdRequest(request, signal);
    return api.fetch(request, { access: 'window' });
  });
}
