import { create } from 'zustand';

/** What the library is narrowed to; the same until the window closes. */
interface PromptsView {
  words: string;
  /** Prompts in it and in the folders below it; null for all, the empty text for those without a folder. */
  folder: string | null;
  /** All of them present. */
  tags: readonly string[];
}

export const everyPrompt: PromptsView = { words: '', folder: null, tags: [] };

export const usePromptsView = create<PromptsView>()(() => everyPrompt);
