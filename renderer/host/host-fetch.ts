/** One request to the host, the same whether it goes over the port or over HTTP. */
export interface HostRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query, from the first slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A form is sent in chunks; its media type isn't among the headers. */
  readonly body: string | Uint8Array<ArrayBuffer> | FormData | null;
  /** Whether the response may take long or never end: such requests must not block a connection that others need. */
  readonly isLasting?: boolean;
  /** Called with the uploaded bytes of a form. */
  readonly onUpload?: (bytes: number) => void;
  /** Aborts the request and its work at the host. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a request and resolves with the head of the response; the body streams as it is read. Rejects with an `AbortError` when the
 * signal aborts and with an `AppError` when the host can't be reached.
 */
export type HostFetch = (request: HostRequest) => Promise<Response>;

/** `there`: the host responds. `silent`: it can't be reached. `locked`: it was restarted, and this browser isn't signed in. */
export type Connection = 'there' | 'silent' | 'locked';

/** Reports the state of the connection after each request, except after an aborted one. */
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
