import { createContext, useContext } from 'react';
import { type Capability, type HostState, readHost } from '../../shared/contract/settings.ts';
import type { FramePort, HostFrame, WindowFrame } from '../../shared/port-frames.ts';
import { browserFetch } from './browser-fetch.ts';
import { type Client, createClient } from './client.ts';
import { type Connection, type HostFetch, watchConnection } from './host-fetch.ts';
import { createPortFetch } from './port-fetch.ts';
import { createSocketFetch, openSocket } from './socket-fetch.ts';

/** The API that the desktop's preload script adds to the page. */
interface DesktopBridge {
  /** Requests the host's end of the port. It arrives as a `PortMessage` of this page. */
  requestPort(): void;
}

type HostDetails = Pick<HostState, 'platform' | 'version' | 'capabilities'>;

/** Has the details of the host, so that the window draws its first screen while the host starts. */
interface PortMessage {
  readonly name: typeof portMessage;
  readonly host: HostDetails;
}

/** The name under which the preload script passes the port on. */
const portMessage = 'touchstone:port';

/** The host that this window works with. */
export interface Host {
  readonly client: Client;
  readonly platform: HostState['platform'];
  readonly version: string;
  /** The capabilities of the host. Check these, never the kind of host. */
  readonly capabilities: ReadonlySet<Capability>;
}

/** A port of the page as a `FramePort`. */
export function framePort(port: MessagePort): FramePort<HostFrame, WindowFrame> {
  return {
    send: (frame) => port.postMessage(frame),
    receive(listener) {
      port.addEventListener('message', (event: MessageEvent<HostFrame>) => listener(event.data));
      port.start();
    },
    onClose: (listener) => port.addEventListener('close', listener),
  };
}

function receivePort(bridge: DesktopBridge): Promise<{ port: MessagePort; host: HostDetails }> {
  return new Promise((resolve) => {
    const take = (event: MessageEvent<PortMessage | null>): void => {
      const [port] = event.ports;
      // The preload script runs in this page's window, so a message from another source isn't from it.
      if (event.source !== window || event.data?.name !== portMessage || !port) return;
      window.removeEventListener('message', take);
      resolve({ port, host: event.data.host });
    };
    window.addEventListener('message', take);
    bridge.requestPort();
  });
}

/**
 * Connects to the host (over the desktop's port, otherwise to the server of this page) and gets its capabilities. Each request reports
 * the state of the connection to `onConnection`. Throws `AppError`.
 */
export async function connectHost(options: {
  signal: AbortSignal;
  onConnection: (connection: Connection) => void;
}): Promise<Host> {
  const bridge = (globalThis as { touchstone?: DesktopBridge }).touchstone;
  const reached = bridge && (await receivePort(bridge));
  const hostFetch: HostFetch = reached
    ? createPortFetch(framePort(reached.port))
    : createSocketFetch({ direct: browserFetch, open: openSocket });
  const client = createClient(watchConnection(hostFetch, options.onConnection));
  const { platform, version, capabilities } =
    reached?.host ?? (await client.call(readHost, { signal: options.signal }));
  return { client, platform, version, capabilities: new Set(capabilities) };
}

const HostContext = createContext<Host | null>(null);

/** Provides the host; tests provide one in memory. */
export const HostProvider = HostContext.Provider;

/** The host that this window works with. */
export function useHost(): Host {
  const host = useContext(HostContext);
  if (!host) throw new Error('useHost needs a HostProvider above it');
  return host;
}

/** Whether the host has a capability. The window hides what it lacks. */
export function useCapability(capability: Capability): boolean {
  return useHost().capabilities.has(capability);
}
