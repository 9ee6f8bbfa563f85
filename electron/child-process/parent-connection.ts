/** Electron's channel of a utility process, which replaces Node's. */
interface UtilityPort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

export interface ParentConnection<Incoming, Outgoing> {
  send(message: Outgoing): void;
  onMessage(listener: (message: Incoming) => void): void;
}

/**
 * A child's connection to the process that started it, in either host. The child exits when its parent ends for any reason:
 * Electron ends its utility processes, and Node closes the channel.
 */
export function connectToParent<Incoming, Outgoing>(): ParentConnection<Incoming, Outgoing> {
  const { parentPort } = process as unknown as { readonly parentPort?: UtilityPort };
  if (parentPort) {
    return {
      send: (message) => parentPort.postMessage(message),
      onMessage: (listener) => parentPort.on('message', ({ data }) => listener(data as Incoming)),
    };
  }
  process.on('disconnect', () => process.exit());
  return {
    send(message) {
      if (process.connected) process.send?.(message);
    },
    onMessage: (listener) => void process.on('message', listener),
  };
}
