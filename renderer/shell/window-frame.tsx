import { ChevronDown, Info, Keyboard, type LucideIcon, Plus, Search, Settings } from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { useMutation } from '@tanstack/react-query';
import { Icon } from '../components/icon.tsx';
import { KeyCaps, keyShortcut } from '../components/key-caps.tsx';
import { Tooltip } from '../components/button.tsx';
import { openOverlay } from './overlay-state.ts';
import { type Screen, screens } from './screens.ts';
import { useMediaQuery } from './use-media-query.ts';
import { openApplicationMenu } from '../../shared/contract/host-specific.ts';
import { Menu } from '../components/menu.tsx';
import { useCapability, useHost } from '../host/host-context.tsx';
import { usePageTitle } from '../stores/window.ts';

function RailLabel({ icon, name, keys }: { icon: LucideIcon; name: string; keys: string }) {
  return (
    <>
      <Icon icon={icon} />
      <span className="label">{name}</span>
      <KeyCaps keys={keys} />
    </>
  );
}

function RailLink({ screen, isCurrent, isWide }: { screen: Screen; isCurrent: boolean; isWide: boolean }) {
  return (
    <Tooltip text={screen.name} keys={screen.keys} side="right" isEnabled={!isWide}>
      <Link
        href={`/${screen.id}`}
        className="rail__item"
        aria-label={isWide ? undefined : screen.name}
        aria-current={isCurrent ? 'page' : undefined}
        aria-keyshortcuts={keyShortcut(screen.keys)}
      >
        <RailLabel icon={screen.icon} name={screen.name} keys={screen.keys} />
      </Link>
    </Tooltip>
  );
}

/** The screens: icons with names on hover and on focus, or names and keys if there is room. */
export function Rail({ current }: { current: Screen | undefined }) {
  const isWide = useMediaQuery('(min-width: 1600px)');
  const link = (screen: Screen) => (
    <RailLink key={screen.id} screen={screen} isCurrent={screen === current} isWide={isWide} />
  );
  return (
    <nav className="rail" aria-label="Screens">
      {screens.filter(({ isAtEnd }) => !isAtEnd).map(link)}
      <div className="rail__space" />
      <Tooltip text="Keyboard shortcuts" keys="?" side="right" isEnabled={!isWide}>
        <button
          type="button"
          className="rail__item"
          aria-label={isWide ? undefined : 'Keyboard shortcuts'}
          aria-keyshortcuts="?"
          onClick={() => openOverlay('keys')}
        >
          <RailLabel icon={Keyboard} name="Shortcuts" keys="?" />
        </button>
      </Tooltip>
      {screens.filter(({ isAtEnd }) => isAtEnd).map(link)}
    </nav>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none">
      <path d="M2.5 5.5 8 2l5.5 3.5v5L8 14l-5.5-3.5z" stroke="currentColor" strokeWidth="1.4" strokeLinejoin="round" />
      <path d="M5 10.2 11 5.8" stroke="var(--accent)" strokeWidth="1.8" strokeLinecap="round" />
    </svg>
  );
}

/** The application menu: the system's own on the desktop, a short one in a browser. On a Mac the system shows it. */
function AppMenu() {
  const { client, platform } = useHost();
  const hasMenu = useCapability('application-menu');
  const isDesktop = useCapability('window-controls');
  const [, navigate] = useLocation();
  const openMenu = useMutation({
    mutationFn: (body: { x: number; y: number }) => client.call(openApplicationMenu, { body }),
  });
  if (isDesktop && platform === 'darwin') {
    return (
      <div className="titlebar__mark">
        <Logo />
      </div>
    );
  }
  const openNative = ({ currentTarget }: { currentTarget: HTMLElement }): void => {
    const { left, bottom } = currentTarget.getBoundingClientRect();
    openMenu.mutate({ x: Math.max(0, Math.round(left)), y: Math.max(0, Math.round(bottom)) });
  };
  const button = (
    <button
      type="button"
      className="titlebar__menu"
      aria-label="Menu"
      aria-haspopup="menu"
      {...(hasMenu && { onClick: openNative })}
    >
      <Logo />
      <Icon icon={ChevronDown} size="tiny" />
    </button>
  );
  if (hasMenu) return button;
  return (
    <Menu
      groups={[
        [{ label: 'New prompt', icon: Plus, onSelect: () => navigate('/commands/playground.new') }],
        [
          { label: 'Search or run a command', icon: Search, keys: 'Mod+K', onSelect: () => openOverlay('palette') },
          { label: 'Keyboard shortcuts', icon: Keyboard, keys: '?', onSelect: () => openOverlay('keys') },
          { label: 'Settings', icon: Settings, keys: 'Mod+,', onSelect: () => navigate('/settings') },
        ],
        [{ label: 'About Touchstone', icon: Info, onSelect: () => openOverlay('about') }],
      ]}
    >
      {button}
    </Menu>
  );
}

/**
 * The current location, links to the rest, and the handle that moves the window. Where the system draws its own buttons into it,
 * the style sheet leaves their place free.
 */
export function TitleBar({ screenName }: { screenName: string }) {
  const title = usePageTitle((state) => state.title);
  return (
    <header className="titlebar">
      <AppMenu />
      <div className="titlebar__place">
        <h1 className="screen-name">{screenName}</h1>
        {title && <span className="tertiary wide-only truncate">{title}</span>}
      </div>
      <button
        type="button"
        className="palette"
        aria-keyshortcuts={keyShortcut('Mod+K')}
        onClick={() => openOverlay('palette')}
      >
        <Icon icon={Search} size="small" />
        <span>Search or run a command</span>
        <KeyCaps keys="Mod+K" />
      </button>
      <div className="titlebar__end" />
    </header>
  );
}
