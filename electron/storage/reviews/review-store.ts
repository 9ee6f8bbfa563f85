import type Database from 'better-sqlite3';
import type { ReviewAnswer } from '../../../shared/contract/review-items.ts';
import { createFeedbackWriter, type FeedbackWriter } from './feedback-writer.ts';
import { itemColumns, type SecondReview, type StoredItem } from './queue-rows.ts';

export interface StoredReview {
  readonly id: string;
  readonly item: number;
  /** `reviewers.sequence`. */
  readonly reviewer: number;
  readonly reviewerId: string;
  readonly reviewerName: string;
  readonly kind: 'review' | 'skip';
  readonly answersJson: string;
  readonly note: string | null;
  readonly seconds: number;
  readonly createdAt: number;
  readonly replaces: string | null;
}

export interface StoredComment {
  readonly id: string;
  readonly item: number;
  readonly reviewer: number;
  readonly reviewerId: string;
  readonly reviewerName: string;
  readonly text: string;
  readonly createdAt: number;
}

export interface StoredReservation {
  readonly item: number;
  readonly itemId: string;
  readonly reviewer: number;
  readonly reviewerName: string;
  readonly startedAt: number;
  readonly expiresAt: number;
  /** 1 for someone who changes an own review of the item. Such a reservation takes no other reviewer's place. */
  readonly isRevision: number;
}

export interface StoredProgress {
  readonly reviewer: number;
  readonly reviewerId: string;
  readonly name: string;
  readonly reviewed: number;
  readonly skipped: number;
  readonly lastReviewAt: number | null;
}

/** Who asks for an item, and how long it will be reserved. Times are milliseconds since 1970. */
export interface Claim {
  readonly queue: number;
  readonly reviewer: number;
  readonly now: number;
  readonly expiresAt: number;
}

/** Call methods that write in `transaction`. */
export interface ReviewStore extends FeedbackWriter {
  transaction<Result>(work: () => Result): Result;
  /** The next item in a range of positions that the reviewer may have. */
  findOpen(claim: Claim, range: { readonly from: number; readonly to: number }): StoredItem | null;
  /** The position after the last item that the reviewer reviewed or skipped. */
  nextPosition(queue: number, reviewer: number): number;
  /** Valid reservations of an item. */
  reservationsOf(item: number, now: number): StoredReservation[];
  /** Of a reviewer in a queue, also an expired one. */
  reservation(queue: number, reviewer: number): StoredReservation | null;
  /** Replaces the reviewer's reservation in the queue. A longer time keeps its start. */
  reserve(claim: Claim, item: number): void;
  release(queue: number, reviewer: number): void;
  /** Ends all reservations of an item: who changes an own review must not see the others first. */
  releaseItem(item: number): void;
  /** Ends the reservations of a queue that would end after this time. */
  releaseLater(queue: number, time: number): void;
  /** All reservations of a queue. */
  replaceReservations(
    queue: number,
    held: readonly Pick<StoredReservation, 'item' | 'reviewer' | 'startedAt' | 'expiresAt'>[],
  ): void;
  /** The current reviews of an item, oldest first, with skips. */
  reviewsOf(item: number): StoredReview[];
  /** Of the items from a position on. */
  reviewsIn(queue: number, range: { readonly from: number; readonly to: number }): StoredReview[];
  /** With those that their reviewers replaced, each after the one that it replaces. */
  historyIn(queue: number, range: { readonly from: number; readonly to: number }): StoredReview[];
  /** Reviews by id, of any reviewer. */
  has(id: string): boolean;
  /** Adds one that its reviewer has replaced. */
  addReplaced(queue: number, review: Omit<StoredReview, 'reviewerId' | 'reviewerName'>): void;
  add(queue: number, review: Omit<StoredReview, 'reviewerId' | 'reviewerName'>): void;
  /** Recounts the reviews of an item. It disagrees while a question is undecided that reviewers answered in different ways. */
  setOutcome(item: number, isDisagreeing: boolean): void;
  setGold(
    item: number,
    gold: { readonly answers: readonly ReviewAnswer[]; readonly by: string; readonly at: number },
  ): void;
  /** The item needs one review more. Call it for an item without such a request. */
  setSecond(item: number, second: SecondReview): void;
  /** Of an item, oldest first. */
  commentsOf(item: number): StoredComment[];
  /** In all comments of an item. */
  commentCharacters(item: number): number;
  /** Of the items of a range of positions. */
  commentsIn(queue: number, range: { readonly from: number; readonly to: number }): StoredComment[];
  hasComment(id: string): boolean;
  /** False for a comment that is here. */
  addComment(comment: Omit<StoredComment, 'reviewerId' | 'reviewerName'>): boolean;
  /** IDs of the people who discuss items of a queue, or asked for second reviews. */
  authors(queue: number): string[];
  /** Everyone with reviews, and the named ones. */
  progress(queue: number, named: readonly string[]): StoredProgress[];
  /** Of the reviewer's last reviews, oldest first. */
  lastSeconds(queue: number, reviewer: number): number[];
  /** Which of these items the reviewer has reviewed or skipped. */
  kindsOf(items: readonly number[], reviewer: number): Map<number, 'review' | 'skip'>;
  reservationsIn(items: readonly number[], now: number): StoredReservation[];
}

