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
};
