import { sql } from 'kysely';
import { AppError } from '../../shared/app-error.ts';
import type { ReviewAnswer } from '../../shared/contract/review-items.ts';
import type { NewItem, NewQueue, SecondReview } from '../storage/reviews/queue-rows.ts';
import type { TeamDatabase } from './connection.ts';
import { storableText } from './copied-run.ts';
import { migrations } from './schema.ts';
import type {
  QueueChanges,
  TeamComment,
  TeamDecision,
  TeamQueueState,
  TeamReservation,
  TeamReview,
  TeamReviewer,
  TeamSecond,
} from './team-review-rows.ts';

/** Reviews of one step, and characters of their answers and notes, which the host reads in one turn. */
const reviewsAtOnce = 100;
const charactersAtOnce = 500_000;
/** At most 10,000 characters each. */
const commentsAtOnce = 50;

interface OfQueue {
  readonly queueId: string;
}

type PositionedItem = NewItem & { readonly position: number };

/** Positions have no gaps: removed items stay. */
const itemCount = (queueId: string) => sql<number>`
  (SELECT coalesce(max(position) + 1, 0) FROM touchstone.review_items WHERE queue_id = ${queueId}::uuid)`;

const wasDeleted = () => new AppError('conflict', 'This review queue was deleted on another host.');

async function removeQueue(transaction: TeamDatabase, queueId: string): Promise<void> {
  await sql`
    UPDATE touchstone.review_queues SET is_removed = true, queue = '{}' WHERE id = ${queueId}::uuid`.execute(
    transaction,
  );
  // A statement of its own, which also sees items that were added while the first one waited.
  await sql`DELETE FROM touchstone.review_items WHERE queue_id = ${queueId}::uuid`.execute(transaction);
}

async function insertItems(database: TeamDatabase, queueId: string, items: readonly PositionedItem[]): Promise<void> {
  await sql`
    INSERT INTO touchstone.review_items (id, queue_id, position, item, needed)
    SELECT (item ->> 'id')::uuid, ${queueId}::uuid, (item ->> 'position')::integer, item, (item ->> 'needed')::integer
    FROM json_array_elements(${asJson(items)}::json) AS item ON CONFLICT (id) DO NOTHING`.execute(database);
}

const milliseconds = (column: string) => sql.raw(`(extract(epoch FROM ${column}) * 1000)::bigint`);

/** Review queues in the team database. A step is one statement or one transaction, which the database decides. */
export class TeamReviews {
  readonly #database: TeamDatabase;

  constructor(database: TeamDatabase) {
    this.#database = database;
  }

