import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Tooltip } from 'radix-ui';
import { Router } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { AppError } from '../shared/app-error.ts';
import { Button } from './components/button.tsx';
import { describeError, Failure } from './components/state-panels.tsx';
import { ErrorBoundary } from './components/error-boundary.tsx';
import { type Host, HostProvider } from './host/host-context.tsx';
import { screens } from './shell/screens.ts';
import { Shell } from './shell/shell.tsx';
import { useWindowState } from './stores/window.ts';

/** Replaces the window while its host can't be reached or this browser isn't signed in. */
export function NoHost({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isUnknown = error instanceof AppError && (error.code === 'unauthorized' || error.code === 'forbidden');
  const { message, requestId } = describeError(error);
  return (
    <main className="boundary">
      <Failure
        title={isUnknown ? 'This browser is not signed in to Touchstone' : "Can't connect to Touchstone"}
        reason={isUnknown ? 'Open the address that Touchstone printed in the terminal when it started.' : message}
        requestId={requestId}
      >
        <Button onClick={onRetry}>Retry</Button>
      </Failure>
    </main>
  );
}

/** A tooltip appears after the pointer rests for 400 ms, and immediately after another tooltip. */
const tooltipMilliseconds = 400;

/** The address that crashed would crash again, now and at the next start. */
function leaveAddress(): void {
  const [first] = screens;
  useWindowState.getState().saveLocation(`/${first.id}`);
  location.hash = `/${first.id}`;
}

/** The window on a connected host. Addresses follow `#`, which works on `app://` and over HTTP alike. */
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
