import { createContext, useContext } from 'react';
import type { Capability } from '../../shared/contract/settings.ts';
import type { Host } from './connect-host.ts';

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