const reviewRows = `SELECT reviews.id, item, reviewer, reviewers.id AS reviewerId, reviewers.name AS reviewerName, kind,
    answers_json AS answersJson, note, seconds, reviews.created_at AS createdAt, replaces
  FROM reviews JOIN reviewers ON reviewers.sequence = reviewer`;
/** The review of an item by who has it reserved. */
const ownReview = (reservations: string) => `SELECT 1 FROM reviews AS own WHERE own.item = ${reservations}.item
  AND own.reviewer = ${reservations}.reviewer AND own.is_current = 1 AND own.kind = 'review'`;
const reservationRows = `SELECT item, review_items.id AS itemId, reviewer, name AS reviewerName, started_at AS startedAt,
    expires_at AS expiresAt, EXISTS (${ownReview('review_reservations')}) AS isRevision
  FROM review_reservations JOIN reviewers ON reviewers.sequence = reviewer JOIN review_items ON review_items.sequence = item`;

const reviewsInRange = `${reviewRows}
  WHERE item IN (SELECT sequence FROM review_items WHERE queue = ? AND position >= ? AND position < ?)`;

const timedReviews = 50;

function reservationStatements(database: Database.Database) {
  return {
    open: database.prepare<[Claim & { from: number; to: number }], StoredItem>(
      `SELECT ${itemColumns} FROM review_items LEFT JOIN runs ON runs.id = run_id
       WHERE queue = @queue AND position >= @from AND position < @to AND done < needed AND is_removed = 0
         AND NOT EXISTS (SELECT 1 FROM reviews WHERE queue = @queue AND reviewer = @reviewer AND item = review_items.sequence AND is_current = 1)
         AND done + (SELECT count(*) FROM review_reservations AS held
           WHERE held.item = review_items.sequence AND held.reviewer <> @reviewer AND held.expires_at > @now
             AND NOT EXISTS (${ownReview('held')})) < needed
       ORDER BY position LIMIT 1`,
    ),
    nextPosition: database
      .prepare<[number, number], number | null>(
        `SELECT position + 1 FROM reviews JOIN review_items ON review_items.sequence = item
         WHERE reviews.queue = ? AND reviewer = ? AND is_current = 1 ORDER BY item DESC LIMIT 1`,
      )
      .pluck(),
    ofItem: database.prepare<[number, number], StoredReservation>(
      `${reservationRows} WHERE item = ? AND expires_at > ? ORDER BY started_at`,
    ),
    ofReviewer: database.prepare<[number, number], StoredReservation>(
      `${reservationRows} WHERE review_reservations.queue = ? AND reviewer = ?`,
    ),
    inItems: database.prepare<[string, number], StoredReservation>(
      `${reservationRows} WHERE item IN (SELECT value FROM json_each(?)) AND expires_at > ? ORDER BY started_at`,
    ),
    reserve: database.prepare<[Claim & { item: number }]>(
      `INSERT INTO review_reservations (queue, reviewer, item, started_at, expires_at)
       VALUES (@queue, @reviewer, @item, @now, @expiresAt)
       ON CONFLICT DO UPDATE SET item = excluded.item, expires_at = excluded.expires_at,
         started_at = iif(item = excluded.item AND review_reservations.expires_at > @now, started_at, excluded.started_at)`,
    ),
    release: database.prepare<[number, number]>('DELETE FROM review_reservations WHERE queue = ? AND reviewer = ?'),
    releaseItem: database.prepare<[number]>('DELETE FROM review_reservations WHERE item = ?'),
    releaseLater: database.prepare<[number, number]>(
      'DELETE FROM review_reservations WHERE queue = ? AND expires_at > ?',
    ),
    releaseAll: database.prepare<[number]>('DELETE FROM review_reservations WHERE queue = ?'),
    hold: database.prepare(
      'INSERT INTO review_reservations (queue, reviewer, item, started_at, expires_at) VALUES (@queue, @reviewer, @item, @startedAt, @expiresAt)',
    ),
  };
}

