import type { Storage } from '../storage/storage.ts';
import { createReviewers, type Reviewers } from './create-reviewers.ts';
import { createReviewQueues, type ReviewQueues } from './create-review-queues.ts';
import { createReviews, type Reviews } from './create-reviews.ts';

export interface ReviewServices {
  readonly reviewers: Reviewers;
  readonly queues: ReviewQueues;
  readonly reviews: Reviews;
  close(): Promise<void>;
}

/** Reviewers, review queues and reviews, which share their tables. */
export function createReviewServices({ storage }: { readonly storage: Storage }): ReviewServices {
  const { reviewQueues: store, reviews, reviewers, rubrics, audit, flush } = storage;
  const queues = createReviewQueues({ store, reviews, reviewers, rubrics, audit });
  return {
    reviewers: createReviewers(storage),
    queues,
    reviews: createReviews({ store, reviews, flush }),
    close: queues.close,
  };
}
