import { create } from 'zustand';
import { persist } from 'zustand/middleware';

export const runParts = ['conversation', 'prompt', 'passages', 'headers', 'timing', 'provider', 'json'] as const;
export type RunPart = (typeof runParts)[number];

/** How conversations are looked at; stays from one to the next. */
interface AuditViewState {
  part: RunPart;
  answerView: 'markdown' | 'plain';
  /** The order in which the saved views stand, by id; later ones follow. */
  viewOrder: readonly string[];
}

/** Written at once, so that it survives a crash as well as a restart. */
export const useAuditViewState = create<AuditViewState>()(
  persist((): AuditViewState => ({ part: 'conversation', answerView: 'markdown', viewOrder: [] }), {
    name: 'touchstone.audit',
    version: 1,
  }),
);
