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
import { type LazyPart, lazyPart } from '../components/lazy-part.tsx';

export interface Screen {
  /** First part of its address: `#/playground`. */
  id: string;
  name: string;
  icon: LucideIcon;
  keys: string;
  /** Whether it is at the lower end of the rail. */
  isAtEnd?: boolean;
  component: LazyPart;
}

const loaded = (name: string, load: () => Promise<ComponentType>) => ({ name, component: lazyPart(name, load) });

/** Longer than a disk takes. The screen itself waits on. */
const maxDraftsMs = 500;

/** With its drafts: on the desktop the host, which starts with the screen's first requests, would keep them from being read. */
async function loadPlayground(): Promise<ComponentType> {
  const [{ PlaygroundScreen }, { draftsAreRead }] = await Promise.all([
    import('../screens/playground/playground-screen.tsx'),
    import('../stores/playground-drafts.ts'),
  ]);
  await Promise.race([draftsAreRead(), new Promise((resolve) => setTimeout(resolve, maxDraftsMs))]);
  return PlaygroundScreen;
}

/** Every screen of the window, in the order of the rail. The first one opens on a first start. */
export const screens: readonly [Screen, ...Screen[]] = [
  {
    id: 'playground',
    icon: SquareTerminal,
    keys: 'Mod+1',
    ...loaded('Playground', loadPlayground),
  },
  {
    id: 'compare',
    icon: Columns3,
    keys: 'Mod+2',
    ...loaded('Compare', async () => (await import('../screens/compare/compare-screen.tsx')).CompareScreen),
  },
  {
    id: 'prompts',
    icon: LibraryBig,
    keys: 'Mod+3',
    ...loaded('Prompts', async () => (await import('../screens/prompts/prompts-screen.tsx')).PromptsScreen),
  },
  {
    id: 'agents',
    icon: Bot,
    keys: 'Mod+4',
    ...loaded('Agents', async () => (await import('../screens/agents/agents-screen.tsx')).AgentsScreen),
  },
  {
    id: 'knowledge',
    icon: BookOpenText,
    keys: 'Mod+5',
    ...loaded('Knowledge', async () => (await import('../screens/knowledge/knowledge-screen.tsx')).KnowledgeScreen),
  },
  {
    id: 'audit',
    icon: FileSearch,
    keys: 'Mod+6',
    ...loaded('Audit', async () => (await import('../screens/audit/audit-screen.tsx')).AuditScreen),
  },
  {
    id: 'moderation',
    icon: ShieldAlert,
    keys: 'Mod+7',
    ...loaded('Moderation', async () => (await import('../screens/moderation/moderation-screen.tsx')).ModerationScreen),
  },
  {
    id: 'recorder',
    icon: Radio,
    keys: 'Mod+8',
    ...loaded('Recorder', async () => (await import('../screens/recorder/recorder-screen.tsx')).RecorderScreen),
  },
  {
    id: 'settings',
    icon: Settings,
    keys: 'Mod+,',
    isAtEnd: true,
    ...loaded('Settings', async () => (await import('../screens/settings/settings-screen.tsx')).SettingsScreen),
  },
];

export function screenAt(location: string): Screen | undefined {
  const id = location.split('/')[1];
  return screens.find((screen) => screen.id === id);
}

/** A hidden tab of a browser has no frames. */
const maxFrameMs = 100;

/**
 * Loads the screen of the first address while the host starts or answers: after the next frame, so that the first paint doesn't wait for
 * its files. Opening the screen reports a failure.
 */
export async function loadFirstScreen(location: string): Promise<void> {
  await new Promise<void>((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, maxFrameMs);
  });
  await screenAt(location)
    ?.component.load()
    .catch(() => undefined);
}
