import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  Command,
  CornerDownLeft,
  type LucideIcon,
  Option,
} from 'lucide-react';
import type { ReactNode } from 'react';

/** Whether the keyboard has a Command key. In a browser this depends on the user's machine, not on the host's. */
export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '');

const drawings: Record<string, LucideIcon> = { Enter: CornerDownLeft, ArrowUp, ArrowDown, ArrowLeft, ArrowRight };
const names: Record<string, string> = { Escape: 'Esc', Mod: 'Ctrl' };

function cap(key: string): ReactNode {
  const Drawing = isMac && key === 'Mod' ? Command : isMac && key === 'Alt' ? Option : drawings[key];
  if (Drawing) return <Drawing className="icon" />;
  return names[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}

/** The keys of an action as small caps, `Mod+Enter` or `?`. Hidden from screen readers, which get `aria-keyshortcuts`. */
export function KeyCaps({ keys }: { keys: string }) {
  return (
    <span className="kbd" aria-hidden="true">
      {keys.split('+').map((key) => (
        <kbd key={key}>{cap(key)}</kbd>
      ))}
    </span>
  );
}

/** The same keys in the format of `aria-keyshortcuts` and `title`: `Control+Enter`, `Meta+Enter`. */
export function keyShortcut(keys: string): string {
  return keys.replace('Mod', isMac ? 'Meta' : 'Control');
}
