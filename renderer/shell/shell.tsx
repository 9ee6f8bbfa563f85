import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Redirect, useLocation } from 'wouter';
import { useHost } from '../host/host-context.tsx';
import { useFollowOnDevice } from '../queries/on-device.ts';
import { hostKey } from '../queries/host-state.ts';
import { auditFacetsKey, auditSummaryKey } from '../queries/audit.ts';
import { auditListKey } from '../queries/audit-list.ts';
import { runsKey } from '../queries/runs.ts';
import { useSettings } from '../queries/settings.ts';
import { useRefetchOnReconnect } from '../queries/query-client.ts';
import { type Action, allActions, useActionStore } from '../stores/actions.ts';
import { useLiveRuns } from '../stores/live-runs.ts';
import { usePageTitle, applyTheme, useConnection, useRecentObjects, useWindowState } from '../stores/window.ts';
import { About } from './about.tsx';
import { CommandPalette } from './command-palette.tsx';
import { useGlobalKeys } from './global-keys.ts';
import { Rail, TitleBar } from './window-frame.tsx';
import { runScreenCommand } from './screen-commands.ts';
import { type Screen, screenAt, screens } from './screens.ts';
import { StatusBar } from './status-bar.tsx';
import { Toaster } from './toaster.tsx';
import { useWindowActions } from './window-actions.ts';
import { EmptyState, Notice } from '../components/state-panels.tsx';
import { Button } from '../components/button.tsx';
import { CleanupBoundary, ErrorBoundary } from '../components/error-boundary.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useFocusKeeper } from '../components/focus.ts';
import { KeyCaps } from '../components/key-caps.tsx';
import { closeOverlay, useOverlay } from './overlay-state.ts';

/** Keys of controls instead of actions. */
const everywhere: readonly Pick<Action, 'title' | 'keys'>[] = [
  { title: 'Next or previous control', keys: 'Tab' },
  { title: 'Move in a list, menu or group of options', keys: 'ArrowUp+ArrowDown' },
  { title: 'Resize a panel (on its divider)', keys: 'ArrowUp+ArrowDown' },
  { title: 'Close', keys: 'Escape' },
  { title: 'Focus notifications', keys: 'F8' },
];

