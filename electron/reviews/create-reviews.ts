import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Review, ReviewAnswer, ReviewItemDetail } from '../../shared/contract/review-items.ts';
import type { AnswersInput, ReviewReservation } from '../../shared/contract/reviews.ts';
import type { RubricItem } from '../../shared/contract/rubrics.ts';
import { valueIssue } from '../storage/reviews/rubric-store.ts';
import type { StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore, StoredReview } from '../storage/reviews/review-store.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { feedbackOf, finalAnswers, hasDisagreement } from './consensus.ts';
import { hasTexts, importedStart } from './describe-queue.ts';
import {
  answersOf,
  commentOf,
  describeItems,
  goldOf,
  isDone,
  isReviewerOf,
  reviewOf,
  secondOf,
} from './describe-item.ts';
import { createReserving, requireReservation, unavailable } from './reserving.ts';
import type { NewSharedReview, SharedQueues } from './sharing.ts';

/** Who reads an item. Someone who decides items sees the reviews of every item that has all of them. */
export interface ReviewReader {
  readonly you: StoredReviewer | null;
  readonly canDecide: boolean;
}

interface ItemOf {
  readonly id: string;
  readonly itemId: string;
}

/** Reservations and reviews. All methods throw `not_found` for an unknown queue or item. */
export interface Reviews {
  /** Null when nothing is left for the reviewer. Throws `forbidden` for someone else than the named ones, and `conflict`. */
  reserve(
    id: string,
    itemId: string | undefined,
    you: StoredReviewer,
  ): ReviewReservation | null | Promise<ReviewReservation | null>;
  release(id: string, you: StoredReviewer | null): void | Promise<void>;
  /** Throws `conflict` without a valid reservation, and `invalid_request` for answers that do not fit the rubric. */
  submit(
    item: ItemOf,
    review: { readonly answers: AnswersInput; readonly note: string | null },
    you: StoredReviewer,
  ): Review | Promise<Review>;
  /** As `submit`. */
  skip(item: ItemOf, reason: string, you: StoredReviewer): Review | Promise<Review>;
  /** Throws `conflict` until the item has all its reviews. */
  decide(item: ItemOf, answers: AnswersInput, you: StoredReviewer): ReviewItemDetail | Promise<ReviewItemDetail>;
  read(item: ItemOf, reader: ReviewReader): ReviewItemDetail;
}

export interface ReviewsOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  /** Writes queued runs, so that their feedback can be written. */
  readonly flush: () => void;
  readonly shared: SharedQueues;
}

/** Reads what the caller sent. Throws `invalid_request`. */
type ReadReview = (
  queue: StoredQueue,
) => Pick<StoredReview, 'kind' | 'note'> & { readonly answers: readonly ReviewAnswer[] };

const isoTime = (time: number) => new Date(time).toISOString();

/** The answers as they are stored. Throws `invalid_request`. */
export function readAnswers(rubric: readonly RubricItem[], input: AnswersInput): ReviewAnswer[] {
  return input.map(({ rubricItemId, value, note }, index) => {
    const item = rubric.find(({ id }) => id === rubricItemId.toLowerCase());
    const at = `answers[${index}]`;
    if (!item) throw invalidField(`${at}.rubricItemId`, "is not an item of the queue's rubric");
    const earlier = input.findIndex((other) => other.rubricItemId.toLowerCase() === item.id);
    if (earlier < index) throw invalidField(`${at}.rubricItemId`, 'is answered more than once');
    const issue = valueIssue(item, value);
    if (issue !== null) throw invalidField(`${at}.value`, issue);
    return { rubricItemId: item.id, value, note: note?.trim() || null };
  });
}

function requireAll(rubric: readonly RubricItem[], answers: readonly ReviewAnswer[]): void {
  const missing = rubric.find(
    ({ id, isRequired }) => isRequired && !answers.some(({ rubricItemId }) => rubricItemId === id),
  );
  if (missing) throw invalidField('answers', `must answer "${missing.question}"`);
}