  /** Whether this user may review there, with tables of this version. */
  async hasRight(): Promise<boolean> {
    const { rows } = await sql<{ has: boolean }>`
      SELECT has_table_privilege('touchstone.review_queues', 'INSERT')
        AND has_function_privilege('touchstone.add_review(uuid, uuid, uuid, uuid, text, json, text)', 'EXECUTE')
        AND (SELECT count(*) FROM touchstone.migrations) <= ${migrations.length} AS has`.execute(this.#database);
    return rows[0]!.has;
  }

  async publish({ id, queue }: { id: string; queue: NewQueue }): Promise<void> {
    await sql`INSERT INTO touchstone.review_queues (id, queue) VALUES (${id}::uuid, ${asJson(queue)}::json)`.execute(
      this.#database,
    );
  }

  /** Throws `conflict` for a removed queue, which must never get texts again. */
  async append({ queueId, items }: OfQueue & { items: readonly PositionedItem[] }): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql`
        SELECT 1 FROM touchstone.review_queues WHERE id = ${queueId}::uuid AND NOT is_removed FOR SHARE`.execute(
        transaction,
      );
      if (rows.length === 0) throw wasDeleted();
      await insertItems(transaction, queueId, items);
    });
  }

  async itemCount({ queueId }: OfQueue): Promise<number> {
    const { rows } = await sql<{ count: number }>`SELECT ${itemCount(queueId)} AS count`.execute(this.#database);
    return rows[0]!.count;
  }

  /** Adds items, also ones that are there already, and tells the other hosts. Throws `conflict` for a removed queue. */
  async extend({ queueId, queue, items }: OfQueue & { queue: NewQueue; items: readonly PositionedItem[] }) {
    await this.#database.transaction().execute(async (transaction) => {
      const { numAffectedRows: found = 0n } = await sql`
        UPDATE touchstone.review_queues SET queue = ${asJson(queue)}::json, last_change = last_change + 1
        WHERE id = ${queueId}::uuid AND NOT is_removed`.execute(transaction);
      if (found === 0n) throw wasDeleted();
      await insertItems(transaction, queueId, items);
    });
  }

  /** Throws `conflict` for a removed queue. */
  async show({ queueId }: OfQueue): Promise<void> {
    const { numAffectedRows: found = 0n } = await sql`
      UPDATE touchstone.review_queues SET is_ready = true WHERE id = ${queueId}::uuid AND NOT is_removed`.execute(
      this.#database,
    );
    if (found === 0n) throw wasDeleted();
  }

  /** All of it or nothing: hosts forget a removed queue, and nobody would look for its texts again. */
  async remove({ queueId }: OfQueue): Promise<void> {
    await this.#database.transaction().execute((transaction) => removeQueue(transaction, queueId));
  }

  /** Removes a queue whose publishing failed, if it is there. False if it was shown after all, and others have worked on it. */
  async discard({ queueId }: OfQueue): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ isUsed: boolean }>`
        SELECT NOT is_removed AND last_change > 0 AS "isUsed" FROM touchstone.review_queues
        WHERE id = ${queueId}::uuid FOR UPDATE`.execute(transaction);
      if (rows[0]?.isUsed === true) return false;
      await removeQueue(transaction, queueId);
      return true;
    });
  }

  /** Removes queues that their hosts will never finish, such as those of a lost device, and items of removed queues. */
  async removeAbandoned(): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await sql`
        UPDATE touchstone.review_queues SET is_removed = true, queue = '{}'
        WHERE NOT is_ready AND NOT is_removed AND created_at < now() - interval '1 day'`.execute(transaction);
      await sql`
        DELETE FROM touchstone.review_items USING touchstone.review_queues
        WHERE queue_id = review_queues.id AND review_queues.is_removed`.execute(transaction);
    });
  }

  async queues(): Promise<TeamQueueState[]> {
    const { rows } = await sql<TeamQueueState>`
      SELECT id, last_change AS "lastChange", is_removed AS "isRemoved" FROM touchstone.review_queues
      WHERE is_ready ORDER BY created_at`.execute(this.#database);
    return rows;
  }

  /** Null if it was removed. */
  async read({ queueId }: OfQueue): Promise<NewQueue | null> {
    const { rows } = await sql<{ queue: NewQueue }>`
      SELECT queue FROM touchstone.review_queues WHERE id = ${queueId}::uuid AND NOT is_removed`.execute(
      this.#database,
    );
    return rows[0]?.queue ?? null;
  }

  async items({ queueId, from, limit }: OfQueue & { from: number; limit: number }): Promise<NewItem[]> {
    const { rows } = await sql<{ item: NewItem }>`
      SELECT item FROM touchstone.review_items WHERE queue_id = ${queueId}::uuid AND position >= ${from}
      ORDER BY position LIMIT ${limit}`.execute(this.#database);
    return rows.map(({ item }) => item);
  }

  /** The row's number is read first: a later change is never left out, because changes are numbered under its lock. */
  async changes({ queueId, after }: OfQueue & { after: number }): Promise<QueueChanges> {
    const states = await sql<{ last: number; count: number; name: string | null }>`
      SELECT last_change AS last, ${itemCount(queueId)} AS count, queue ->> 'name' AS name FROM touchstone.review_queues WHERE id = ${queueId}::uuid`.execute(
      this.#database,
    );
    const newest = states.rows[0]?.last ?? after;
    const { rows: found } = await sql<TeamReview & { change: number }>`
      SELECT reviews.id, item_id AS "itemId", reviewer_id AS "reviewerId", name AS "reviewerName", kind, answers, note, seconds,
        ${milliseconds('reviews.created_at')} AS "createdAt", replaces, change
      FROM touchstone.reviews JOIN touchstone.reviewers ON reviewers.id = reviewer_id
      WHERE queue_id = ${queueId}::uuid AND change > ${after} AND change <= ${newest} ORDER BY change LIMIT ${reviewsAtOnce}
    `.execute(this.#database);
    const first = firstReviews(found);
    const hasMoreReviews = first.length < found.length || found.length === reviewsAtOnce;
    const comments = await this.#comments(queueId, after, hasMoreReviews ? first.at(-1)!.change : newest);
    const hasMoreComments = comments.length === commentsAtOnce;
    const hasMore = hasMoreReviews || hasMoreComments;
    const last = hasMoreComments ? comments.at(-1)!.change : hasMoreReviews ? first.at(-1)!.change : newest;
    const reviews = first.filter(({ change }) => change <= last);
    const seconds = await this.#seconds(queueId, { after, last, itemIds: reviews.map(({ itemId }) => itemId) });
    const { rows: items } = await sql<TeamDecision>`
      SELECT id AS "itemId", is_removed AS "isRemoved", gold, gold_by AS "goldBy", ${milliseconds('gold_at')} AS "goldAt"
      FROM touchstone.review_items WHERE queue_id = ${queueId}::uuid AND change > ${after} AND change <= ${last}`.execute(
      this.#database,
    );
    const { rows: reservations } = await sql<TeamReservation>`
      SELECT item_id AS "itemId", reviewer_id AS "reviewerId", name AS "reviewerName",
        ${milliseconds('clock_timestamp() - started_at')} AS "sinceMs", ${milliseconds('expires_at - clock_timestamp()')} AS "leftMs"
      FROM touchstone.review_reservations JOIN touchstone.reviewers ON reviewers.id = reviewer_id
      WHERE queue_id = ${queueId}::uuid AND expires_at > clock_timestamp()`.execute(this.#database);
    const { count = 0, name = null } = states.rows[0] ?? {};
    return { last, hasMore, itemCount: count, name, reviews, items, seconds, comments, reservations };
  }

  async #comments(
    queueId: string,
    after: number,
    last: number,
  ): Promise<(TeamComment & { readonly change: number })[]> {
    const { rows } = await sql<TeamComment & { change: number }>`
      SELECT review_comments.id, item_id AS "itemId", reviewer_id AS "reviewerId", name AS "reviewerName", body AS text,
        ${milliseconds('review_comments.created_at')} AS "createdAt", change
      FROM touchstone.review_comments JOIN touchstone.reviewers ON reviewers.id = reviewer_id
      WHERE queue_id = ${queueId}::uuid AND change > ${after} AND change <= ${last} ORDER BY change LIMIT ${commentsAtOnce}
    `.execute(this.#database);
    return rows;
  }

  /** A later decision has overwritten the number of a request's change, so those of the reviewed items are always read. */
  async #seconds(
    queueId: string,
    { after, last, itemIds }: { after: number; last: number; itemIds: readonly string[] },
  ): Promise<TeamSecond[]> {
    const { rows } = await sql<TeamSecond>`
      SELECT id AS "itemId", second FROM touchstone.review_items WHERE queue_id = ${queueId}::uuid AND second IS NOT NULL
        AND ((change > ${after} AND change <= ${last}) OR id = ANY(${[...itemIds]}::uuid[]))`.execute(this.#database);
    return rows;
  }

  /** False if the reviewer neither holds the item nor may decide, or it can't get one more review. */
  async requestSecond(
    input: OfQueue & {
      itemId: string;
      reviewerId: string;
      second: SecondReview;
      canDecide: boolean;
      maxReviews: number;
    },
  ): Promise<boolean> {
    const { queueId, itemId, reviewerId, second, canDecide, maxReviews } = input;
    const { rows } = await sql<{ requested: boolean }>`
      SELECT touchstone.request_second_review(${queueId}::uuid, ${itemId}::uuid, ${reviewerId}::uuid, ${asJson(second)}::json,
        ${canDecide}::boolean, ${maxReviews}::integer) AS requested`.execute(this.#database);
    return rows[0]!.requested;
  }

  /** False until the item has all its reviews. */
  async comment(input: OfQueue & { itemId: string; reviewerId: string; id: string; text: string }): Promise<boolean> {
    const { queueId, itemId, reviewerId, id, text } = input;
    const { rows } = await sql<{ added: boolean }>`
      SELECT touchstone.add_review_comment(${queueId}::uuid, ${itemId}::uuid, ${reviewerId}::uuid, ${id}::uuid,
        ${storableText(text)}) AS added`.execute(this.#database);
    return rows[0]!.added;
  }

  /** Null if nothing is left; without an ID if the reviewer can't have the item. */
  async reserve(input: {
    queueId: string;
    itemId: string | null;
    reviewerId: string;
    minutes: number;
  }): Promise<{ itemId?: string } | null> {
    const { queueId, itemId, reviewerId, minutes } = input;
    const { rows } = await sql<{ reserved: { itemId?: string } | null }>`
      SELECT touchstone.reserve_review_item(${queueId}::uuid, ${reviewerId}::uuid, ${itemId}::uuid, ${minutes}::integer) AS reserved
    `.execute(this.#database);
    return rows[0]!.reserved;
  }

  async release({ queueId, reviewerId }: OfQueue & { reviewerId: string }): Promise<void> {
    await sql`
      DELETE FROM touchstone.review_reservations WHERE queue_id = ${queueId}::uuid AND reviewer_id = ${reviewerId}::uuid
    `.execute(this.#database);
  }

  /** False without a valid reservation. */
  async add(input: {
    queueId: string;
    itemId: string;
    reviewerId: string;
    id: string;
    kind: 'review' | 'skip';
    answers: readonly ReviewAnswer[];
    note: string | null;
  }): Promise<boolean> {
    const { queueId, itemId, reviewerId, id, kind, answers, note } = input;
    const { rows } = await sql<{ added: boolean }>`
      SELECT touchstone.add_review(${queueId}::uuid, ${itemId}::uuid, ${reviewerId}::uuid, ${id}::uuid, ${kind},
        ${asJson(answers)}::json, ${note === null ? null : storableText(note)}::text) AS added`.execute(this.#database);
    return rows[0]!.added;
  }

  /** False until the item has all its reviews. */
  async decide(input: OfQueue & { itemId: string; gold: readonly ReviewAnswer[]; by: string }): Promise<boolean> {
    const { queueId, itemId, gold, by } = input;
    const { rows } = await sql<{ decided: boolean }>`
      SELECT touchstone.decide_review_item(${queueId}::uuid, ${itemId}::uuid, ${asJson(gold)}::json, ${storableText(by)}) AS decided
    `.execute(this.#database);
    return rows[0]!.decided;
  }

  async removeItems({ queueId, itemIds }: OfQueue & { itemIds: readonly string[] }): Promise<void> {
    await sql`SELECT touchstone.remove_review_items(${queueId}::uuid, ${[...itemIds]}::uuid[])`.execute(this.#database);
  }

  /** Identifies the database. */
  async team(): Promise<string> {
    const { rows } = await sql<{ team: string }>`
      SELECT encode(sha256(token_secret::bytea), 'hex') AS team FROM touchstone.state`.execute(this.#database);
    return rows[0]!.team;
  }

  async reviewers(): Promise<TeamReviewer[]> {
    const { rows } = await sql<TeamReviewer>`
      SELECT id, name, pin_hash AS "pinHash", caller_id AS "callerId", is_removed AS "isRemoved" FROM touchstone.reviewers`.execute(
      this.#database,
    );
    return rows;
  }

  /** A key has one reviewer on all hosts: returns the one that was there first. */
  async writeReviewer(reviewer: TeamReviewer): Promise<TeamReviewer> {
    const { id, name, pinHash, callerId, isRemoved } = reviewer;
    await sql`
      INSERT INTO touchstone.reviewers (id, name, pin_hash, caller_id, is_removed)
      VALUES (${id}::uuid, ${storableText(name)}, ${pinHash}, ${callerId}::uuid, ${isRemoved})
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, pin_hash = excluded.pin_hash,
        is_removed = reviewers.is_removed OR excluded.is_removed`
      .execute(this.#database)
      .catch((failure: unknown) => {
        // Another host was first with the reviewer of this key.
        if ((failure as { code?: string }).code !== '23505') throw failure;
      });
    const { rows } = await sql<TeamReviewer>`
      SELECT id, name, pin_hash AS "pinHash", caller_id AS "callerId", is_removed AS "isRemoved" FROM touchstone.reviewers
      WHERE id = ${id}::uuid OR caller_id = ${callerId}::uuid`.execute(this.#database);
    return rows[0]!;
  }
}

/** At least one. */
function firstReviews<Row extends TeamReview>(rows: readonly Row[]): Row[] {
  let left = charactersAtOnce;
  const end = rows.findIndex(({ answers, note }) => {
    left -= JSON.stringify(answers).length + (note?.length ?? 0);
    return left < 0;
  });
  return rows.slice(0, end < 0 ? rows.length : Math.max(1, end));
}

/** PostgreSQL stores neither the null character nor half of a pair of surrogates. */
function asJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) => (typeof entry === 'string' ? storableText(entry) : entry));
}

/** The methods that other threads may call. */
export type TeamReviewMethods = Pick<TeamReviews, keyof TeamReviews>;
export type TeamReviewInput<Name extends keyof TeamReviewMethods> = Parameters<TeamReviewMethods[Name]>[0];
export type CallTeamReviews = <Name extends keyof TeamReviewMethods>(
  ...call: TeamReviewInput<Name> extends undefined ? [name: Name] : [name: Name, input: TeamReviewInput<Name>]
) => ReturnType<TeamReviewMethods[Name]>;
