import { randomInt, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { ItemView, ReviewItem } from '../../shared/contract/review-items.ts';
import type {
  ReviewQueue,
  ReviewQueueChange,
  ReviewQueueInput,
  ReviewQueueSummary,
} from '../../shared/contract/review-queues.ts';
import type { Log } from '../log.ts';
import type { ListPage, ListQuery } from '../storage/list-page.ts';
import type { QueuePlan, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore } from '../storage/reviews/review-store.ts';
import type { ReviewerStore, StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import type { RubricStore } from '../storage/reviews/rubric-store.ts';
import type { TeamRecords } from '../team/team-records.ts';
import { describeItems } from './describe-item.ts';
import { createDescriber, importedStart } from './describe-queue.ts';
import type { SharedQueues } from './sharing.ts';
import type { SampleSize } from './choose-items.ts';
import { createDailyItems, requireDaily } from './daily-items.ts';
import { createItemWriter, createSampler, type Preview, type QueueCall } from './queue-items.ts';
import type { LocalPopulationOptions } from './sampling.ts';

/** Methods with an id throw `not_found`. `you` is the caller as a reviewer; null before its first review. */
export interface ReviewQueues {
  list(query: ListQuery): Promise<ListPage<ReviewQueueSummary>>;
  preview(input: Preview, call: QueueCall): Promise<SampleSize>;
  /** Throws `invalid_request` for a filter without matches and an unknown reviewer, and `payload_too_large`. */
  create(input: ReviewQueueInput, you: StoredReviewer | null, call: QueueCall): Promise<ReviewQueue>;
  read(id: string, you: StoredReviewer | null): ReviewQueue;
  /** Throws `invalid_request` to open another plan than `newest`, and `conflict` on another host than the one that made it. */
  update(id: string, change: ReviewQueueChange, you: StoredReviewer | null): Promise<ReviewQueue>;
  /** Adds what the days that have ended add to the open queues, each item once. Failures are logged, and the next call tries again. */
  addDays(): Promise<void>;
  /** Returns when all rows are deleted. */
  remove(id: string): Promise<void>;
  items(
    id: string,
    part: { view: ItemView; offset: number; limit: number },
    you: StoredReviewer | null,
  ): Promise<{ data: ReviewItem[]; offset: number; total: number }>;
  close(): Promise<void>;
}

export interface ReviewQueuesOptions extends LocalPopulationOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  readonly reviewers: ReviewerStore;
  readonly rubrics: RubricStore;
  readonly shared: SharedQueues;
  readonly team: TeamRecords;
  /** Writes queued runs, so that they are chosen from, too. */
  readonly flush: () => void;
  readonly log: Log;
}

const maxSeed = 2 ** 32;
const defaultReservationMinutes = 15;

/** What a person decided, with defaults. Throws `invalid_request`. */
function createPlanner({ reviewers }: ReviewQueuesOptions) {
  /** The ids as they are stored. */
  function requireReviewers(ids: readonly string[] | undefined): string[] | null {
    if (!ids) return null;
    const found = ids.map((id, index) => {
      const reviewer = reviewers.find(id);
      if (!reviewer) throw invalidField(`reviewerIds[${index}]`, 'is not a reviewer');
      return reviewer.id;
    });
    return [...new Set(found)];
  }

  return (input: ReviewQueueInput): QueuePlan => {
    const reviewerIds = requireReviewers(input.reviewerIds);
    const reviewersPerItem = input.reviewersPerItem ?? reviewerIds?.length ?? 1;
    const secondShare = input.secondShare ?? 0;
    const highest = reviewersPerItem + (secondShare > 0 ? 1 : 0);
    if (reviewerIds && highest > reviewerIds.length)
      throw invalidField('reviewersPerItem', `needs ${highest} reviewers, and ${reviewerIds.length} are named`);
    return {
      filter: input.filter,
      source: input.source ?? 'device',
      itemType: input.itemType,
      plan: input.plan,
      seed: input.seed ?? randomInt(maxSeed),
      reviewersPerItem,
      reviewerIds,
      secondShare,
      reservationMinutes: input.reservationMinutes ?? defaultReservationMinutes,
    };
  };
}

/** Other hosts must know the named reviewers. Throws `conflict` without a team database. */
async function shareReviewers(
  { reviewerIds }: ReviewQueueInput,
  { shared, reviewers }: ReviewQueuesOptions,
): Promise<void> {
  if (!shared.isOn())
    throw new AppError(
      'conflict',
      'No team database is connected. Connect one in Settings, or make a queue of this device.',
    );
  for (const id of reviewerIds ?? []) {
    const reviewer = reviewers.find(id);
    if (reviewer !== null) await shared.ensureReviewer(reviewer);
  }
}

/** The consensus on a run is written by the host that recorded it, which has a copy only of a shared queue. */
function withSharing(input: ReviewQueueInput): ReviewQueueInput {
  if (input.source !== 'team') return input;
  if (input.isShared === false) throw invalidField('isShared', "must be true for the team's runs");
  return { ...input, isShared: true };
}

export function createReviewQueues(options: ReviewQueuesOptions): ReviewQueues {
  const { store, reviews, rubrics } = options;
  const planOf = createPlanner(options);
  const { summarize, describe } = createDescriber(options);
  const sampler = createSampler(options);
  const append = createItemWriter(options);
  const daily = createDailyItems({ ...options, sampler, append });
  let isClosed = false;
  let removal = Promise.resolve();

  /** Deletes removed queues, one after the other. */
  function removeHidden(): Promise<void> {
    removal = removal.then(async () => {
      while (!isClosed && store.removeSome()) await nextTurn();
    });
    return removal;
  }

  async function create(given: ReviewQueueInput, you: StoredReviewer | null, call: QueueCall) {
    const { signal } = call;
    const input = withSharing(given);
    const { id, name, version, description, items } = rubrics.read(input.rubricId, input.rubricVersion ?? null);
    if (input.isShared) await shareReviewers(input, options);
    const plan = planOf(input);
    const sample = await sampler.draw(input, plan.seed, call);
    const queueId = randomUUID();
    const sequence = store.create({
      id: queueId,
      installationId: store.installationId,
      isImported: false,
      name: input.name,
      plan,
      population: sample.population,
      strata: sample.strata,
      isOpen: plan.plan.kind === 'newest',
      filledDay: null,
      rubric: { id, name, version, description, items },
      createdAt: Date.now(),
    });
    try {
      await append({ plan, sequence }, sample.items, signal);
      if (input.isShared) await options.shared.publish(store.readSequence(sequence), signal);
    } catch (error) {
      store.hide(sequence);
      await removeHidden();
      throw error;
    }
    store.show(sequence);
    return describe(store.read(queueId), you);
  }

  /** A copy of a shared queue has the name of the host that made it. */
  async function rename(queue: StoredQueue, name: string): Promise<void> {
    if (queue.teamChange !== null) {
      if (queue.isImported)
        throw new AppError('conflict', 'Another Touchstone made this queue. Only that one can rename it.');
      await options.shared.extend({ ...queue, name });
    }
    store.rename(store.read(queue.id).sequence, name);
  }

  void removeHidden();

  return {
    async list(query) {
      const { data, continuationToken } = store.list(query);
      const summaries: ReviewQueueSummary[] = [];
      for (const queue of data) {
        summaries.push(summarize(queue));
        // Counting 50,000 items takes 13 ms.
        await nextTurn();
      }
      return { data: summaries, continuationToken };
    },
    preview: (input, call) => sampler.count(input, call),
    create,
    read: (id, you) => describe(store.read(id), you),
    async update(id, { name, isOpen }, you) {
      if (isOpen !== undefined) requireDaily(store.read(id));
      if (name !== undefined) await daily.change(id, () => rename(store.read(id), name));
      if (isOpen !== undefined) await daily.setOpen(id, isOpen);
      return describe(store.read(id), you);
    },
    addDays: daily.add,
    async remove(id) {
      const queue = store.read(id);
      if (queue.teamChange !== null) await options.shared.remove(queue);
      // The poll may have been faster.
      if (store.find(id) !== null) store.remove(id);
      await removeHidden();
    },
    async close() {
      isClosed = true;
      await daily.close();
      await removal;
    },
    async items(id, { view, ...range }, you) {
      const queue = store.read(id);
      const now = Date.now();
      const of = { view, reviewer: you?.sequence ?? null, now };
      const isAll = view === 'all';
      const items = isAll ? store.items(queue.sequence, range) : store.view(queue.sequence, of, range);
      const data = describeItems(items, { queue, you, reviews, now }, importedStart(store, queue));
      if (!isAll) await nextTurn();
      const total = isAll ? store.itemCount(queue.sequence) : store.viewCount(queue.sequence, of);
      return { data, offset: range.offset, total };
    },
  };
}
