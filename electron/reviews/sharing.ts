import type { ReviewAnswer } from '../../shared/contract/review-items.ts';
import type { SecondReview, StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';

/**
 * Review queues that several hosts share. The team database decides who gets which item and which reviews there are; every host has a
 * copy of the queue, from which it shows and measures everything as for its own queues.
 */
export interface SharedQueues {
  /** Whether queues can be shared now. */
  isOn(): boolean;
  /** The reviewer as all hosts know it: of an API key, the one of the host that was first. Rejects with `team_unavailable`, as all methods do. */
  ensureReviewer(reviewer: StoredReviewer): Promise<StoredReviewer>;
  /** Sends a queue that isn't shown yet. */
  publish(queue: StoredQueue, signal: AbortSignal): Promise<void>;
  /** Sends the items that the queue has here and not there, with its description. Throws `conflict` for a removed one. */
  extend(queue: StoredQueue): Promise<void>;
  remove(queue: StoredQueue): Promise<void>;
  /** Null when nothing is left; false if the reviewer can't have the item. */
  reserve(queue: StoredQueue, itemId: string | undefined, you: StoredReviewer): Promise<StoredItem | null | false>;
  release(queue: StoredQueue, you: StoredReviewer): Promise<void>;
  /** False without a valid reservation. */
  add(queue: StoredQueue, review: NewSharedReview, you: StoredReviewer): Promise<boolean>;
  /** Adds to what is decided; a question that is decided already gets the new value. False until the item has all its reviews. */
  decide(queue: StoredQueue, itemId: string, gold: readonly ReviewAnswer[], you: StoredReviewer): Promise<boolean>;
  /** False if the reviewer has no valid reservation and may not decide, or the item has all its reviews or such a request. */
  requestSecond(queue: StoredQueue, request: SecondRequest): Promise<boolean>;
  /** False if the item was removed or reopened. */
  comment(queue: StoredQueue, comment: NewSharedComment, you: StoredReviewer): Promise<boolean>;
  /** Copies what others did. */
  pull(queue: StoredQueue): Promise<void>;
  close(): void;
}

export interface SecondRequest {
  readonly itemId: string;
  readonly second: SecondReview;
  /** Reviews that the item can have. */
  readonly maxReviews: number;
  readonly you: StoredReviewer;
  readonly canDecide: boolean;
}

export interface NewSharedComment {
  readonly id: string;
  readonly itemId: string;
  readonly text: string;
}

export interface NewSharedReview {
  readonly id: string;
  readonly itemId: string;
  readonly kind: 'review' | 'skip';
  readonly answers: readonly ReviewAnswer[];
  readonly note: string | null;
}
