import { randomInt, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { ReviewItem } from '../../shared/contract/review-items.ts';
import type {
  ReviewProgress,
  ReviewQueue,
  ReviewQueueInput,
  ReviewQueueSummary,
} from '../../shared/contract/review-queues.ts';
import type { ListPage, ListQuery } from '../storage/list-page.ts';
import type { QueuePlan, QueueStore, StoredItem, StoredQueue } from '../storage/reviews/queue-store.ts';
import type { ReviewStore, StoredProgress } from '../storage/reviews/review-store.ts';
import type { ReviewerStore, StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import type { RubricStore } from '../storage/reviews/rubric-store.ts';
import { describeItems } from './describe-item.ts';
import type { SharedQueues } from './sharing.ts';
import { countSample, drawSample, priorityOf, type SampledItem, type SamplingOptions } from './sampling.ts';

type Preview = Pick<ReviewQueueInput, 'filter' | 'itemType' | 'plan'>;

/** Methods with an id throw `not_found`. `you` is the caller as a reviewer; null before its first review. */
export interface ReviewQueues {
  list(query: ListQuery): Promise<ListPage<ReviewQueueSummary>>;
  preview(input: Preview, options: { signal: AbortSignal }): ReturnType<typeof countSample>;
  /** Throws `invalid_request` for a filter without matches and an unknown reviewer, and `payload_too_large`. */
  create(input: ReviewQueueInput, you: StoredReviewer | null, options: { signal: AbortSignal }): Promise<ReviewQueue>;
  read(id: string, you: StoredReviewer | null): ReviewQueue;
  /** Returns when all rows are deleted. */
  remove(id: string): Promise<void>;
  items(
    id: string,
    range: { offset: number; limit: number },
    you: StoredReviewer | null,
  ): { data: ReviewItem[]; offset: number; total: number };
  close(): Promise<void>;
}

export interface ReviewQueuesOptions extends SamplingOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  readonly reviewers: ReviewerStore;
  readonly rubrics: RubricStore;
  readonly shared: SharedQueues;
}

const maxSeed = 2 ** 32;
const itemsAtOnce = 500;
const defaultReservationMinutes = 15;

const isoTime = (time: number) => new Date(time).toISOString();

/** The start of the prompt of an imported item. */
export function importedTitle(store: QueueStore, queue: StoredQueue): (item: StoredItem) => string | null {
  return (item) => (queue.isImported ? (store.content(item.sequence)?.[0]?.input.slice(0, 120) ?? null) : null);
}

function median(sorted: readonly number[]): number | null {
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

/** The items that one more reviewer reviews. */
function findSecond(items: readonly SampledItem[], { seed, secondShare, itemType }: QueuePlan): Set<number> {
  const idOf = (item: SampledItem) => (itemType === 'run' ? item.runId : item.conversationId);
  const order = items
    .map((item, index) => ({ index, priority: priorityOf(seed, 'second', idOf(item)) }))
    .toSorted((one, other) => one.priority - other.priority);
  return new Set(order.slice(0, Math.round(secondShare * items.length)).map(({ index }) => index));
}

function createDescriber({ store, reviews }: ReviewQueuesOptions) {
  function summarize(queue: StoredQueue): ReviewQueueSummary {
    const counts = store.counts(queue.sequence);
    return {
      id: queue.id,
      name: queue.name,
      itemType: queue.plan.itemType,
      counts,
      isComplete: counts.done === counts.items,
      isImported: queue.isImported,
      isShared: queue.teamChange !== null,
      createdAt: isoTime(queue.createdAt),
    };
  }

  function progressOf(
    queue: StoredQueue,
    { reviewer, reviewerId, name, reviewed, skipped, lastReviewAt }: StoredProgress,
    needed: number,
    you: StoredReviewer | null,
  ): ReviewProgress {
    const named = queue.plan.reviewerIds;
    return {
      reviewerId,
      reviewer: name,
      isYou: reviewer === you?.sequence,
      reviewed,
      skipped,
      assigned: named?.includes(reviewerId) ? Math.ceil(needed / named.length) : null,
      secondsPerItem: median(reviews.lastSeconds(queue.sequence, reviewer).toSorted((one, other) => one - other)),
      lastReviewAt: lastReviewAt === null ? null : isoTime(lastReviewAt),
    };
  }

  function describe(queue: StoredQueue, you: StoredReviewer | null): ReviewQueue {
    const summary = summarize(queue);
    const { plan, population, strata, rubric, installationId } = queue;
    const held = you && reviews.reservation(queue.sequence, you.sequence);
    return {
      ...summary,
      ...plan,
      population,
      strata: [...strata],
      rubric,
      installationId,
      progress: reviews
        .progress(queue.sequence, plan.reviewerIds ?? [])
        .map((one) => progressOf(queue, one, summary.counts.reviewsNeeded, you)),
      reservation:
        held && held.expiresAt > Date.now() ? { itemId: held.itemId, expiresAt: isoTime(held.expiresAt) } : null,
    };
  }

  return { summarize, describe };
}

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

export function createReviewQueues(options: ReviewQueuesOptions): ReviewQueues {
  const { store, reviews, rubrics } = options;
  const planOf = createPlanner(options);
  const { summarize, describe } = createDescriber(options);
  let isClosed = false;
  let removal = Promise.resolve();

  /** Deletes removed queues, one after the other. */
  function removeHidden(): Promise<void> {
    removal = removal.then(async () => {
      while (!isClosed && store.removeSome()) await nextTurn();
    });
    return removal;
  }

  async function appendItems(items: readonly SampledItem[], plan: QueuePlan, sequence: number, signal: AbortSignal) {
    const second = findSecond(items, plan);
    for (let offset = 0; offset < items.length; offset += itemsAtOnce) {
      const slice = items.slice(offset, offset + itemsAtOnce).map((item, index) => ({
        ...item,
        id: randomUUID(),
        needed: plan.reviewersPerItem + Number(second.has(offset + index)),
        content: null,
      }));
      store.append(sequence, offset, slice);
      await nextTurn();
      signal.throwIfAborted();
    }
  }

  async function create(input: ReviewQueueInput, you: StoredReviewer | null, { signal }: { signal: AbortSignal }) {
    const { id, name, version, description, items } = rubrics.read(input.rubricId, input.rubricVersion ?? null);
    if (input.isShared) await shareReviewers(input, options);
    const plan = planOf(input);
    const sample = await drawSample(input, plan.seed, options, signal);
    const queueId = randomUUID();
    const sequence = store.create({
      id: queueId,
      installationId: store.installationId,
      isImported: false,
      name: input.name,
      plan,
      population: sample.population,
      strata: sample.strata,
      rubric: { id, name, version, description, items },
      createdAt: Date.now(),
    });
    try {
      await appendItems(sample.items, plan, sequence, signal);
      if (input.isShared) await options.shared.publish(store.readSequence(sequence), signal);
    } catch (error) {
      store.hide(sequence);
      await removeHidden();
      throw error;
    }
    store.show(sequence);
    return describe(store.read(queueId), you);
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
    preview: (input, { signal }) => countSample(input, options, signal),
    create,
    read: (id, you) => describe(store.read(id), you),
    async remove(id) {
      const queue = store.read(id);
      if (queue.teamChange !== null) await options.shared.remove(queue);
      store.remove(id);
      await removeHidden();
    },
    close() {
      isClosed = true;
      return removal;
    },
    items(id, range, you) {
      const queue = store.read(id);
      const found = store.items(queue.sequence, range);
      const context = { queue, you, reviews, now: Date.now() };
      return {
        data: describeItems(found, context, importedTitle(store, queue)),
        offset: range.offset,
        total: store.itemCount(queue.sequence),
      };
    },
  };
}
