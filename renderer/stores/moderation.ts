import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { CategoryScores } from '../../shared/contract/moderation-window.ts';
import type { Category, ModerationClassifier } from '../../shared/contract/moderation.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

/** What Check was pressed for: a text stays judged as it was while it is written on. */
export interface CheckedInput {
  readonly text: string;
  readonly classifiers: readonly ModerationClassifier[];
}

export type ShownTexts = 'all' | 'flagged' | 'differ';

interface ModerationState {
  /** The one text that is written in the window. */
  text: string;
  checked: CheckedInput | null;
  /** Null takes the one of the settings. */
  first: ModerationClassifier | null;
  /** Beside the first one. */
  second: ModerationClassifier | null;
  /** Null takes those of the settings and of the first classifier. */
  thresholds: CategoryScores | null;
  /** Whose curve is drawn. */
  category: Category;
  shown: ShownTexts;
  /** The batch with labels that thresholds are measured by. */
  labelledId: string | null;
}

export const useModerationStore = create<ModerationState>()(
  persist(
    (): ModerationState => ({
      text: '',
      checked: null,
      first: null,
      second: null,
      thresholds: null,
      category: 'violence',
      shown: 'all',
      labelledId: null,
    }),
    {
      name: 'touchstone.moderation',
      version: 1,
      // A text that was checked is not checked again at the next start: a provider may charge for it.
      partialize: ({ text, first, second, thresholds, category }) => ({ text, first, second, thresholds, category }),
    },
  ),
);
shareBetweenWindows(useModerationStore);
