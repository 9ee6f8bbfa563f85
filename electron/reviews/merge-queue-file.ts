import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { maxReviewersPerItem } from '../../shared/contract/review-queues.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore } from '../storage/reviews/review-store.ts';
import type { ReviewerStore } from '../storage/reviews/reviewer-store.ts';
import { createOutcome, readAnswers } from './create-reviews.ts';
import { isDone } from './describe-item.ts';
import {
  type CommentLine,
  type FileLine,
  invalidFile,
  type QueueLine,
  readLines,
  readQueue,
  type ReviewerLine,
  type ReviewLine,
  type SecondReviewLine,
} from './queue-file.ts';

export interface MergeOptions {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  readonly reviewers: ReviewerStore;
  /** Writes queued runs, so that their feedback can be written. */
  readonly flush: () => void;
}

/** How many reviews and comments a file brought. */
export interface Merged {
  readonly added: number;
  readonly known: number;
  readonly comments: number;
}

const reviewsAtOnce = 100;

/** Throws `conflict` for a queue that several hosts share: their copies would differ. */
export function requireOwn({ name, teamChange }: StoredQueue): void {
  if (teamChange === null) return;
  throw new AppError(
    'conflict',
    `"${name}" is shared in the team database, and doesn't go into files. Review it on any host.`,
  );
}

function requireSame(queue: StoredQueue, file: QueueLine): void {
  if (file.id.toLowerCase() === queue.id && file.installationId.toLowerCase() === queue.installationId) return;
  throw new AppError(
    'conflict',
    `The file is of the queue "${file.name}" (${file.id}) of another installation, and this is "${queue.name}" (${queue.id}).`,
  );
}

type NamedReviewers = ReadonlyMap<string, ReviewerLine>;

/** What a file brings back, in its order. */
interface Returned {
  readonly named: NamedReviewers;
  readonly reviews: ReviewLine[];
  readonly seconds: SecondReviewLine[];
  readonly comments: CommentLine[];
}

/** `check` throws for a line that may not be merged. */
async function readReturned(
  lines: AsyncGenerator<FileLine>,
  check: (line: ReviewLine | SecondReviewLine | CommentLine, named: NamedReviewers) => void,
): Promise<Returned> {
  const named = new Map<string, ReviewerLine>();
  const returned: Returned = { named, reviews: [], seconds: [], comments: [] };
  for await (const line of lines) {
    if (line.type === 'reviewer') {
      named.set(line.id.toLowerCase(), line);
      continue;
    }
    if (line.type === 'queue' || line.type === 'item')
      throw invalidFile('it has items instead of reviews: it has not been reviewed yet');
    check(line, named);
    if (line.type === 'review') returned.reviews.push(line);
    else if (line.type === 'secondReview') returned.seconds.push(line);
    else returned.comments.push(line);
  }
  return returned;
}

/** Adds what came back to the queue. */
export function createMerger(options: MergeOptions) {
  const { store, reviews, reviewers, flush } = options;
  const close = createOutcome(options);

  /** Throws `conflict` or `invalid_request` for a line that does not fit the queue. */
  function check(queue: StoredQueue, line: ReviewLine | SecondReviewLine | CommentLine, named: NamedReviewers): void {
    if (!store.hasItem(queue.sequence, line.itemId))
      throw new AppError(
        'conflict',
        `The file has a review of the item ${line.itemId}, which this queue does not have.`,
      );
    // One that was asked for here comes back.
    if (line.type === 'secondReview' && store.item(queue.sequence, line.itemId).secondJson !== null) return;
    const reviewer = named.get(line.reviewerId.toLowerCase());
    if (!reviewer) throw invalidFile(`the reviewer ${line.reviewerId} is missing`);
    // Nobody else may speak for someone here, or replace what they answered.
    if (reviewers.isOwn(reviewer.id))
      throw new AppError(
        'conflict',
        `The file has reviews by "${reviewer.name}", who is a reviewer of this installation.`,
      );
    if (line.type === 'review' && line.kind === 'review') readAnswers(queue.rubric.items, line.answers);
  }

  /** False for a review that is here, or is older than the reviewer's own. */
  function add(queue: StoredQueue, line: ReviewLine, named: NamedReviewers): boolean {
    const id = line.id.toLowerCase();
    const item = store.item(queue.sequence, line.itemId);
    if (reviews.has(id) || item.isRemoved === 1) return false;
    const reviewer = reviewers.ensureImported(named.get(line.reviewerId.toLowerCase())!);
    const current = reviews.reviewsOf(item.sequence).find((one) => one.reviewer === reviewer.sequence);
    if (current && current.createdAt >= line.createdAt) return false;
    const answers = line.kind === 'review' ? readAnswers(queue.rubric.items, line.answers) : [];
    const { kind, note, seconds, createdAt } = line;
    const who = { reviewer: reviewer.sequence, reviewerId: reviewer.id, reviewerName: reviewer.name };
    const given = { id, item: item.sequence, ...who, kind, note, seconds, createdAt, replaces: current?.id ?? null };
    const review = { ...given, answersJson: JSON.stringify(answers) };
    reviews.add(queue.sequence, review);
    close(queue, item, { now: Date.now(), added: review });
    return true;
  }

  /** A request that comes when the item has all its reviews is too late: others have seen them. */
  function addSecond(queue: StoredQueue, line: SecondReviewLine, named: NamedReviewers): void {
    const item = store.item(queue.sequence, line.itemId);
    if (item.secondJson !== null || item.isRemoved === 1 || isDone(item)) return;
    if (item.needed >= (queue.plan.reviewerIds?.length ?? maxReviewersPerItem + 1)) return;
    const { id: reviewerId, name: by } = named.get(line.reviewerId.toLowerCase())!;
    const { reason, createdAt: at } = line;
    reviews.setSecond(item.sequence, { by, reviewerId: reviewerId.toLowerCase(), reason, at });
  }

  function addComment(queue: StoredQueue, line: CommentLine, named: NamedReviewers): boolean {
    const item = store.item(queue.sequence, line.itemId);
    if (item.isRemoved === 1) return false;
    const reviewer = reviewers.ensureImported(named.get(line.reviewerId.toLowerCase())!);
    const { text, createdAt } = line;
    const id = line.id.toLowerCase();
    return reviews.addComment({ id, item: item.sequence, reviewer: reviewer.sequence, text, createdAt });
  }

  /** Runs `work` for all lines in short transactions. Resolves with how many it took. */
  async function each<Line>(lines: readonly Line[], work: (line: Line) => boolean | void): Promise<number> {
    let taken = 0;
    for (let offset = 0; offset < lines.length; offset += reviewsAtOnce) {
      reviews.transaction(() => {
        for (const line of lines.slice(offset, offset + reviewsAtOnce)) if (work(line) === true) taken += 1;
      });
      await nextTurn();
    }
    return taken;
  }

  return async (id: string, content: AsyncIterable<Buffer>): Promise<Merged> => {
    const queue = store.read(id);
    requireOwn(queue);
    const lines = readLines(content);
    requireSame(queue, await readQueue(lines));
    const given = await readReturned(lines, (line, named) => check(queue, line, named));
    const { named } = given;
    flush();
    // First, so that an item doesn't close that gets one more review.
    await each(given.seconds, (line) => addSecond(queue, line, named));
    const added = await each(given.reviews, (line) => add(queue, line, named));
    const comments = await each(given.comments, (line) => addComment(queue, line, named));
    return { added, known: given.reviews.length - added, comments };
  };
}
