import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Review, ReviewAnswer, ReviewItemDetail } from '../../shared/contract/review-items.ts';
import type { AnswersInput, ReviewReservation } from '../../shared/contract/reviews.ts';
import type { RubricItem } from '../../shared/contract/rubrics.ts';
import { valueIssue } from '../storage/reviews/rubric-store.ts';
import type { QueueStore, StoredItem, StoredQueue } from '../storage/reviews/queue-store.ts';
import type { Claim, ReviewStore, StoredReservation, StoredReview } from '../storage/reviews/review-store.ts';
import type { StoredReviewer } from '../storage/reviews/reviewer-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { feedbackOf, finalAnswers, hasDisagreement } from './consensus.ts';
import { importedTitle } from './create-review-queues.ts';
import { answersOf, describeItems, goldOf, isDone, isReviewerOf, reviewOf } from './describe-item.ts';

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
  reserve(id: string, itemId: string | undefined, you: StoredReviewer): ReviewReservation | null;
  release(id: string, you: StoredReviewer | null): void;
  /** Throws `conflict` without a valid reservation, and `invalid_request` for answers that do not fit the rubric. */
  submit(
    item: ItemOf,
    review: { readonly answers: AnswersInput; readonly note: string | null },
    you: StoredReviewer,
  ): Review;
  /** As `submit`. */
  skip(item: ItemOf, reason: string, you: StoredReviewer): Review;
  /** Throws `conflict` until the item has all its reviews. */
  decide(item: ItemOf, answers: AnswersInput, you: StoredReviewer): ReviewItemDetail;
  read(item: ItemOf, reader: ReviewReader): ReviewItemDetail;
}

export interface ReviewsOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  /** Writes queued runs, so that their feedback can be written. */
  readonly flush: () => void;
}

/** Positions that one search for an open item looks at: below 10 ms. */
const positionsAtOnce = 5000;

const isoTime = (time: number) => new Date(time).toISOString();
const timeOfDay = (time: number) => `${isoTime(time).slice(11, 16)} UTC`;

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

/** Why a reviewer can't have an item, when all its reviews are there or reserved. */
function unavailable(item: StoredItem, held: readonly StoredReservation[]): AppError {
  if (item.isRemoved === 1) return new AppError('conflict', 'The run of this item was deleted.');
  if (held.length === 0) return new AppError('conflict', 'This item has all its reviews.');
  const [first] = held;
  return new AppError(
    'conflict',
    `${first!.reviewerName} has this item reserved until ${timeOfDay(first!.expiresAt)}. Take another one, or try again then.`,
  );
}

