import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** Sizes of the panels of one group: panel id to percentage. */
type Layout = Record<string, number>;

interface WindowState {
  /** Panel sizes by group. */
  layouts: Readonly<Record<string, Layout>>;
  /** Where the window was, as in the address: `/settings/providers`. */
  location: string;
  keepLayout: (group: string, layout: Layout) => void;
  keepLocation: (location: string) => void;
}

/** What belongs to the window alone. Written at once, so that it survives a crash as well as a restart. */
export const useWindowState = create<WindowState>()(
  persist(
    (set) => ({
      layouts: {},
      location: '/playground',
      keepLayout: (group, layout) => set((state) => ({ layouts: { ...state.layouts, [group]: layout } })),
      keepLocation: (location) => set({ location }),
    }),
    { name: 'touchstone.window', version: 1 },
  ),
);