const undecided = (rubric: readonly RubricItem[], gold: readonly ReviewAnswer[]) =>
  rubric.filter(({ id }) => !gold.some(({ rubricItemId }) => rubricItemId === id));

/** Closes an item that has all its reviews: its answers go into the history, and the consensus becomes the feedback. */
export function createOutcome({ reviews }: Pick<ReviewsOptions, 'reviews'>) {
  return (queue: StoredQueue, item: StoredItem, { now, added }: { now: number; added: StoredReview | null }): void => {
    const current = reviews.reviewsOf(item.sequence).filter(({ kind }) => kind === 'review');
    const answers = current.map(answersOf);
    const rubric = queue.rubric.items;
    reviews.setOutcome(item.sequence, hasDisagreement(undecided(rubric, goldOf(item)), answers));
    if (current.length < item.needed) return;
    reviews.releaseItem(item.sequence);
    // Until now others must not see them. Later on only the changed one is new.
    const isFirst = added === null || item.done < item.needed;
    for (const review of isFirst ? current : [added]) {
      const { reviewerName: reviewer, createdAt } = review;
      reviews.addHistory({ runId: item.runId, reviewer, answers: answersOf(review), rubric, createdAt });
    }
    const final = finalAnswers(rubric, answers, goldOf(item));
    reviews.setFeedback(item.runId, feedbackOf(rubric, final), `Review queue: ${queue.name}`, now);
  };
}

/** Whether a reader may see what others say about an item: their reviews and the discussion. */
export function isOpenTo(
  { store, reviews }: Pick<ReviewsOptions, 'store' | 'reviews'>,
  queue: StoredQueue,
  item: StoredItem,
  { you, canDecide }: ReviewReader,
): boolean {
  if (!isDone(item)) return false;
  const hasOwn = reviews
    .reviewsOf(item.sequence)
    .some(({ reviewer, kind }) => reviewer === you?.sequence && kind === 'review');
  return hasOwn || canDecide || isComplete(store, queue);
}

export function createItemReader({ store, reviews }: Pick<ReviewsOptions, 'store' | 'reviews'>) {
  return (queue: StoredQueue, item: StoredItem, reader: ReviewReader): ReviewItemDetail => {
    const { you } = reader;
    const current = reviews.reviewsOf(item.sequence);
    const isOpenToAll = isOpenTo({ store, reviews }, queue, item, reader);
    const shown = current.filter(({ reviewer }) => isOpenToAll || reviewer === you?.sequence);
    const context = { queue, you, reviews, now: Date.now() };
    const [described] = describeItems([item], context, importedStart(store, queue));
    const { secondReview } = described!;
    const second = secondOf(item);
    const seesReason = isOpenToAll || second?.reviewerId === you?.id;
    return {
      ...described!,
      secondReview: secondReview && { ...secondReview, reason: seesReason ? (second?.reason ?? null) : null },
      reviews: shown.map((one) => reviewOf(one, you)),
      hiddenReviews: current.length - shown.length,
      comments: isOpenToAll ? reviews.commentsOf(item.sequence).map((one) => commentOf(one, you)) : [],
      runs: hasTexts(queue) ? store.content(item.sequence) : null,
    };
  };
}

/** Whether all items of a queue have their reviews. */
export function isComplete(store: QueueStore, queue: StoredQueue): boolean {
  const { items, done } = store.counts(queue.sequence);
  return done === items;
}

interface Gold {
  readonly queue: StoredQueue;
  readonly item: StoredItem;
  readonly gold: readonly ReviewAnswer[];
  readonly by: string;
  readonly at: number;
}

