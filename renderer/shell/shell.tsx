import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { EmptyState, LoadingRows } from '../components/state-panels.tsx';
import { useHost } from '../host/host-context.tsx';
import { useFollowOnDevice } from '../queries/on-device.ts';
import { hostKey } from '../queries/host-state.ts';
import { runsKey } from '../queries/runs.ts';
import { useSettings } from '../queries/settings.ts';
import { useRenewalAfterSilence } from '../queries/use-renewal-after-silence.ts';
import { useActivity } from '../stores/activity.ts';
import { applyTheme } from '../stores/theme.ts';
import { useWindowState } from '../stores/window-state.ts';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionNotice } from './connection-notice.tsx';
import { useGlobalKeys } from './global-keys.ts';
import { useInputMethodKeys } from './input-method-keys.ts';
import { KeysHelp } from './keys-help.tsx';
import { Rail } from './rail.tsx';
import { screenAt, screens, type Screen } from './screens.ts';
import { StatusBar } from './status-bar.tsx';
import { TitleBar } from './title-bar.tsx';
import { Toaster } from './toaster.tsx';
import { useWindowActions } from './window-actions.ts';

function OpenScreen({ screen }: { screen: Screen | undefined }) {
  const [, navigate] = useLocation();
  if (!screen) {
    return (
      <div className="boundary">
        <EmptyState title="There is no such screen" reason="The address is from another version, or it was cut.">
          <Button onClick={() => navigate(`/${screens[0].id}`)}>Open the playground</Button>
        </EmptyState>
      </div>
    );
  }
  const Component = screen.component;
  return (
    <ErrorBoundary key={screen.id} name={screen.name}>
      <Suspense fallback={<LoadingRows label={`Opening ${screen.name}`} />}>
        <Component />
      </Suspense>
    </ErrorBoundary>
  );
}

/** A theme that was chosen in another window of the same host is taken over at the next start. */
function useKeptTheme(): void {
  const theme = useSettings().data?.appearance.theme;
  useEffect(() => {
    if (theme) applyTheme(theme);
  }, [theme]);
}

/** A run that ends has changed what is kept: the status bar's count and the lists of runs are read again. */
function useRenewalAfterRuns(): void {
  const queryClient = useQueryClient();
  useEffect(
    () =>
      useActivity.subscribe(({ streamingRuns }, before) => {
        if (streamingRuns >= before.streamingRuns) return;
        void queryClient.invalidateQueries({ queryKey: hostKey });
        void queryClient.invalidateQueries({ queryKey: runsKey });
      }),
    [queryClient],
  );
}

/** The frame of the window around the open screen. */
export function Shell() {
  const [location] = useLocation();
  const { capabilities, platform } = useHost();
  const screen = screenAt(location);
  useInputMethodKeys();
  useGlobalKeys();
  useWindowActions();
  useFollowOnDevice();
  useKeptTheme();
  useRenewalAfterRuns();
  useRenewalAfterSilence();
  useEffect(() => {
    if (screen) useWindowState.getState().keepLocation(location);
    document.title = screen ? `${screen.name} - Touchstone` : 'Touchstone';
  }, [location, screen]);

  if (location === '/' || location === '') return <Redirect to={useWindowState.getState().location} replace />;
  // macOS does not tell a page how much room its lights take.
  const hasLights = platform === 'darwin' && capabilities.has('window-controls');
  return (
    <div className="window" data-title-bar={hasLights ? 'mac' : undefined}>
      <TitleBar screenName={screen?.name ?? 'Touchstone'} />
      <ConnectionNotice />
      <Rail current={screen} />
      <main className="screen">
        <OpenScreen screen={screen} />
      </main>
      <StatusBar />
      <CommandPalette />
      <KeysHelp />
      <Toaster />
    </div>
  );
}
