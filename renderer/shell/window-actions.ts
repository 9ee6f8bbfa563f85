import { FlaskConical, Info, Keyboard, KeyRound, Link, Monitor, Moon, RotateCw, Search, Sun } from 'lucide-react';
import { useLocation } from 'wouter';
import { keyedProviders } from '../../shared/contract/common.ts';
import { providerName } from '../../shared/provider-names.ts';
import { formatPlural } from '../components/format.ts';
import { useChangeAuditSamples } from '../queries/audit.ts';
import { useUpdateSettings } from '../queries/settings.ts';
import { useActions, windowSource, type Action } from '../stores/actions.ts';
import { showToast } from '../stores/toasts.ts';
import { applyTheme, type Theme } from '../stores/window.ts';
import { settingsPages } from '../screens/settings/settings-pages.ts';
import { providerKeyAddress, settingsAddress } from './addresses.ts';
import { useCopyLink } from './links.tsx';
import { openOverlay } from './overlay-state.ts';
import { screens } from './screens.ts';

const themes = [
  { theme: 'system', title: 'Theme: system', icon: Monitor },
  { theme: 'light', title: 'Theme: light', icon: Sun },
  { theme: 'dark', title: 'Theme: dark', icon: Moon },
] as const;

type Navigate = (address: string) => void;

function screenActions(navigate: Navigate): Action[] {
  return screens.map((screen) => ({
    id: `screen.${screen.id}`,
    title: screen.name,
    group: 'Go to',
    icon: screen.icon,
    keys: screen.keys,
    run: () => navigate(`/${screen.id}`),
  }));
}

function settingsActions(navigate: Navigate): Action[] {
  const pages = settingsPages.map((page) => ({
    id: `settings.${page.id}`,
    title: page.title,
    group: 'Settings',
    icon: page.icon,
    keywords: page.keywords,
    run: () => navigate(settingsAddress(page.id)),
  }));
  const keys = keyedProviders.map((aiSystem) => ({
    id: `key.${aiSystem}`,
    title: `Set API key: ${providerName(aiSystem)}`,
    group: 'Settings',
    icon: KeyRound,
    run: () => navigate(providerKeyAddress(aiSystem)),
  }));
  return [...pages, ...keys];
}

function themeActions(setTheme: (theme: Theme) => void): Action[] {
  return themes.map(({ theme, title, icon }) => ({
    id: `theme.${theme}`,
    title,
    group: 'Window',
    icon,
    run: () => setTheme(theme),
  }));
}

/** Loads the sample data, and then offers to open the audit unless it is open. */
function useLoadSamples(): () => void {
  const [address, navigate] = useLocation();
  const { mutate } = useChangeAuditSamples();
  return () =>
    mutate('load', {
      onSuccess: ({ conversations }) =>
        showToast({
          tone: 'neutral',
          text: `Sample data is loaded (${formatPlural(conversations, 'fictional conversation')}).`,
          ...(!address.startsWith('/audit') && {
            action: { label: 'Open audit', run: () => navigate('/audit') },
          }),
        }),
    });
}

/** The actions of the window itself; screens add theirs with `useActions`. */
export function useWindowActions(): void {
  const [address, navigate] = useLocation();
  const copyLink = useCopyLink();
  const loadSamples = useLoadSamples();
  const { mutate: updateSettings } = useUpdateSettings();
  const setTheme = (theme: Theme) => {
    applyTheme(theme);
    updateSettings({ appearance: { theme } });
  };
  useActions(windowSource, [
    ...screenActions(navigate),
    ...settingsActions(navigate),
    ...themeActions(setTheme),
    {
      id: 'window.palette',
      title: 'Search or run a command',
      group: 'Window',
      icon: Search,
      keys: 'Mod+K',
      isHiddenInPalette: true,
      run: () => openOverlay('palette'),
    },
    {
      id: 'window.keys',
      title: 'Keyboard shortcuts',
      group: 'Window',
      icon: Keyboard,
      keys: '?',
      run: () => openOverlay('keys'),
    },
    {
      id: 'window.link',
      title: 'Copy link',
      group: 'Window',
      icon: Link,
      keywords: ['address', 'URL', 'share'],
      run: () => void copyLink(address),
    },
    {
      id: 'window.samples',
      title: 'Load sample data',
      group: 'Audit',
      icon: FlaskConical,
      keywords: ['demo', 'fictional', 'conversations'],
      run: loadSamples,
    },
    {
      id: 'window.about',
      title: 'About Touchstone',
      group: 'Window',
      icon: Info,
      keywords: ['version', 'licences', 'updates'],
      run: () => openOverlay('about'),
    },
    { id: 'window.reload', title: 'Reload window', group: 'Window', icon: RotateCw, run: () => location.reload() },
  ]);
}
