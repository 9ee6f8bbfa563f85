import { AppError } from '../../shared/app-error.ts';
import type { StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { Claim, ReviewStore, StoredReservation } from '../storage/reviews/review-store.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import { isDone } from './describe-item.ts';

/** Positions that one search for an open item looks at: below 10 ms. */
const positionsAtOnce = 5000;

/** How far a clock that is set by the network may go back. */
const clockStepMs = 60_000;

const timeOfDay = (time: number) => `${new Date(time).toISOString().slice(11, 16)} UTC`;

/** Why a reviewer can't have an item, when all its reviews are there or reserved. */
export function unavailable(item: StoredItem, held: readonly StoredReservation[]): AppError {
  if (item.isRemoved === 1) return new AppError('conflict', 'The run of this item was deleted.');
  if (held.length === 0) return new AppError('conflict', 'This item has all its reviews.');
  const [first] = held;
  return new AppError(
    'conflict',
    `${first!.reviewerName} has this item reserved until ${timeOfDay(first!.expiresAt)}. Take another one, or try again then.`,
  );
}

/** The reservations of others that a review is still to come from. */
function holders(
  item: StoredItem,
  you: StoredReviewer,
  now: number,
  reviews: Pick<ReviewStore, 'reservationsOf'>,
): StoredReservation[] {
  const reservations = reviews.reservationsOf(item.sequence, now);
  return reservations.filter(({ reviewer, isRevision }) => reviewer !== you.sequence && isRevision === 0);
}

/** Throws `conflict` with who has the item instead. */
export function requireReservation(
  { queue, item, you }: { queue: StoredQueue; item: StoredItem; you: StoredReviewer },
  reviews: ReviewStore,
): StoredReservation {
  const now = Date.now();
  const own = reviews.reservation(queue.sequence, you.sequence);
  if (own && own.item === item.sequence && own.expiresAt > now && item.isRemoved === 0) return own;
  const held = holders(item, you, now, reviews);
  if (item.isRemoved === 1 || isDone(item) || item.done + held.length >= item.needed) throw unavailable(item, held);
  const message =
    own && own.item === item.sequence ? 'Your reservation has expired.' : 'You have not reserved this item.';
  throw new AppError('conflict', `${message} Reserve it and send the review again.`);
}

/** Finds and reserves items. Returns null when nothing is left. */
export function createReserving({ store, reviews }: { readonly store: QueueStore; readonly reviews: ReviewStore }) {
  function claimOf(queue: StoredQueue, you: StoredReviewer): Claim {
    const now = Date.now();
    return {
      queue: queue.sequence,
      reviewer: you.sequence,
      now,
      expiresAt: now + queue.plan.reservationMinutes * 60_000,
    };
  }

  /** Whether a reviewer may have an item again: as long as no one has seen the review, or there is no other one. */
  function canRevise(item: StoredItem, you: StoredReviewer): boolean {
    const current = reviews.reviewsOf(item.sequence).filter(({ kind }) => kind === 'review');
    const isOwn = current.some(({ reviewer }) => reviewer === you.sequence);
    return isOwn && item.isRemoved === 0 && item.goldAt === null && (!isDone(item) || current.length === 1);
  }

  function claimItem(queue: StoredQueue, itemId: string, you: StoredReviewer): StoredItem {
    const item = store.item(queue.sequence, itemId);
    const claim = claimOf(queue, you);
    const held = holders(item, you, claim.now, reviews);
    const isFree = item.isRemoved === 0 && item.done + held.length < item.needed;
    if (!canRevise(item, you)) {
      const hasReviewed = reviews.kindsOf([item.sequence], you.sequence).get(item.sequence) === 'review';
      if (hasReviewed) throw new AppError('conflict', 'You have reviewed this item, and others have seen it since.');
      if (!isFree) throw unavailable(item, held);
    }
    reviews.reserve(claim, item.sequence);
    return item;
  }

  function claimNext(queue: StoredQueue, you: StoredReviewer): StoredItem | null {
    const claim = claimOf(queue, you);
    const start = reviews.nextPosition(queue.sequence, you.sequence);
    const count = store.itemCount(queue.sequence);
    // Forward from the last reviewed item, then those before it.
    for (const [first, end] of [
      [start, count],
      [0, Math.min(start, count)],
    ] as const) {
      for (let from = first; from < end; from += positionsAtOnce) {
        const item = reviews.findOpen(claim, { from, to: Math.min(from + positionsAtOnce, end) });
        if (!item) continue;
        reviews.reserve(claim, item.sequence);
        return item;
      }
    }
    return null;
  }

  return (queue: StoredQueue, itemId: string | undefined, you: StoredReviewer): StoredItem | null => {
    // Later than any can end: the clock was ahead. Otherwise no reviewer would get the item until then.
    reviews.releaseLater(queue.sequence, claimOf(queue, you).expiresAt + clockStepMs);
    const held = reviews.reservation(queue.sequence, you.sequence);
    const isValid = held !== null && held.expiresAt > Date.now();
    const requested = itemId ?? (isValid ? held.itemId : undefined);
    if (requested === undefined) return claimNext(queue, you);
    return claimItem(queue, requested, you);
  };
}
