/** One request to the host, the same whether it goes over the port or over HTTP. */
export interface HostRequest {
  /** Upper case. */
  readonly method: string;
  /** Path and query, from the first slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A form is sent piece by piece; its media type is not among the headers. */
  readonly body: string | Uint8Array<ArrayBuffer> | FormData | null;
  /** Whether the answer may take long or has no end: such requests must not hold what others need to reach the host. */
  readonly isLasting?: boolean;
  /** Told how many bytes of a form the host has taken. */
  readonly onUpload?: (bytes: number) => void;
  /** Ends the request and the work behind it. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a request and resolves with the head of the response; the body streams as it is read. Rejects with an `AbortError`
 * when the signal ended it and with an `AppError` when the host cannot be reached.
 */
export type HostFetch = (request: HostRequest) => Promise<Response>;

/**
 * `there`: the host answers. `silent`: it cannot be reached. `locked`: it answers and does not know this browser, because it
 * was started again.
 */
export type Connection = 'there' | 'silent' | 'locked';

/** Reports the state of the connection after each request; an aborted request says nothing about it. */
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
