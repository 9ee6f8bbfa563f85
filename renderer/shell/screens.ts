import {
  BookOpenText,
  Bot,
  Columns3,
  FileSearch,
  LibraryBig,
  Radio,
  Settings,
  ShieldAlert,
  SquareTerminal,
  type LucideIcon,
} from 'lucide-react';
import type { ComponentType } from 'react';
import { lazyPart } from '../components/lazy-part.tsx';

export interface Screen {
  /** First part of its address: `#/playground`. */
  id: string;
  name: string;
  icon: LucideIcon;
  keys: string;
  /** Whether it is at the lower end of the rail. */
  isAtEnd?: boolean;
  /** Loads its files, which opening it does otherwise. */
  load: () => Promise<unknown>;
  component: ComponentType;
}

const loaded = (load: () => Promise<ComponentType>) => ({ load, component: lazyPart(load) });

/** Every screen of the window, in the order of the rail. The first one opens on a first start. */
export const screens: readonly [Screen, ...Screen[]] = [
  {
    id: 'playground',
    name: 'Playground',
    icon: SquareTerminal,
    keys: 'Mod+1',
    ...loaded(async () => (await import('../screens/playground/playground-screen.tsx')).PlaygroundScreen),
  },
  {
    id: 'compare',
    name: 'Compare',
    icon: Columns3,
    keys: 'Mod+2',
    ...loaded(async () => (await import('../screens/compare/compare-screen.tsx')).CompareScreen),
  },
  {
    id: 'prompts',
    name: 'Prompts',
    icon: LibraryBig,
    keys: 'Mod+3',
    ...loaded(async () => (await import('../screens/prompts/prompts-screen.tsx')).PromptsScreen),
  },
  {
    id: 'agents',
    name: 'Agents',
    icon: Bot,
    keys: 'Mod+4',
    ...loaded(async () => (await import('../screens/agents/agents-screen.tsx')).AgentsScreen),
  },
  {
    id: 'knowledge',
    name: 'Knowledge',
    icon: BookOpenText,
    keys: 'Mod+5',
    ...loaded(async () => (await import('../screens/knowledge/knowledge-screen.tsx')).KnowledgeScreen),
  },
  {
    id: 'audit',
    name: 'Audit',
    icon: FileSearch,
    keys: 'Mod+6',
    ...loaded(async () => (await import('../screens/audit/audit-screen.tsx')).AuditScreen),
  },
  {
    id: 'moderation',
    name: 'Moderation',
    icon: ShieldAlert,
    keys: 'Mod+7',
    ...loaded(async () => (await import('../screens/moderation/moderation-screen.tsx')).ModerationScreen),
  },
  {
    id: 'recorder',
    name: 'Recorder',
    icon: Radio,
    keys: 'Mod+8',
    ...loaded(async () => (await import('../screens/recorder/recorder-screen.tsx')).RecorderScreen),
  },
  {
    id: 'settings',
    name: 'Settings',
    icon: Settings,
    keys: 'Mod+,',
    isAtEnd: true,
    ...loaded(async () => (await import('../screens/settings/settings-screen.tsx')).SettingsScreen),
  },
];

export function screenAt(location: string): Screen | undefined {
  const id = location.split('/')[1];
  return screens.find((screen) => screen.id === id);
}

/** Loads the screen of the first address after the next frame, while the host starts or answers. Opening it reports a failure. */
export function loadFirstScreen(location: string): void {
  requestAnimationFrame(() =>
    setTimeout(
      () =>
        void screenAt(location)
          ?.load()
          .catch(() => undefined),
    ),
  );
}