function reviewStatements(database: Database.Database) {
  return {
    ofItem: database.prepare<[number], StoredReview>(
      `${reviewRows} WHERE item = ? AND is_current = 1 ORDER BY reviews.sequence`,
    ),
    inRange: database.prepare<[number, number, number], StoredReview>(
      `${reviewsInRange} AND is_current = 1 ORDER BY item, reviews.sequence`,
    ),
    historyInRange: database.prepare<[number, number, number], StoredReview>(
      `${reviewsInRange} ORDER BY item, reviews.sequence`,
    ),
    has: database.prepare<[string], 1>('SELECT 1 FROM reviews WHERE id = ?').pluck(),
    retire: database.prepare<[number, number]>(
      'UPDATE reviews SET is_current = 0 WHERE item = ? AND reviewer = ? AND is_current = 1',
    ),
    insert: database.prepare(
      `INSERT INTO reviews (id, queue, item, reviewer, kind, answers_json, note, seconds, created_at, replaces, is_current)
       VALUES (@id, @queue, @item, @reviewer, @kind, @answersJson, @note, @seconds, @createdAt, @replaces, @isCurrent)`,
    ),
    outcome: database.prepare<[number, number]>(
      `UPDATE review_items SET is_disagreeing = ?,
         done = (SELECT count(*) FROM reviews WHERE item = review_items.sequence AND is_current = 1 AND kind = 'review')
       WHERE sequence = ?`,
    ),
    gold: database.prepare<[string, string, number, number]>(
      'UPDATE review_items SET gold_json = ?, gold_by = ?, gold_at = ? WHERE sequence = ?',
    ),
    progress: database.prepare<[{ queue: number; named: string }], StoredProgress>(
      `SELECT reviewers.sequence AS reviewer, reviewers.id AS reviewerId, name,
         count(CASE WHEN kind = 'review' THEN 1 END) AS reviewed, count(CASE WHEN kind = 'skip' THEN 1 END) AS skipped,
         max(reviews.created_at) AS lastReviewAt
       FROM reviewers LEFT JOIN reviews ON reviewer = reviewers.sequence AND queue = @queue AND is_current = 1
       GROUP BY reviewers.sequence
       HAVING reviewed + skipped > 0 OR reviewers.id IN (SELECT value FROM json_each(@named))
       ORDER BY name`,
    ),
    seconds: database
      .prepare<[number, number, number], number>(
        `SELECT seconds FROM reviews WHERE queue = ? AND reviewer = ? AND is_current = 1 AND kind = 'review'
         ORDER BY item DESC LIMIT ?`,
      )
      .pluck(),
    kinds: database.prepare<[string, number], { item: number; kind: 'review' | 'skip' }>(
      `SELECT item, kind FROM reviews WHERE item IN (SELECT value FROM json_each(?)) AND reviewer = ? AND is_current = 1`,
    ),
  };
}

const commentRows = `SELECT review_comments.id, item, reviewer, reviewers.id AS reviewerId, name AS reviewerName, text,
    review_comments.created_at AS createdAt
  FROM review_comments JOIN reviewers ON reviewers.sequence = reviewer`;

