import { useEffect } from 'react';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { Connection } from '../host/host-fetch.ts';
import type { Settings } from '../../shared/contract/settings.ts';

/** Sizes of the panels of one group: panel id to percentage. */
type Layout = Record<string, number>;

interface WindowState {
  /** Panel sizes by group. */
  layouts: Readonly<Record<string, Layout>>;
  /** The last address: `/settings/providers`. */
  location: string;
  saveLayout: (group: string, layout: Layout) => void;
  saveLocation: (location: string) => void;
}

/** State of the window alone. Written at once, so that it survives a crash as well as a restart. */
export const useWindowState = create<WindowState>()(
  persist(
    (set) => ({
      layouts: {},
      location: '/playground',
      saveLayout: (group, layout) => set((state) => ({ layouts: { ...state.layouts, [group]: layout } })),
      saveLocation: (location) => set({ location }),
    }),
    { name: 'touchstone.window', version: 1 },
  ),
);

/** Older ones are found by typing. */
const maxRecentObjects = 8;

export interface RecentObject {
  /** As in the address: `/agents/<id>`. */
  address: string;
  title: string;
  /** Name of its screen. */
  screen: string;
}

interface RecentObjects {
  /** Last opened first. */
  objects: readonly RecentObject[];
  add: (object: RecentObject) => void;
}

/** The last opened objects, for the command palette. */
export const useRecentObjects = create<RecentObjects>()(
  persist(
    (set) => ({
      objects: [],
      add: (object) =>
        set(({ objects }) => ({
          objects: [object, ...objects.filter(({ address }) => address !== object.address)].slice(
            0,
            maxRecentObjects + 1,
          ),
        })),
    }),
    { name: 'touchstone.recent', version: 1 },
  ),
);

/** The state of the connection to the host after the last request. Polling queries update it every few seconds. */
export const useConnection = create<{ connection: Connection }>()(() => ({ connection: 'there' }));

export function setConnection(connection: Connection): void {
  if (useConnection.getState().connection !== connection) useConnection.setState({ connection });
}

export type Theme = Settings['appearance']['theme'];

/** Read by `public/assets/prepare-window.v1.js` before the first paint, as the last address is. */
const storageKey = 'touchstone.theme';

/** Applies a theme and stores it for the next start. `system` follows the machine. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(storageKey);
  } else {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(storageKey, theme);
  }
}

/** The object that the open screen shows, for the title bar: `Examples / Answer from a passage`. */
export const usePageTitle = create<{ title: string | null }>()(() => ({ title: null }));

/** Shows a title in the title bar while the component is mounted. */
export function useShowPageTitle(title: string | null): void {
  useEffect(() => {
    usePageTitle.setState({ title });
    return () => usePageTitle.setState({ title: null });
  }, [title]);
}
