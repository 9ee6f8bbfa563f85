import { create } from 'zustand';
import { persist } from 'zustand/middleware';

/** What the library is narrowed to. */
export interface LibraryFilter {
  words: string;
  /** Prompts in it and in the folders below it; null for all, the empty text for those without a folder. */
  folder: string | null;
  /** All of them present. */
  tags: readonly string[];
}

export const everyPrompt: LibraryFilter = { words: '', folder: null, tags: [] };

export function isNarrowed({ words, folder, tags }: LibraryFilter): boolean {
  return words !== '' || folder !== null || tags.length > 0;
}

/** The same until the window closes. */
export const usePromptsView = create<LibraryFilter>()(() => everyPrompt);

/** How two versions are compared; remembered across restarts. */
export const useDiffView = create<{ view: 'split' | 'unified' }>()(
  persist((): { view: 'split' | 'unified' } => ({ view: 'split' }), { name: 'touchstone.diff-view', version: 1 }),
);
