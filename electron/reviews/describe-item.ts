import type { Review, ReviewAnswer, ReviewComment, ReviewItem } from '../../shared/contract/review-items.ts';
import type { SecondReview, StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { StoredComment, StoredReservation, StoredReview, ReviewStore } from '../storage/reviews/review-store.ts';
import type { ImportedStart } from './describe-queue.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';

const isoTime = (time: number) => new Date(time).toISOString();

export const isDone = ({ done, needed }: Pick<StoredItem, 'done' | 'needed'>): boolean => done >= needed;

export const goldOf = ({ goldJson }: Pick<StoredItem, 'goldJson'>): ReviewAnswer[] =>
  goldJson === null ? [] : (JSON.parse(goldJson) as ReviewAnswer[]);

export const answersOf = ({ answersJson }: Pick<StoredReview, 'answersJson'>): ReviewAnswer[] =>
  JSON.parse(answersJson) as ReviewAnswer[];

/** Whether someone is among those who may review. Null is a caller who has not reviewed yet. */
export function isReviewerOf({ plan }: StoredQueue, reviewer: Pick<StoredReviewer, 'id'> | null): boolean {
  return plan.reviewerIds === null || (reviewer !== null && plan.reviewerIds.includes(reviewer.id));
}

export function reviewOf(stored: StoredReview, you: StoredReviewer | null): Review {
  return {
    id: stored.id,
    reviewerId: stored.reviewerId,
    reviewer: stored.reviewerName,
    isYours: stored.reviewer === you?.sequence,
    kind: stored.kind,
    answers: answersOf(stored),
    note: stored.note,
    seconds: stored.seconds,
    createdAt: isoTime(stored.createdAt),
    replaces: stored.replaces,
  };
}

export function commentOf(stored: StoredComment, you: StoredReviewer | null): ReviewComment {
  const { id, reviewer, reviewerId, reviewerName, text, createdAt } = stored;
  return {
    id,
    reviewerId,
    reviewer: reviewerName,
    isYours: reviewer === you?.sequence,
    text,
    createdAt: isoTime(createdAt),
  };
}

export const secondOf = ({ secondJson }: Pick<StoredItem, 'secondJson'>): SecondReview | null =>
  secondJson === null ? null : (JSON.parse(secondJson) as SecondReview);

/** Without the reason, which says what a reviewer thinks of the item. */
function describeSecond(item: StoredItem): ReviewItem['secondReview'] {
  const second = secondOf(item);
  return second && { requestedBy: second.by, requestedAt: isoTime(second.at), reason: null };
}

interface ItemContext {
  readonly queue: StoredQueue;
  readonly you: StoredReviewer | null;
  /** Valid ones of the item. */
  readonly reservations: readonly StoredReservation[];
  /** What the caller did with the item. */
  readonly yourKind: 'review' | 'skip' | undefined;
  /** Of an imported item. */
  readonly imported: ImportedStart | null;
}

function yoursOf(item: StoredItem, { queue, you, reservations, yourKind }: ItemContext): ReviewItem['yours'] {
  if (reservations.some(({ reviewer }) => reviewer === you?.sequence)) return 'reserved';
  if (yourKind === 'review') return 'reviewed';
  if (yourKind === 'skip') return 'skipped';
  const toCome = reservations.filter(({ isRevision }) => isRevision === 0).length;
  const isFree = item.isRemoved === 0 && item.done + toCome < item.needed;
  return isFree && isReviewerOf(queue, you) ? 'open' : 'closed';
}

export function describeItem(item: StoredItem, context: ItemContext): ReviewItem {
  const { queue, reservations, imported } = context;
  const { goldJson, goldBy, goldAt, runAt } = item;
  return {
    id: item.id,
    position: item.position,
    conversationId: item.conversationId,
    runId: item.runId,
    title: item.isRemoved === 1 ? 'Removed' : (item.title ?? imported?.title ?? ''),
    caller: item.caller,
    runAt: runAt === null ? (imported?.runAt ?? null) : isoTime(runAt),
    stratum: queue.strata[item.stratum]?.name ?? '',
    isFlagged: item.isFlagged === 1,
    state: item.isRemoved === 1 ? 'removed' : isDone(item) ? 'done' : 'open',
    reviewsNeeded: item.needed,
    reviewsDone: item.done,
    reservedBy: reservations.map(({ reviewerName }) => reviewerName),
    yours: yoursOf(item, context),
    secondReview: describeSecond(item),
    gold:
      goldJson === null || goldBy === null || goldAt === null
        ? null
        : { answers: goldOf(item), decidedBy: goldBy, decidedAt: isoTime(goldAt) },
  };
}

/** Describes items of one queue as a caller sees them. */
export function describeItems(
  items: readonly StoredItem[],
  { queue, you, reviews, now }: { queue: StoredQueue; you: StoredReviewer | null; reviews: ReviewStore; now: number },
  importedStartOf: (item: StoredItem) => ImportedStart | null,
): ReviewItem[] {
  const sequences = items.map(({ sequence }) => sequence);
  const held = Map.groupBy(reviews.reservationsIn(sequences, now), ({ item }) => item);
  const kinds = you ? reviews.kindsOf(sequences, you.sequence) : new Map<number, 'review' | 'skip'>();
  return items.map((item) =>
    describeItem(item, {
      queue,
      you,
      reservations: held.get(item.sequence) ?? [],
      yourKind: kinds.get(item.sequence),
      imported: importedStartOf(item),
    }),
  );
}