/** Closes an item that has all its reviews: its answers go into the history, and the consensus becomes the feedback. */
export function createOutcome({ reviews }: Pick<ReviewsOptions, 'reviews'>) {
  return (queue: StoredQueue, item: StoredItem, { now, added }: { now: number; added: StoredReview | null }): void => {
    const current = reviews.reviewsOf(item.sequence).filter(({ kind }) => kind === 'review');
    const answers = current.map(answersOf);
    const rubric = queue.rubric.items;
    reviews.setOutcome(item.sequence, hasDisagreement(rubric, answers));
    if (current.length < item.needed) return;
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

function createItemReader({ store, reviews }: ReviewsOptions) {
  return (queue: StoredQueue, item: StoredItem, { you, canDecide }: ReviewReader): ReviewItemDetail => {
    const current = reviews.reviewsOf(item.sequence);
    const hasOwn = current.some(({ reviewer, kind }) => reviewer === you?.sequence && kind === 'review');
    const isOpenToAll = isDone(item) && (hasOwn || canDecide || isComplete(store, queue));
    const shown = current.filter(({ reviewer }) => isOpenToAll || reviewer === you?.sequence);
    const context = { queue, you, reviews, now: Date.now() };
    const [described] = describeItems([item], context, importedTitle(store, queue));
    return {
      ...described!,
      reviews: shown.map((one) => reviewOf(one, you)),
      hiddenReviews: current.length - shown.length,
      runs: queue.isImported ? store.content(item.sequence) : null,
    };
  };
}

/** Whether all items of a queue have their reviews. */
export function isComplete(store: QueueStore, queue: StoredQueue): boolean {
  const { items, done } = store.counts(queue.sequence);
  return done === items;
}

function createReserving({ store, reviews }: ReviewsOptions) {
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
    const held = reviews.reservationsOf(item.sequence, claim.now).filter(({ reviewer }) => reviewer !== you.sequence);
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
    const held = reviews.reservation(queue.sequence, you.sequence);
    const isValid = held !== null && held.expiresAt > Date.now();
    const requested = itemId ?? (isValid ? held.itemId : undefined);
    if (requested === undefined) return claimNext(queue, you);
    return claimItem(queue, requested, you);
  };
}

/** Writes gold values. They and the consensus on the others become the feedback. */
function createDecision(options: ReviewsOptions) {
  const { store, reviews } = options;
  const describe = createItemReader(options);
  return ({ id, itemId }: ItemOf, input: AnswersInput, you: StoredReviewer): ReviewItemDetail => {
    const queue = store.read(id);
    const item = store.item(queue.sequence, itemId);
    const rubric = queue.rubric.items;
    if (item.isRemoved === 1) throw unavailable(item, []);
    if (!isDone(item))
      throw new AppError(
        'conflict',
        `This item has ${item.done} of ${item.needed} reviews. Decide it when it has all.`,
      );
    const decided = readAnswers(rubric, input);
    const earlier = goldOf(item).filter(
      (one) => !decided.some(({ rubricItemId }) => rubricItemId === one.rubricItemId),
    );
    const gold = [...earlier, ...decided];
    const now = Date.now();
    reviews.setGold(item.sequence, { answers: gold, by: you.name, at: now });
    const reviewer = `${you.name} (decision)`;
    reviews.addHistory({ runId: item.runId, reviewer, answers: decided, rubric, createdAt: now });
    const all = reviews.reviewsOf(item.sequence).filter(({ kind }) => kind === 'review');
    const feedback = feedbackOf(rubric, finalAnswers(rubric, all.map(answersOf), gold));
    reviews.setFeedback(item.runId, feedback, reviewer, now);
    return describe(queue, store.item(queue.sequence, itemId), { you, canDecide: true });
  };
}

export function createReviews(options: ReviewsOptions): Reviews {
  const { store, reviews, flush } = options;
  const claim = createReserving(options);
  const close = createOutcome(options);
  const decide = createDecision(options);
  const describe = createItemReader(options);

  function requireReviewer(queue: StoredQueue, you: StoredReviewer): void {
    if (isReviewerOf(queue, you)) return;
    throw new AppError('forbidden', `${you.name} is not one of the reviewers of this queue.`);
  }

  /** Throws `conflict` with who has the item instead. */
  function requireReservation(queue: StoredQueue, item: StoredItem, you: StoredReviewer): StoredReservation {
    const now = Date.now();
    const own = reviews.reservation(queue.sequence, you.sequence);
    if (own && own.item === item.sequence && own.expiresAt > now && item.isRemoved === 0) return own;
    const held = reviews.reservationsOf(item.sequence, now).filter(({ reviewer }) => reviewer !== you.sequence);
    if (item.isRemoved === 1 || isDone(item) || item.done + held.length >= item.needed) throw unavailable(item, held);
    const message =
      own && own.item === item.sequence ? 'Your reservation has expired.' : 'You have not reserved this item.';
    throw new AppError('conflict', `${message} Reserve it and send the review again.`);
  }

  function add(
    { id, itemId }: ItemOf,
    you: StoredReviewer,
    read: (queue: StoredQueue) => Pick<StoredReview, 'kind' | 'note'> & { readonly answers: readonly ReviewAnswer[] },
  ): Review {
    const queue = store.read(id);
    const item = store.item(queue.sequence, itemId);
    const { answers, ...given } = read(queue);
    const own = requireReservation(queue, item, you);
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

  return {
    reserve: (id, itemId, you) =>
      write(() => {
        const queue = store.read(id);
        requireReviewer(queue, you);
        const item = claim(queue, itemId, you);
        if (!item) return null;
        const { startedAt, expiresAt } = reviews.reservation(queue.sequence, you.sequence)!;
        const described = describe(queue, item, { you, canDecide: false });
        return { item: described, reservedAt: isoTime(startedAt), expiresAt: isoTime(expiresAt) };
      }),
    release(id, you) {
      const queue = store.read(id);
      if (you) reviews.release(queue.sequence, you.sequence);
    },
    submit: (item, { answers, note }, you) =>
      write(() =>
        add(item, you, ({ rubric }) => {
          const read = readAnswers(rubric.items, answers);
          requireAll(rubric.items, read);
          return { kind: 'review', answers: read, note: note?.trim() || null };
        }),
      ),
    skip: (item, reason, you) => write(() => add(item, you, () => ({ kind: 'skip', answers: [], note: reason }))),
    decide: (item, answers, you) => write(() => decide(item, answers, you)),
    read({ id, itemId }, reader) {
      const queue = store.read(id);
      return describe(queue, store.item(queue.sequence, itemId), reader);
    },
  };
}
