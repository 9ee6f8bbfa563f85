/** What one caller may take of the listener. Times in milliseconds, sizes in bytes. */
export interface ListenerLimits {
  /** From the connection, or from the previous answer's successor's first byte, to the end of a request's head. */
  readonly headTime: number;
  /** The whole body while it is small; the longest silence once it is larger than `smallBody`. */
  readonly bodyTime: number;
  readonly smallBody: number;
  /** How long, and how much of, a body is still taken in after its answer, so that the caller can read the answer. */
  readonly lingerTime: number;
  readonly lingerBytes: number;
  /** Silence after which a connection that serves no request is closed. */
  readonly idleTime: number;
  readonly headSize: number;
  readonly connections: number;
  /** Requests at the same time on one HTTP/2 connection. */
  readonly streams: number;
  /** How long a caller with a key, or the window, may take nothing of a response that is ready for it. */
  readonly stallTime: number;
  /** Of the responses that a connection hasn't read; the next response begins below it. */
  readonly unreadBytes: number;
  /** Strangers are callers that haven't sent a valid key or the window's cookie. These connections of theirs stay open. */
  readonly strangers: number;
  /** Of one stranger: open requests (HTTP/2 refuses as many more, and then ends), and responses at the same time. */
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
