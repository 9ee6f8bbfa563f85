import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { maxDiscussionCharacters } from '../../shared/contract/review-items.ts';
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
  /** Comments without room in the discussion of their item. */
  readonly commentsLeftOut: number;
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
  /** Keys of the reviews that others of the file replace. */
  readonly replaced: ReadonlySet<string>;
  readonly seconds: SecondReviewLine[];
  readonly comments: CommentLine[];
}

/** Nobody replaces a review of another reviewer, or of another item. */
const keyOf = (id: string, { itemId, reviewerId }: ReviewLine) => [id, itemId, reviewerId].join(' ').toLowerCase();

/** `check` throws for a line that may not be merged. */
async function readReturned(
  lines: AsyncGenerator<FileLine>,
  check: (line: ReviewLine | SecondReviewLine | CommentLine, named: NamedReviewers) => void,
): Promise<Returned> {
  const named = new Map<string, ReviewerLine>();
  const replaced = new Set<string>();
  const returned: Returned = { named, reviews: [], replaced, seconds: [], comments: [] };
  for await (const line of lines) {
    if (line.type === 'reviewer') {
      named.set(line.id.toLowerCase(), line);
      continue;
    }
    if (line.type === 'queue' || line.type === 'item')
      throw invalidFile('it has items instead of reviews: it has not been reviewed yet');
    check(line, named);
    if (line.type === 'review') {
      returned.reviews.push(line);
      if (line.replaces !== undefined) replaced.add(keyOf(line.replaces, line));
    } else if (line.type === 'secondReview') returned.seconds.push(line);
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
    if (line.type === 'secondReview') {
      // One that was asked for here comes back, without the person, also when its run was deleted meanwhile.
      const { secondJson, isRemoved } = store.item(queue.sequence, line.itemId);
      if (secondJson !== null || isRemoved === 1) return;
    }
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

  /**
   * False for a review that is here, and for one that its reviewer replaced. The clocks of other installations may be wrong, so that no time decides which of two is later: a file
   * has what its reviewers replaced, which goes into the history, and the other ones replace what came with earlier files.
   */
  function add(queue: StoredQueue, line: ReviewLine, { named, replaced }: Returned): boolean {
    const id = line.id.toLowerCase();
    const item = store.item(queue.sequence, line.itemId);
    if (reviews.has(id) || item.isRemoved === 1) return false;
    const reviewer = reviewers.ensureImported(named.get(line.reviewerId.toLowerCase())!);
    const current = reviews.reviewsOf(item.sequence).find((one) => one.reviewer === reviewer.sequence);
    const answers = line.kind === 'review' ? readAnswers(queue.rubric.items, line.answers) : [];
    const { kind, note, seconds, createdAt, replaces: earlier = null } = line;
    const who = { reviewer: reviewer.sequence, reviewerId: reviewer.id, reviewerName: reviewer.name };
    const isReplaced = replaced.has(keyOf(id, line));
    const replaces = (isReplaced ? null : current?.id) ?? earlier?.toLowerCase() ?? null;
    const given = { id, item: item.sequence, ...who, kind, note, seconds, createdAt, replaces };
    const review = { ...given, answersJson: JSON.stringify(answers) };
    if (isReplaced) {
      reviews.addReplaced(queue.sequence, review);
      return false;
    }
    reviews.add(queue.sequence, review);
    close(queue, item, { now: Date.now(), added: review });
    return true;
  }

  /** A request that comes when the item has all its reviews is too late: others have seen them. */
  function addSecond(queue: StoredQueue, line: SecondReviewLine, { named }: Returned): void {
    const item = store.item(queue.sequence, line.itemId);
    if (item.secondJson !== null || item.isRemoved === 1 || isDone(item)) return;
    if (item.needed >= (queue.plan.reviewerIds?.length ?? maxReviewersPerItem + 1)) return;
    const { id: reviewerId, name: by } = named.get(line.reviewerId.toLowerCase())!;
    const { reason, createdAt: at } = line;
    reviews.setSecond(item.sequence, { by, reviewerId: reviewerId.toLowerCase(), reason, at });
  }

  /** Whether a comment is new; null if the discussion of its item has no room for it. */
  function addComment(
    queue: StoredQueue,
    line: CommentLine,
    { named }: Returned,
    sizes: Map<number, number>,
  ): boolean | null {
    const item = store.item(queue.sequence, line.itemId);
    if (item.isRemoved === 1 || reviews.hasComment(line.id.toLowerCase())) return false;
    const { text, createdAt } = line;
    const size = (sizes.get(item.sequence) ?? reviews.commentCharacters(item.sequence)) + text.length;
    if (size > maxDiscussionCharacters) return null;
    sizes.set(item.sequence, size);
    const reviewer = reviewers.ensureImported(named.get(line.reviewerId.toLowerCase())!);
    const id = line.id.toLowerCase();
    return reviews.addComment({ id, item: item.sequence, reviewer: reviewer.sequence, text, createdAt });
  }

  /** Runs `work` for all lines in short transactions. Resolves with how many it took. `sizes` of discussions hold in one transaction. */
  async function each<Line>(
    lines: readonly Line[],
    work: (line: Line, sizes: Map<number, number>) => boolean | void,
  ): Promise<number> {
    let taken = 0;
    for (let offset = 0; offset < lines.length; offset += reviewsAtOnce) {
      reviews.transaction(() => {
        const sizes = new Map<number, number>();
        for (const line of lines.slice(offset, offset + reviewsAtOnce)) if (work(line, sizes) === true) taken += 1;
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
    flush();
    // First, so that an item doesn't close that gets one more review.
    await each(given.seconds, (line) => addSecond(queue, line, given));
    const added = await each(given.reviews, (line) => add(queue, line, given));
    const known = given.reviews.filter((line) => !given.replaced.has(keyOf(line.id, line))).length - added;
    let commentsLeftOut = 0;
    const comments = await each(given.comments, (line, sizes) => {
      const isAdded = addComment(queue, line, given, sizes);
      if (isAdded === null) commentsLeftOut += 1;
      return isAdded === true;
    });
    return { added, known, comments, commentsLeftOut };
  };
}
