import type { ReviewProgress, ReviewQueue, ReviewQueueSummary } from '../../shared/contract/review-queues.ts';
import type { StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore, StoredProgress } from '../storage/reviews/review-store.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';

interface DescriberOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
}

const isoTime = (time: number) => new Date(time).toISOString();

/** Whether the texts of items are stored with the queue, because their runs can be on other hosts. */
export const hasTexts = ({ isImported, plan }: StoredQueue): boolean => isImported || plan.source === 'team';

/** What is shown of an item with its own texts. */
export interface ImportedStart {
  readonly title: string;
  readonly runAt: string | null;
}

/** The start of the prompt, and when the reviewed run was created. */
export function importedStart(store: QueueStore, queue: StoredQueue): (item: StoredItem) => ImportedStart | null {
  return (item) => {
    const runs = hasTexts(queue) ? store.content(item.sequence) : null;
    if (!runs?.[0]) return null;
    const reviewed = runs.find(({ runId }) => runId === item.runId) ?? runs.at(-1);
    return { title: runs[0].input.slice(0, 120), runAt: reviewed?.createdAt ?? null };
  };
}

function median(values: readonly number[]): number | null {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? null;
}

/** Describes queues as callers see them. */
export function createDescriber({ store, reviews }: DescriberOptions) {
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
      plan: queue.plan.plan,
      isOpen: queue.isOpen,
      createdAt: isoTime(queue.createdAt),
    };
  }

  function progressOf(
    queue: StoredQueue,
    { reviewer, reviewerId, name, reviewed, skipped, lastReviewAt }: StoredProgress,
    { seconds, needed, you }: { seconds: readonly number[]; needed: number; you: StoredReviewer | null },
  ): ReviewProgress {
    const named = queue.plan.reviewerIds;
    const spent = seconds.reduce((sum, one) => sum + one, 0);
    return {
      reviewerId,
      reviewer: name,
      isYou: reviewer === you?.sequence,
      reviewed,
      skipped,
      assigned: named?.includes(reviewerId) ? Math.ceil(needed / named.length) : null,
      secondsPerItem: median(seconds),
      reviewsPerHour: spent > 0 ? (3600 * seconds.length) / spent : null,
      lastReviewAt: lastReviewAt === null ? null : isoTime(lastReviewAt),
    };
  }

  function describe(queue: StoredQueue, you: StoredReviewer | null): ReviewQueue {
    const summary = summarize(queue);
    const { plan, population, strata, rubric, installationId } = queue;
    const held = you && reviews.reservation(queue.sequence, you.sequence);
    const needed = summary.counts.reviewsNeeded;
    const timed = reviews
      .progress(queue.sequence, plan.reviewerIds ?? [])
      .map((one) => ({ one, seconds: reviews.lastSeconds(queue.sequence, one.reviewer) }));
    return {
      ...plan,
      ...summary,
      population,
      strata: [...strata],
      rubric,
      installationId,
      secondsPerItem: median(timed.flatMap(({ seconds }) => seconds)),
      progress: timed.map(({ one, seconds }) => progressOf(queue, one, { seconds, needed, you })),
      reservation:
        held && held.expiresAt > Date.now() ? { itemId: held.itemId, expiresAt: isoTime(held.expiresAt) } : null,
    };
  }

  return { summarize, describe };
}
