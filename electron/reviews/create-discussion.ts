import { AppError } from '../../shared/app-error.ts';
import {
  maxDiscussionCharacters,
  type ReviewComment,
  type ReviewItemDetail,
} from '../../shared/contract/review-items.ts';
import { maxReviewersPerItem } from '../../shared/contract/review-queues.ts';
import type { SecondReview, StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { createItemReader, isOpenTo, type ReviewsOptions } from './create-reviews.ts';
import { commentOf, isDone, secondOf } from './describe-item.ts';
import { requireReservation, unavailable } from './reserving.ts';

interface ItemOf {
  readonly id: string;
  readonly itemId: string;
}

interface Author {
  readonly you: StoredReviewer;
  readonly canDecide: boolean;
}

/** What people say about items beside their reviews. Both throw `not_found` for an unknown queue or item, and `conflict`. */
export interface Discussion {
  /** The item needs one review more. Without `canDecide` only with a valid reservation. */
  requestSecond(item: ItemOf, reason: string | null, author: Author): Promise<ReviewItemDetail>;
  /** Only for who may see the reviews of others. */
  comment(item: ItemOf, text: string, author: Author): Promise<ReviewComment>;
}

/** Reviews that an item can need: those of the plan, of its second share, and one that somebody asked for. */
const maxNeeded = maxReviewersPerItem + 1;

/** How many reviews an item can have: named reviewers give one each. */
const maxReviewsOf = ({ plan }: StoredQueue): number => Math.min(maxNeeded, plan.reviewerIds?.length ?? maxNeeded);

/** Throws `conflict` if nobody can review it once more. */
function requireRoom(queue: StoredQueue, item: StoredItem): void {
  if (item.isRemoved === 1) throw unavailable(item, []);
  const second = secondOf(item);
  if (second) throw new AppError('conflict', `${second.by} has asked for a second review of this item already.`);
  if (isDone(item))
    throw new AppError('conflict', 'This item has all its reviews. Discuss it where the reviewers disagree.');
  if (item.needed >= maxReviewsOf(queue))
    throw new AppError('conflict', 'All reviewers of this queue review this item already.');
}

const changed = () => new AppError('conflict', 'The item was changed on another host. Try again.');

interface ItemInQueue {
  readonly queue: StoredQueue;
  readonly item: StoredItem;
}

/** Reads items for what somebody wants to say about them. */
function createItemAccess(options: ReviewsOptions) {
  const { store, reviews } = options;

  function readItem({ id, itemId }: ItemOf): ItemInQueue {
    const queue = store.read(id);
    return { queue, item: store.item(queue.sequence, itemId) };
  }

  function requireRequest(of: ItemOf, { you, canDecide }: Author): ItemInQueue {
    const { queue, item } = readItem(of);
    requireRoom(queue, item);
    if (!canDecide) requireReservation({ queue, item, you }, reviews);
    return { queue, item };
  }

  /** That there is room for a text, too. */
  function requireOpen(of: ItemOf, text: string, author: Author): ItemInQueue {
    const { queue, item } = readItem(of);
    if (item.isRemoved === 1) throw unavailable(item, []);
    if (!isOpenTo(options, queue, item, author))
      throw new AppError(
        'conflict',
        'The discussion opens when the item has all its reviews, for those who reviewed it.',
      );
    if (options.reviews.commentCharacters(item.sequence) + text.length > maxDiscussionCharacters)
      throw new AppError(
        'conflict',
        `The discussion of this item has no room: it can have ${maxDiscussionCharacters.toLocaleString('en-US')} characters. Shorten the text, or decide the item.`,
      );
    return { queue, item };
  }

  return { readItem, requireRequest, requireOpen };
}

export function createDiscussion(options: ReviewsOptions): Discussion {
  const { reviews, shared, flush } = options;
  const describe = createItemReader(options);
  const { readItem, requireRequest, requireOpen } = createItemAccess(options);

  return {
    async requestSecond(of, reason, author) {
      const { you } = author;
      const second: SecondReview = { by: you.name, reviewerId: you.id, reason: reason || null, at: Date.now() };
      const { queue } = readItem(of);
      if (queue.teamChange === null) {
        flush();
        reviews.transaction(() => reviews.setSecond(requireRequest(of, author).item.sequence, second));
      } else {
        await shared.pull(queue);
        const { item } = requireRequest(of, author);
        const maxReviews = maxReviewsOf(queue);
        const isRequested = await shared.requestSecond(queue, { itemId: item.id, second, maxReviews, ...author });
        if (!isRequested) throw changed();
      }
      return describe(queue, readItem(of).item, author);
    },
    async comment(of, text, author) {
      const { you } = author;
      const id = timeOrderedId();
      const { queue } = readItem(of);
      if (queue.teamChange === null)
        reviews.transaction(() => {
          const { item } = requireOpen(of, text, author);
          reviews.addComment({ id, item: item.sequence, reviewer: you.sequence, text, createdAt: Date.now() });
        });
      else {
        await shared.pull(queue);
        const { item } = requireOpen(of, text, author);
        if (!(await shared.comment(queue, { id, itemId: item.id, text }, you))) throw changed();
      }
      const stored = reviews.commentsOf(readItem(of).item.sequence).find((one) => one.id === id);
      if (!stored) throw changed();
      return commentOf(stored, you);
    },
  };
}