function discussionStatements(database: Database.Database) {
  return {
    setSecond: database.prepare<[string, number]>(
      'UPDATE review_items SET second_json = ?, needed = needed + 1 WHERE sequence = ? AND second_json IS NULL',
    ),
    ofItem: database.prepare<[number], StoredComment>(
      `${commentRows} WHERE item = ? ORDER BY review_comments.created_at, review_comments.sequence`,
    ),
    characters: database
      .prepare<[number], number>('SELECT coalesce(sum(length(text)), 0) FROM review_comments WHERE item = ?')
      .pluck(),
    inRange: database.prepare<[number, number, number], StoredComment>(
      `${commentRows} WHERE item IN (SELECT sequence FROM review_items WHERE queue = ? AND position >= ? AND position < ?)
       ORDER BY item, review_comments.sequence`,
    ),
    has: database.prepare<[string], 1>('SELECT 1 FROM review_comments WHERE id = ?').pluck(),
    add: database.prepare(
      `INSERT INTO review_comments (id, item, reviewer, text, created_at) VALUES (@id, @item, @reviewer, @text, @createdAt)
       ON CONFLICT DO NOTHING`,
    ),
    authors: database
      .prepare<{ queue: number }, string>(
        `SELECT reviewers.id FROM reviewers WHERE sequence IN (
           SELECT reviewer FROM review_comments JOIN review_items ON review_items.sequence = item WHERE queue = @queue)
         UNION SELECT second_json ->> '$.reviewerId' FROM review_items WHERE queue = @queue AND second_json IS NOT NULL`,
      )
      .pluck(),
  };
}

export function createReviewStore(database: Database.Database): ReviewStore {
  const reservations = reservationStatements(database);
  const reviews = reviewStatements(database);
  const discussion = discussionStatements(database);

  return {
    ...createFeedbackWriter(database),
    transaction: (work) => database.transaction(work).immediate(),
    findOpen: (claim, { from, to }) => reservations.open.get({ ...claim, from, to }) ?? null,
    nextPosition: (queue, reviewer) => reservations.nextPosition.get(queue, reviewer) ?? 0,
    reservationsOf: (item, now) => reservations.ofItem.all(item, now),
    reservation: (queue, reviewer) => reservations.ofReviewer.get(queue, reviewer) ?? null,
    reserve: (claim, item) => void reservations.reserve.run({ ...claim, item }),
    release: (queue, reviewer) => void reservations.release.run(queue, reviewer),
    releaseItem: (item) => void reservations.releaseItem.run(item),
    releaseLater: (queue, time) => void reservations.releaseLater.run(queue, time),
    replaceReservations(queue, held) {
      reservations.releaseAll.run(queue);
      for (const one of held) reservations.hold.run({ ...one, queue });
    },
    reservationsIn: (items, now) => reservations.inItems.all(JSON.stringify(items), now),
    reviewsOf: (item) => reviews.ofItem.all(item),
    reviewsIn: (queue, { from, to }) => reviews.inRange.all(queue, from, to),
    historyIn: (queue, { from, to }) => reviews.historyInRange.all(queue, from, to),
    has: (id) => reviews.has.get(id) !== undefined,
    add(queue, review) {
      reviews.retire.run(review.item, review.reviewer);
      reviews.insert.run({ ...review, queue, isCurrent: 1 });
    },
    addReplaced: (queue, review) => void reviews.insert.run({ ...review, queue, isCurrent: 0 }),
    setOutcome: (item, isDisagreeing) => void reviews.outcome.run(Number(isDisagreeing), item),
    setGold: (item, { answers, by, at }) => void reviews.gold.run(JSON.stringify(answers), by, at, item),
    setSecond: (item, second) => void discussion.setSecond.run(JSON.stringify(second), item),
    commentsOf: (item) => discussion.ofItem.all(item),
    commentCharacters: (item) => discussion.characters.get(item)!,
    commentsIn: (queue, { from, to }) => discussion.inRange.all(queue, from, to),
    hasComment: (id) => discussion.has.get(id) !== undefined,
    addComment: (comment) => discussion.add.run(comment).changes > 0,
    authors: (queue) => discussion.authors.all({ queue }),
    progress: (queue, named) => reviews.progress.all({ queue, named: JSON.stringify(named) }),
    lastSeconds: (queue, reviewer) => reviews.seconds.all(queue, reviewer, timedReviews),
    kindsOf: (items, reviewer) =>
      new Map(reviews.kinds.all(JSON.stringify(items), reviewer).map(({ item, kind }) => [item, kind])),
  };
}
