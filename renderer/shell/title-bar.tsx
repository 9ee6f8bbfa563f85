import { Search } from 'lucide-react';
import { Icon } from '../components/icon.tsx';
import { KeyCaps, keyShortcut } from '../components/key-caps.tsx';
import { useActivity } from '../stores/activity.ts';
import { openOverlay } from './overlay-state.ts';

function Mark() {
  return (
    <div className="titlebar__mark">
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none">
        <path
          d="M2.5 5.5 8 2l5.5 3.5v5L8 14l-5.5-3.5z"
          stroke="currentColor"
          strokeWidth="1.4"
          strokeLinejoin="round"
        />
        <path d="M5 10.2 11 5.8" stroke="var(--accent)" strokeWidth="1.8" strokeLinecap="round" />
      </svg>
    </div>
  );
}

/**
 * Where one is, the way to everything else, and the handle to move the window by. The system draws its own buttons into it
 * where the window has no other frame; the style sheet keeps their place free.
 */
export function TitleBar({ screenName }: { screenName: string }) {
  const place = useActivity((state) => state.place);
  return (
    <header className="titlebar">
      <Mark />
      <div className="titlebar__place">
        <h1 className="screen-name">{screenName}</h1>
        {place && <span className="tertiary wide-only truncate">{place}</span>}
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