function KeyGroup({ title, entries }: { title: string; entries: readonly Pick<Action, 'title' | 'keys'>[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {entries.map((entry) => (
          <div key={`${entry.title} ${entry.keys}`}>
            <dt>{entry.title}</dt>
            <dd>{entry.keys && <KeyCaps keys={entry.keys} />}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Every available key, from the same registry that runs the actions. */
function KeysHelp() {
  const isOpen = useOverlay(({ open }) => open === 'keys');
  const sources = useActionStore((state) => state.sources);
  const groups = Map.groupBy(
    allActions(sources).filter(({ keys }) => keys !== undefined),
    ({ group }) => group,
  );
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={closeOverlay} isWide>
      <div className="key-list">
        {[...groups].map(([group, actions]) => (
          <KeyGroup key={group} title={group} entries={actions} />
        ))}
        <KeyGroup title="Everywhere" entries={everywhere} />
      </div>
    </Dialog>
  );
}

/** The screen of the address. Contains its crashes, also while it is left. */
export function OpenScreen({ screen }: { screen: Screen | undefined }) {
  const [location, navigate] = useLocation();
  if (!screen) {
    return (
      <div className="boundary">
        <EmptyState title="Page not found" reason="The link may be incomplete or outdated.">
          <Button onClick={() => navigate(`/${screens[0].id}`)}>Open the playground</Button>
        </EmptyState>
      </div>
    );
  }
  const Component = screen.component;
  return (
    <CleanupBoundary resetKey={screen.id}>
      <ErrorBoundary
        key={screen.id}
        name={screen.name}
        resetKey={location}
        // The address that crashed would crash again.
        onReload={() => navigate(`/${screen.id}`)}
      >
        <Component />
      </ErrorBoundary>
    </CleanupBoundary>
  );
}

const words = {
  silent: {
    title: 'Disconnected from Touchstone.',
    remedy: 'Start it again. Your work is kept here.',
  },
  locked: {
    title: 'Touchstone restarted. This browser is not signed in.',
    remedy: 'Open the address from the terminal in another tab. This window then reconnects and keeps your work.',
  },
} as const;

/** Shown above the open screen while the host doesn't respond: the reason and the fix. */
function ConnectionNotice() {
  const connection = useConnection((state) => state.connection);
  if (connection === 'there') return null;
  const { title, remedy } = words[connection];
  return (
    <div className="window__notice">
      <Notice tone="negative">
        <strong>{title}</strong> {remedy}
      </Notice>
    </div>
  );
}

/** Safari ends a composition before the keydown event of the key that ended it, and marks that event with this code only. */
const composingKeyCode = 229;

/**
 * While a person composes a word (Japanese, Chinese, Korean, a dead key), Enter, Escape and the arrows belong to the input method:
 * none of our handlers may send, close or leave. Rich text editors handle compositions themselves.
 */
function keepFromOthers(event: KeyboardEvent): void {
  const { target } = event;
  const isComposing = event.isComposing || event.keyCode === composingKeyCode;
  if (isComposing && !(target instanceof HTMLElement && target.isContentEditable)) event.stopImmediatePropagation();
}

/** Runs before every other listener, also before layers that close with Escape, because these listen at the document. */
export function useInputMethodKeys(): void {
  useEffect(() => {
    window.addEventListener('keydown', keepFromOthers, { capture: true });
    return () => window.removeEventListener('keydown', keepFromOthers, { capture: true });
  }, []);
}

/** A theme that was selected in another window of the same host applies at the next start. */
function useSavedTheme(): void {
  const theme = useSettings().data?.appearance.theme;
  useEffect(() => {
    if (theme) applyTheme(theme);
  }, [theme]);
}

/** A run that ends changes stored data: the status bar's count and the lists of runs are refetched. */
function useRenewalAfterRuns(): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    const unsubscribe = useLiveRuns.subscribe(({ activeCount }, before) => {
      if (activeCount >= before.activeCount) return;
      void queryClient.invalidateQueries({ queryKey: hostKey });
      void queryClient.invalidateQueries({ queryKey: runsKey });
      // The audit reads it where it is shown next: an open list would move the rows while a person works on them.
      for (const queryKey of [auditListKey, auditSummaryKey, auditFacetsKey])
        void queryClient.invalidateQueries({ queryKey, refetchType: 'none' });
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

/** Records opened objects for the palette. */
function useRecording(screen: Screen | undefined): void {
  const [location] = useLocation();
  const title = usePageTitle((state) => state.title);
  useEffect(() => {
    if (!screen || title === null || location === `/${screen.id}`) return;
    useRecentObjects.getState().add({ address: location, title, screen: screen.name });
  }, [location, screen, title]);
}

/** What happens at any screen. In a component of its own, whose changes, such as the title of the page, draw nothing again. */
function WindowEffects({ location, screen }: { location: string; screen: Screen | undefined }) {
  useFocusKeeper();
  useInputMethodKeys();
  useGlobalKeys();
  useWindowActions();
  useFollowOnDevice();
  useSavedTheme();
  useRenewalAfterRuns();
  useRefetchOnReconnect();
  useEffect(() => {
    if (screen) useWindowState.getState().saveLocation(location);
    document.title = screen ? `${screen.name} - Touchstone` : 'Touchstone';
  }, [location, screen]);
  useCommandAddress();
  useRecording(screen);
  return null;
}

/** The frame of the window around the open screen. */
export function Shell() {
  const [location] = useLocation();
  const { capabilities, platform } = useHost();
  const screen = screenAt(location);
  if (location === '/' || location === '') return <Redirect to={useWindowState.getState().location} replace />;
  // macOS doesn't tell a page how much room its window buttons take.
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
      <WindowEffects location={location} screen={screen} />
    </div>
  );
}