/** Writes gold values. They and the consensus on the others become the feedback. */
export function writeGold({ queue, item, gold, by, at }: Gold, reviews: ReviewStore): void {
  const rubric = queue.rubric.items;
  const earlier = new Set(goldOf(item).map((answer) => JSON.stringify(answer)));
  const decided = gold.filter((answer) => !earlier.has(JSON.stringify(answer)));
  reviews.setGold(item.sequence, { answers: gold, by, at });
  reviews.releaseItem(item.sequence);
  const reviewer = `${by} (decision)`;
  reviews.addHistory({ runId: item.runId, reviewer, answers: decided, rubric, createdAt: at });
  const all = reviews.reviewsOf(item.sequence).filter(({ kind }) => kind === 'review');
  reviews.setOutcome(item.sequence, hasDisagreement(undecided(rubric, gold), all.map(answersOf)));
  const feedback = feedbackOf(rubric, finalAnswers(rubric, all.map(answersOf), gold));
  reviews.setFeedback(item.runId, feedback, reviewer, at);
}

/** New gold values of an item. Throws `conflict` until the item has all its reviews. */
function newGold(queue: StoredQueue, item: StoredItem, input: AnswersInput): ReviewAnswer[] {
  if (item.isRemoved === 1) throw unavailable(item, []);
  if (!isDone(item))
    throw new AppError('conflict', `This item has ${item.done} of ${item.needed} reviews. Decide it when it has all.`);
  return readAnswers(queue.rubric.items, input);
}

/** All gold values of an item with new ones. */
function goldWith(queue: StoredQueue, item: StoredItem, input: AnswersInput): ReviewAnswer[] {
  const decided = newGold(queue, item, input);
  const earlier = goldOf(item).filter((one) => !decided.some(({ rubricItemId }) => rubricItemId === one.rubricItemId));
  return [...earlier, ...decided];
}

function createReservationDescriber(options: ReviewsOptions) {
  const describe = createItemReader(options);
  return (queue: StoredQueue, item: StoredItem, you: StoredReviewer): ReviewReservation => {
    const { startedAt, expiresAt } = options.reviews.reservation(queue.sequence, you.sequence)!;
    const described = describe(queue, item, { you, canDecide: false });
    return { item: described, reservedAt: isoTime(startedAt), expiresAt: isoTime(expiresAt) };
  };
}

interface Actions {
  readonly claim: ReturnType<typeof createReserving>;
  readonly describe: ReturnType<typeof createItemReader>;
  readonly describeReservation: ReturnType<typeof createReservationDescriber>;
}

/** The same for queues that several hosts share. */
function createSharedActions(
  { store, reviews, shared }: ReviewsOptions,
  { claim, describe, describeReservation }: Actions,
) {
  async function reserveShared(queue: StoredQueue, itemId: string | undefined, you: StoredReviewer) {
    const item = await shared.reserve(queue, itemId, you);
    if (item === null) return null;
    if (item !== false) return describeReservation(queue, item, you);
    // The copy knows why. Nothing is stored, because this throws.
    return reviews.transaction((): never => {
      claim(queue, itemId, you);
      throw new AppError(
        'conflict',
        itemId === undefined
          ? "The team database doesn't have this review queue any more, perhaps because it was restored from a backup. Make the queue again."
          : 'Someone else has just taken this item. Take another one.',
      );
    });
  }

  async function addShared(queue: StoredQueue, review: NewSharedReview, you: StoredReviewer): Promise<Review> {
    const isAdded = await shared.add(queue, review, you);
    const item = store.item(queue.sequence, review.itemId);
    const stored = reviews.reviewsOf(item.sequence).find(({ id }) => id === review.id);
    if (isAdded && stored) return reviewOf(stored, you);
    requireReservation({ queue, item, you }, reviews);
    throw new AppError('conflict', 'Your reservation has expired. Reserve the item and send the review again.');
  }

  async function decideShared(queue: StoredQueue, itemId: string, answers: AnswersInput, you: StoredReviewer) {
    await shared.pull(queue);
    const item = store.item(queue.sequence, itemId);
    if (!(await shared.decide(queue, item.id, newGold(queue, item, answers), you)))
      throw new AppError('conflict', 'The item was changed on another host. Try again.');
    return describe(queue, store.item(queue.sequence, itemId), { you, canDecide: true });
  }

  return { reserveShared, addShared, decideShared };
}

