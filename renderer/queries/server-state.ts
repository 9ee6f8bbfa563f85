import type { HostState, Settings } from '../../shared/contract/settings.ts';

/** How the local server stands to what the settings ask for. */
export type ServerState = 'off' | 'changing' | 'on' | 'failed';

function isAsWanted(address: string, { port, isTls }: Settings['localServer']): boolean {
  const { protocol, port: actualPort } = new URL(address);
  return (protocol === 'https:') === isTls && (port === 0 || Number(actualPort) === port);
}

/**
 * The host starts and moves its listener after it has answered the change of settings, and a certificate may have to be made
 * first: until both agree, it is changing. A host that cannot switch always listens as it was started.
 */
export function serverState(host: HostState, wanted: Settings['localServer'] | undefined): ServerState {
  if (host.serverFailure !== null) return 'failed';
  const canSwitch = host.capabilities.includes('local-server-switch');
  if (host.serverAddress === null) return canSwitch && wanted?.isEnabled ? 'changing' : 'off';
  if (!canSwitch || !wanted) return 'on';
  return wanted.isEnabled && isAsWanted(host.serverAddress, wanted) ? 'on' : 'changing';
}
