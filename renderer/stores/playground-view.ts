import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { shareBetweenWindows } from './share-between-windows.ts';

/** How the playground is displayed; the same for all drafts. */
interface PlaygroundView {
  promptView: 'template' | 'rendered';
  /** How a template with roles is edited. */
  promptForm: 'messages' | 'text';
  answerView: 'markdown' | 'plain';
  isSystemOpen: boolean;
  isWireOpen: boolean;
  wireView: 'service' | 'provider';
  /** Whether compared answers scroll together. */
  isScrollLinked: boolean;
  isGroundingOpen: boolean;
  isReasoningOpen: boolean;
  historyScope: 'draft' | 'all';
  codeLanguage: 'curl' | 'TypeScript' | 'Python';
  /** Whether a run whose tool calls all have mocks continues without a person. */
  continuesAutomatically: boolean;
  /** Steps in a row that continue automatically. */
  maxToolSteps: number;
  /** US dollars that steps in a row may cost; null for no limit. */
  maxToolCost: number | null;
}

/** Written at once, so that it survives a crash as well as a restart. */
export const usePlaygroundView = create<PlaygroundView>()(
  persist(
    (): PlaygroundView => ({
      promptView: 'template',
      promptForm: 'messages',
      answerView: 'markdown',
      isSystemOpen: false,
      isWireOpen: false,
      wireView: 'service',
      isScrollLinked: true,
      isGroundingOpen: true,
      isReasoningOpen: false,
      historyScope: 'draft',
      codeLanguage: 'curl',
      continuesAutomatically: false,
      maxToolSteps: 10,
      maxToolCost: null,
    }),
    { name: 'playground-view', version: 1 },
  ),
);
shareBetweenWindows(usePlaygroundView);
