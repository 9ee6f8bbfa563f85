import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { Tooltip } from 'radix-ui';
import { Router } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { ErrorBoundary } from './components/error-boundary.tsx';
import type { Host } from './host/connect-host.ts';
import { HostProvider } from './host/host-context.tsx';
import { screens } from './shell/screens.ts';
import { Shell } from './shell/shell.tsx';
import { useWindowState } from './stores/window.ts';

/** A tooltip comes after 400 ms of rest, and at once while another one was just shown. */
const tooltipMilliseconds = 400;

/** The address that crashed would crash again, now and at the next start. */
function leaveAddress(): void {
  const [first] = screens;
  useWindowState.getState().saveLocation(`/${first.id}`);
  location.hash = `/${first.id}`;
}

/** The window on a host that is there. Addresses stand behind `#`, which works on `app://` and over HTTP alike. */
export function App({ host, queryClient }: { host: Host; queryClient: QueryClient }) {
  return (
    <ErrorBoundary name="Touchstone" onReload={leaveAddress}>
      <HostProvider value={host}>
        <QueryClientProvider client={queryClient}>
          <Tooltip.Provider delayDuration={tooltipMilliseconds}>
            <Router hook={useHashLocation}>
              <Shell />
            </Router>
          </Tooltip.Provider>
        </QueryClientProvider>
      </HostProvider>
    </ErrorBoundary>
  );
}
