import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { useHost } from '../host/host-context.tsx';
import { useFollowOnDevice } from '../queries/on-device.ts';
import { hostKey } from '../queries/host-state.ts';
import { runsKey } from '../queries/runs.ts';
import { useSettings } from '../queries/settings.ts';
import { useRenewalAfterSilence } from '../queries/use-renewal-after-silence.ts';
import { allActions, useActionStore } from '../stores/actions.ts';
import { useActivity } from '../stores/activity.ts';
import { useRecentObjects } from '../stores/recent-objects.ts';
import { applyTheme } from '../stores/theme.ts';
import { useWindowState } from '../stores/window-state.ts';
import { About } from './about.tsx';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionNotice } from './connection-notice.tsx';
import { useGlobalKeys } from './global-keys.ts';
import { useInputMethodKeys } from './input-method-keys.ts';
import { KeysHelp } from './keys-help.tsx';
import { OpenScreen } from './open-screen.tsx';
import { Rail } from './rail.tsx';
import { runScreenCommand } from './screen-commands.ts';
import { screenAt, type Screen } from './screens.ts';
import { StatusBar } from './status-bar.tsx';
import { TitleBar } from './title-bar.tsx';
import { Toaster } from './toaster.tsx';
import { useWindowActions } from './window-actions.ts';

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
  useEffect(() => {
    const unsubscribe = useActivity.subscribe(({ streamingRuns }, before) => {
      if (streamingRuns >= before.streamingRuns) return;
      void queryClient.invalidateQueries({ queryKey: hostKey });
      void queryClient.invalidateQueries({ queryKey: runsKey });
    });
    return () => unsubscribe();
  }, [queryClient]);
}

/**
 * `/commands/<id>` runs a command of a screen or of the window itself: the application menu of the desktop opens such addresses.
 * The address is replaced, so that Back doesn't run the command again.
 */
function useCommandAddress(): void {
  const [location, navigate] = useLocation();
  useEffect(() => {
    const [, first, id = ''] = location.split('/');
    if (first !== 'commands' || runScreenCommand(id, navigate)) return;
    navigate(useWindowState.getState().location, { replace: true });
    allActions(useActionStore.getState().sources)
      .find((action) => action.id === id)
      ?.run();
  }, [location, navigate]);
}

/** Keeps what was opened for the palette's recent objects. */
function useRecording(screen: Screen | undefined): void {
  const [location] = useLocation();
  const place = useActivity((state) => state.place);
  useEffect(() => {
    if (!screen || place === null || location === `/${screen.id}`) return;
    useRecentObjects.getState().add({ address: location, title: place, screen: screen.name });
  }, [location, place, screen]);
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

  useCommandAddress();
  useRecording(screen);

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
      <About />
      <Toaster />
    </div>
  );
}
