import type { HostFetch } from './host-fetch.ts';

/**
 * `there`: the host answers. `silent`: it cannot be reached. `locked`: it answers and does not know this browser, because it
 * was started again.
 */
export type Connection = 'there' | 'silent' | 'locked';

/** Tells after each request how the host stands to this window; a request that was stopped says nothing about it. */
export function watchConnection(hostFetch: HostFetch, onConnection: (connection: Connection) => void): HostFetch {
  return async (request) => {
    try {
      const response = await hostFetch(request);
      onConnection(response.status === 401 ? 'locked' : 'there');
      return response;
    } catch (error) {
      if (!request.signal?.aborted) onConnection('silent');
      throw error;
    }
  };
}
