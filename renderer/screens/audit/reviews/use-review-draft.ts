import { useState } from 'react';
import type { ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import { useActingReviewer } from '../../../stores/acting-reviewer.ts';
import { type Answers, answersOf } from './answers.ts';

/** Answers that aren't submitted yet. */
export interface ReviewDraft {
  readonly answers: Answers;
  readonly note: string;
}

/** Survives a reload and an expired reservation; another reviewer at this window doesn't get it. */
function draftKey(token: string | null, itemId: string): string {
  return `review-draft ${token ?? ''} ${itemId}`;
}

function readDraft(key: string): ReviewDraft | null {
  const text = sessionStorage.getItem(key);
  return text === null ? null : (JSON.parse(text) as ReviewDraft);
}

/** An earlier review of one's own, to change it. */
function earlierReview({ reviews }: ReviewItemDetail): ReviewDraft {
  const own = reviews.find(({ isYours, kind }) => isYours && kind === 'review');
  return { answers: own ? answersOf(own.answers) : {}, note: own?.note ?? '' };
}

export interface DraftOfItem extends ReviewDraft {
  readonly change: (draft: ReviewDraft) => void;
  /** After the review is stored. */
  readonly forget: () => void;
}

/** The draft of the review of an item. Mount it again for another item. */
export function useReviewDraft(item: ReviewItemDetail): DraftOfItem {
  const key = draftKey(
    useActingReviewer((state) => state.token),
    item.id,
  );
  const [draft, setDraft] = useState(() => readDraft(key) ?? earlierReview(item));
  return {
    ...draft,
    change: (next) => {
      sessionStorage.setItem(key, JSON.stringify(next));
      setDraft(next);
    },
    forget: () => sessionStorage.removeItem(key),
  };
}
