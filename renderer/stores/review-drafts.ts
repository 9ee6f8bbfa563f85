import { useSyncExternalStore } from 'react';
import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { AnswerValue } from '../../shared/contract/rubrics.ts';
import { createDraftStorage, type OtherWindowChanges } from './playground-draft-storage.ts';

/** Answers that aren't submitted yet, by the ID of the rubric item. */
export interface ReviewDraft {
  readonly answers: Readonly<Record<string, AnswerValue>>;
  readonly note: string;
}

interface StoredReviewDraft extends ReviewDraft {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
}

interface ReviewDrafts {
  drafts: StoredReviewDraft[];
  /** Part of the stored form. Drafts of reviews are found by their ids. */
  activeId: string;
}

/** Of items that were deleted, or that somebody reviewed elsewhere, drafts would stay forever. */
const maxDrafts = 500;

/** An ID of a reviewer is the start of the token. A new PIN changes only the rest. */
const reviewerIdCharacters = 36;

/** Another reviewer at this window doesn't get the draft. */
export function reviewDraftId(token: string | null, queueId: string, itemId: string): string {
  return `${token?.slice(0, reviewerIdCharacters) ?? 'window'} ${queueId} ${itemId}`;
}

function applyOtherWindowChanges({ changed, removedIds }: OtherWindowChanges<StoredReviewDraft>): StoredReviewDraft[] {
  const { drafts } = useReviewDrafts.getState();
  const taken = changed.filter(({ id, updatedAt }) =>
    drafts.every((own) => own.id !== id || own.updatedAt <= updatedAt),
  );
  const replaced = new Set([...taken.map(({ id }) => id), ...removedIds]);
  useReviewDrafts.setState({ drafts: [...taken, ...drafts.filter(({ id }) => !replaced.has(id))] });
  return taken;
}

/** On the disk, so that they survive a crash, as the drafts of the playground. */
export const useReviewDrafts = create<ReviewDrafts>()(
  persist((): ReviewDrafts => ({ drafts: [], activeId: '' }), {
    name: 'review-drafts',
    version: 1,
    storage: createDraftStorage('review-drafts', applyOtherWindowChanges),
    partialize: ({ drafts, activeId }) => ({ drafts, activeId }),
  }),
);

export function forgetReviewDraft(id: string): void {
  useReviewDrafts.setState(({ drafts }) => ({ drafts: drafts.filter((draft) => draft.id !== id) }));
}

export function changeReviewDraft(id: string, { answers, note }: ReviewDraft): void {
  const written = { id, answers, note, updatedAt: Date.now() };
  useReviewDrafts.setState(({ drafts }) => ({
    drafts: [written, ...drafts.filter((draft) => draft.id !== id)].slice(0, maxDrafts),
  }));
}

/** Whether the drafts are read from the disk. An answer before that would take the place of a draft. */
export function useHasReviewDrafts(): boolean {
  return useSyncExternalStore(useReviewDrafts.persist.onFinishHydration, useReviewDrafts.persist.hasHydrated);
}
