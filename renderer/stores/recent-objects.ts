import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** More than this is found by typing. */
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

/** What was opened last in this window, for the command palette. */
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
