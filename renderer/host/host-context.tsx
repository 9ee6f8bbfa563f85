import { createContext, useContext } from 'react';
import { type Capability, type HostState, readHost } from '../../shared/contract/settings.ts';
import type { FramePort, HostFrame, WindowFrame } from '../../shared/port-frames.ts';
import { browserFetch } from './browser-fetch.ts';
import { type Client, createClient } from './client.ts';
import { type Connection, type HostFetch, watchConnection } from './host-fetch.ts';
import { createPortFetch } from './port-fetch.ts';
import { createSocketFetch, openSocket } from './socket-fetch.ts';

/** What the desktop's preload script puts on the page. */
interface DesktopBridge {
  /** Asks the host for its end of the port; it comes as a message of this page, named `portMessage`. */
  requestPort(): void;
}

/** The name under which the preload script passes the port on. */
const portMessage = 'touchstone:port';

/** The host that this window works with. */
export interface Host {
  readonly client: Client;
  readonly platform: HostState['platform'];
  readonly version: string;
  /** What the window may offer here; ask for these, never for the kind of host. */
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

function receivePort(bridge: DesktopBridge): Promise<MessagePort> {
  return new Promise((resolve) => {
    const take = (event: MessageEvent): void => {
      const [port] = event.ports;
      // The preload script runs in this page's window: a message from anywhere else is not from it.
      if (event.source !== window || event.data !== portMessage || !port) return;
      window.removeEventListener('message', take);
      resolve(port);
    };
    window.addEventListener('message', take);
    bridge.requestPort();
  });
}

async function reachHost(): Promise<HostFetch> {
  const bridge = (globalThis as { touchstone?: DesktopBridge }).touchstone;
  return bridge
    ? createPortFetch(framePort(await receivePort(bridge)))
    : createSocketFetch({ direct: browserFetch, open: openSocket });
}

/**
 * Finds the host (the desktop's port, otherwise the server of this page) and asks what it offers. `onConnection` is told
 * whenever a request has shown how the host stands to this window. Throws `AppError`.
 */
export async function connectHost(options: {
  signal: AbortSignal;
  onConnection: (connection: Connection) => void;
}): Promise<Host> {
  const client = createClient(watchConnection(await reachHost(), options.onConnection));
  const { platform, version, capabilities } = await client.call(readHost, { signal: options.signal });
  return { client, platform, version, capabilities: new Set(capabilities) };
}

const HostContext = createContext<Host | null>(null);

/** Gives the window its host; tests give it one in memory. */
export const HostProvider = HostContext.Provider;

/** The host that this window works with. */
export function useHost(): Host {
  const host = useContext(HostContext);
  if (!host) throw new Error('useHost needs a HostProvider above it');
  return host;
}

/** Whether the host offers something; what it does not offer is not shown. */
export function useCapability(capability: Capability): boolean {
  return useHost().capabilities.has(capability);
}
