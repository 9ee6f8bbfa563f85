import { useState } from 'react';
import type { ReviewItemDetail } from '../../../../shared/contract/review-items.ts';
import { useActingReviewer } from '../../../stores/acting-reviewer.ts';
import { changeReviewDraft, type ReviewDraft, reviewDraftId, useReviewDrafts } from '../../../stores/review-drafts.ts';
import { answersOf } from './answers.ts';

export interface DraftOfItem extends ReviewDraft {
  readonly change: (draft: ReviewDraft) => void;
  /** Keeps the answers on the screen while they are sent. */
  readonly hold: () => void;
}

/** An earlier review of one's own, to change it. */
function earlierReview({ reviews }: ReviewItemDetail): ReviewDraft {
  const own = reviews.find(({ isYours, kind }) => isYours && kind === 'review');
  return { answers: own ? answersOf(own.answers) : {}, note: own?.note ?? '' };
}

/** The draft of the review of an item. It takes no answers while it is sent. Mount it again for another item. */
export function useReviewDraft(queueId: string, item: ReviewItemDetail, isSending: boolean): DraftOfItem {
  const token = useActingReviewer((state) => state.token);
  const id = reviewDraftId(token, queueId, item.id);
  const stored = useReviewDrafts(({ drafts }) => drafts.find((draft) => draft.id === id));
  // It stays on the screen until the next item is there: without answers, it would take those that are meant for that one.
  const [sent, setSent] = useState<ReviewDraft | null>(null);
  const { answers, note } = (isSending ? sent : null) ?? stored ?? earlierReview(item);
  return {
    answers,
    note,
    change(next) {
      if (!isSending) changeReviewDraft(id, next);
    },
    hold: () => setSent({ answers, note }),
  };
}
