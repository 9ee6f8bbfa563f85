import type { TeamRecords } from '../team/team-records.ts';
import type { Storage } from '../storage/storage.ts';
import { type Agreement, createAgreement } from './create-agreement.ts';
import { createDiscussion, type Discussion } from './create-discussion.ts';
import { createQueueFiles, type QueueFiles } from './create-queue-files.ts';
import { createReviewExports, type ReviewExports, type ReviewExportsOptions } from './create-review-exports.ts';
import { createReviewers, type Reviewers } from './create-reviewers.ts';
import { createReviewQueues, type ReviewQueues } from './create-review-queues.ts';
import { createReviews, type Reviews } from './create-reviews.ts';
import { createSharedQueues, type SharedQueuesOptions } from './shared-queues.ts';
import { type DisagreementPage, type DisagreementQuery, findDisagreements } from './disagreements.ts';

export interface ReviewServices {
  readonly reviewers: Reviewers;
  readonly queues: ReviewQueues;
  readonly reviews: Reviews;
  readonly discussion: Discussion;
  readonly agreement: Agreement;
  readonly exports: ReviewExports;
  readonly files: QueueFiles;
  findDisagreements(
    id: string,
    query: DisagreementQuery,
    options: Parameters<typeof findDisagreements>[3],
  ): Promise<DisagreementPage>;
  close(): Promise<void>;
}

export interface ReviewServicesOptions
  extends Pick<ReviewExportsOptions, 'runDatasets' | 'judges'>, Pick<SharedQueuesOptions, 'log'> {
  readonly storage: Storage;
  readonly team: SharedQueuesOptions['team'] & { readonly records: TeamRecords };
}

/** Reviewers, review queues and reviews, which share their tables. */
export function createReviewServices({
  storage,
  runDatasets,
  judges,
  team,
  log,
}: ReviewServicesOptions): ReviewServices {
  const { reviewQueues: store, reviews, reviewers, rubrics, audit, flush } = storage;
  const stores = { store, reviews, reviewers, runs: storage.runs, audit, flush };
  const shared = createSharedQueues({ ...stores, team, log });
  const queues = createReviewQueues({ ...stores, rubrics, shared, team: team.records, log });
  const agreement = createAgreement({ store, reviews });
  return {
    reviewers: createReviewers(storage),
    queues,
    reviews: createReviews({ store, reviews, flush, shared }),
    discussion: createDiscussion({ store, reviews, flush, shared }),
    agreement,
    exports: createReviewExports({
      store,
      reviews,
      agreement,
      runDatasets,
      judges,
      runs: storage.runs,
      turns: storage.turns,
      team: team.records,
    }),
    files: createQueueFiles(stores),
    findDisagreements: (id, query, options) => findDisagreements(id, query, { store, reviews }, options),
    async close() {
      shared.close();
      await queues.close();
      await agreement.close();
    },
  };
}
