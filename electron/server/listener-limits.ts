/** Limits for one caller. Times in milliseconds, sizes in bytes. */
export interface ListenerLimits {
  /** From the connection, or from the first byte of a further request, to the end of a request's head. */
  readonly headTime: number;
  /** For the whole body up to `smallBody` bytes. For larger bodies, the longest time without data. */
  readonly bodyTime: number;
  readonly smallBody: number;
  /** How long, and how much of, the rest of a body is read after the response, so that the caller can read the response. */
  readonly lingerTime: number;
  readonly lingerBytes: number;
  /** Silence after which a connection that serves no request is closed. */
  readonly idleTime: number;
  readonly headSize: number;
  readonly connections: number;
  /** Requests at the same time on one HTTP/2 connection. */
  readonly streams: number;
  /** How long a caller with a key, or the window, may read nothing of a ready response. */
  readonly stallTime: number;
  /** Unread bytes of responses of one connection. The next response starts when fewer are left. */
  readonly unreadBytes: number;
  /** Open connections of strangers, which are callers that haven't sent a valid key or the window's cookie. */
  readonly strangers: number;
  /** Of one stranger: open requests (HTTP/2 rejects as many more, and then closes), and simultaneous responses. */
  readonly strangerRequests: number;
  readonly strangerResponses: number;
  readonly strangerStallTime: number;
  readonly strangerIdleTime: number;
}

const megabyte = 1_048_576;

export const defaultLimits: ListenerLimits = {
  headTime: 10_000,
  bodyTime: 30_000,
  smallBody: 4 * megabyte,
  lingerTime: 10_000,
  lingerBytes: 64 * megabyte,
  idleTime: 65_000,
  headSize: 32_768,
  connections: 1024,
  streams: 128,
  // A program that is stopped in a debugger, or a pager that shows the first page, reads nothing for a while.
  stallTime: 120_000,
  unreadBytes: 8 * megabyte,
  strangers: 128,
  strangerRequests: 8,
  strangerResponses: 2,
  strangerStallTime: 15_000,
  strangerIdleTime: 30_000,
};
