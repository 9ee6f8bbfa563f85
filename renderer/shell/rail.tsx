import { Keyboard, type LucideIcon } from 'lucide-react';
import { Link } from 'wouter';
import { Icon } from '../components/icon.tsx';
import { KeyCaps, keyShortcut } from '../components/key-caps.tsx';
import { Tooltip } from '../components/tooltip.tsx';
import { openOverlay } from './overlay-state.ts';
import { screens, type Screen } from './screens.ts';
import { useMediaQuery } from './use-media-query.ts';

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

/** The screens; icons with names on hover and on focus, names and keys where there is room. */
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
