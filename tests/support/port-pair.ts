import { MessageChannel } from 'node:worker_threads';
import type { Api } from '../../electron/api/api.ts';
import { servePort } from '../../electron/ipc/serve-port.ts';
import { framePort } from '../../renderer/host/host-context.tsx';
import { createPortFetch } from '../../renderer/host/port-fetch.ts';
import type { HostFetch } from '../../renderer/host/host-fetch.ts';
import type { HostFrame, WindowFrame } from '../../shared/port-frames.ts';

export interface PortPair extends Disposable {
  readonly hostFetch: HostFetch;
  /** Every frame that crossed, in order. */
  readonly frames: (WindowFrame | HostFrame)[];
  /** Resolves with the first frame from now on that `isWanted`. */
  nextFrame(isExpected: (frame: WindowFrame | HostFrame) => boolean): Promise<WindowFrame | HostFrame>;
  /** Ends the port as the end of the window's page does. */
  closeWindow(): void;
  /** Ends the port as the end of the host does. */
  closeHost(): void;
}

/** Window and host on the two ends of a real MessagePort, as in the desktop, without Electron. */
export function connectByPort(fetch: Api['fetch']): PortPair {
  const { port1, port2 } = new MessageChannel();
  const frames: (WindowFrame | HostFrame)[] = [];
  const watchers = new Set<(frame: WindowFrame | HostFrame) => void>();
  const record = (frame: WindowFrame | HostFrame): void => {
    frames.push(frame);
    for (const watch of watchers) watch(frame);
  };

  servePort(
    {
      send: (frame) => {
        record(frame);
        port2.postMessage(frame);
      },
      receive: (listener) =>
        port2.on('message', (frame: WindowFrame) => {
          record(frame);
          listener(frame);
        }),
      onClose: (listener) => port2.on('close', listener),
    },
    { fetch },
  );

  return {
    hostFetch: createPortFetch(framePort(port1 as unknown as MessagePort)),
    frames,
    nextFrame: (isExpected) =>
      new Promise((resolve) => {
        const watch = (frame: WindowFrame | HostFrame): void => {
          if (!isExpected(frame)) return;
          watchers.delete(watch);
          resolve(frame);
        };
        watchers.add(watch);
      }),
    closeWindow: () => port1.close(),
    closeHost: () => port2.close(),
    [Symbol.dispose]: () => port1.close(),
  };
}
