/** Calls the host as the window does and resolves with the JSON of the response. */
export type CallHost = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<unknown>;