export function createReviews(options: ReviewsOptions): Reviews {
  const { store, reviews, flush, shared } = options;
  const claim = createReserving(options);
  const close = createOutcome(options);
  const describe = createItemReader(options);
  const describeReservation = createReservationDescriber(options);
  const actions = { claim, describe, describeReservation };
  const { reserveShared, addShared, decideShared } = createSharedActions(options, actions);

  function requireReviewer(queue: StoredQueue, you: StoredReviewer): void {
    if (isReviewerOf(queue, you)) return;
    throw new AppError('forbidden', `${you.name} is not one of the reviewers of this queue.`);
  }

  function add({ id, itemId }: ItemOf, you: StoredReviewer, read: ReadReview): Review {
    const queue = store.read(id);
    const item = store.item(queue.sequence, itemId);
    const { answers, ...given } = read(queue);
    const own = requireReservation({ queue, item, you }, reviews);
    const now = Date.now();
    const earlier = reviews.reviewsOf(item.sequence).find(({ reviewer }) => reviewer === you.sequence);
    const review: StoredReview = {
      ...given,
      id: timeOrderedId(),
      item: item.sequence,
      reviewer: you.sequence,
      reviewerId: you.id,
      reviewerName: you.name,
      answersJson: JSON.stringify(answers),
      seconds: Math.max(0, now - own.startedAt) / 1000,
      createdAt: now,
      replaces: earlier?.id ?? null,
    };
    reviews.add(queue.sequence, review);
    reviews.release(queue.sequence, you.sequence);
    close(queue, item, { now, added: review });
    return reviewOf(review, you);
  }

  /** Everything about an item is decided in one transaction, so that no one gets an item that has enough reviewers. */
  function write<Result>(work: () => Result): Result {
    flush();
    return reviews.transaction(work);
  }

  function give({ id, itemId }: ItemOf, you: StoredReviewer, read: ReadReview): Review | Promise<Review> {
    const queue = store.read(id);
    if (queue.teamChange === null) return write(() => add({ id, itemId }, you, read));
    const { id: item } = store.item(queue.sequence, itemId);
    return addShared(queue, { ...read(queue), id: timeOrderedId(), itemId: item }, you);
  }

  return {
    reserve(id, itemId, you) {
      const queue = store.read(id);
      requireReviewer(queue, you);
      if (queue.teamChange !== null) return reserveShared(queue, itemId, you);
      return write(() => {
        const item = claim(queue, itemId, you);
        return item && describeReservation(queue, item, you);
      });
    },
    release(id, you) {
      const queue = store.read(id);
      if (you && queue.teamChange !== null) return shared.release(queue, you);
      if (you) reviews.release(queue.sequence, you.sequence);
    },
    submit: (item, { answers, note }, you) =>
      give(item, you, ({ rubric }) => {
        const read = readAnswers(rubric.items, answers);
        requireAll(rubric.items, read);
        return { kind: 'review', answers: read, note: note?.trim() || null };
      }),
    skip: (item, reason, you) => give(item, you, () => ({ kind: 'skip', answers: [], note: reason })),
    decide({ id, itemId }, answers, you) {
      const queue = store.read(id);
      if (queue.teamChange !== null) return decideShared(queue, itemId, answers, you);
      return write(() => {
        const item = store.item(queue.sequence, itemId);
        writeGold({ queue, item, gold: goldWith(queue, item, answers), by: you.name, at: Date.now() }, reviews);
        return describe(queue, store.item(queue.sequence, itemId), { you, canDecide: true });
      });
    },
    read({ id, itemId }, reader) {
      const queue = store.read(id);
      return describe(queue, store.item(queue.sequence, itemId), reader);
    },
  };
}
