import type { ReviewAnswer } from '../../shared/contract/review-items.ts';
import type { SecondReview } from '../storage/reviews/queue-rows.ts';

/** What the team database has of review queues. */

/** A person or a key that reviews on several hosts. */
export interface TeamReviewer {
  readonly id: string;
  readonly name: string;
  readonly pinHash: string | null;
  readonly callerId: string | null;
  readonly isRemoved: boolean;
}

/** Times are milliseconds since 1970. */
export interface TeamReview {
  readonly id: string;
  readonly itemId: string;
  readonly reviewerId: string;
  readonly reviewerName: string;
  readonly kind: 'review' | 'skip';
  readonly answers: ReviewAnswer[];
  readonly note: string | null;
  readonly seconds: number;
  readonly createdAt: number;
  readonly replaces: string | null;
}

export interface TeamDecision {
  readonly itemId: string;
  readonly isRemoved: boolean;
  readonly gold: ReviewAnswer[] | null;
  readonly goldBy: string | null;
  readonly goldAt: number | null;
}

export interface TeamSecond {
  readonly itemId: string;
  readonly second: SecondReview;
}

export interface TeamComment {
  readonly id: string;
  readonly itemId: string;
  readonly reviewerId: string;
  readonly reviewerName: string;
  readonly text: string;
  readonly createdAt: number;
}

export interface TeamReservation {
  readonly itemId: string;
  readonly reviewerId: string;
  readonly reviewerName: string;
  /** How long ago it was made, and how long it is still valid, by the clock of the team database. */
  readonly sinceMs: number;
  readonly leftMs: number;
}

/** What happened to a queue after a number. */
export interface QueueChanges {
  readonly last: number;
  readonly hasMore: boolean;
  /** Also removed ones. */
  readonly itemCount: number;
  /** Of the queue; null if it isn't there. */
  readonly name: string | null;
  readonly reviews: readonly TeamReview[];
  readonly items: readonly TeamDecision[];
  /** Also those of the reviewed items that are older. */
  readonly seconds: readonly TeamSecond[];
  readonly comments: readonly TeamComment[];
  readonly reservations: readonly TeamReservation[];
}

export interface TeamQueueState {
  readonly id: string;
  readonly lastChange: number;
  readonly isRemoved: boolean;
}
