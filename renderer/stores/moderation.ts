import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { CategoryScores } from '../../shared/contract/moderation-window.ts';
import type { Category, ModerationClassifier } from '../../shared/contract/moderation.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

/** The input of the last Check. Editing the text doesn't change its result. */
export interface CheckedInput {
  readonly text: string;
  readonly classifiers: readonly ModerationClassifier[];
}

export type ShownTexts = 'all' | 'flagged' | 'differ';

interface ModerationState {
  /** The text in the editor. */
  text: string;
  checked: CheckedInput | null;
  /** Null uses the classifier of the settings. */
  first: ModerationClassifier | null;
  /** Beside the first one. */
  second: ModerationClassifier | null;
  /** Null uses those of the settings and of the first classifier. */
  thresholds: CategoryScores | null;
  /** The category of the drawn curve. */
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
      // Without `checked`, so that the next start doesn't check the text again: a provider may charge for it.
      partialize: ({ text, first, second, thresholds, category }) => ({ text, first, second, thresholds, category }),
    },
  ),
);
shareBetweenWindows(useModerationStore);
