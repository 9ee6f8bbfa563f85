import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import type { NewItem, NewQueue, StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { ReviewStore } from '../storage/reviews/review-store.ts';
import type { ReviewerStore } from '../storage/reviews/reviewer-store.ts';
import { createOutcome, readAnswers } from './create-reviews.ts';
import { answersOf, isDone } from './describe-item.ts';
import { type Content, runsOf } from './item-texts.ts';
import {
  type FileLine,
  invalidFile,
  maxFileStrata,
  type ItemLine,
  type QueueLine,
  readLines,
  type ReviewerLine,
  type ReviewLine,
} from './queue-file.ts';

type FileContent = AsyncIterable<Buffer>;

/** Review queues that go to another installation as a file, and whose reviews come back. Methods with an id throw `not_found`. */
export interface QueueFiles {
  /** Texts of the items that need reviews; of an imported queue its reviews. Throws `conflict` for over 1,000 strata. */
  write(id: string, signal: AbortSignal): AsyncGenerator<string>;
  /** Resolves with the id of the queue. Throws `conflict` for a queue that is here, and `invalid_request`. */
  import(content: FileContent): Promise<string>;
  /** Throws `conflict` for a file of another queue, before anything is stored. Merging a file twice adds nothing. */
  merge(id: string, content: FileContent): Promise<{ added: number; known: number }>;
}

export interface QueueFilesOptions extends Content {
  readonly store: QueueStore;
  readonly reviews: ReviewStore;
  readonly reviewers: ReviewerStore;
  /** Writes queued runs, so that their feedback can be written. */
  readonly flush: () => void;
}

const itemsAtOnce = 50;
const reviewsAtOnce = 100;
const lineOf = (line: FileLine) => `${JSON.stringify(line)}\n`;

function queueLineOf(queue: StoredQueue): QueueLine {
  const { id, installationId, name, population, strata, rubric, createdAt, plan } = queue;
  const { itemType, seed, reviewersPerItem, secondShare, reservationMinutes } = plan;
  const decided = { itemType, plan: plan.plan, seed, reviewersPerItem, secondShare, reservationMinutes };
  return {
    type: 'queue',
    format: 1,
    installationId,
    id,
    name,
    ...decided,
    population,
    strata: [...strata],
    rubric,
    createdAt,
  };
}

/** Throws `conflict` for a queue that several hosts share: their copies would differ. */
function requireOwn({ name, teamChange }: StoredQueue): void {
  if (teamChange === null) return;
  throw new AppError(
    'conflict',
    `"${name}" is shared in the team database, and doesn't go into files. Review it on any host.`,
  );
}

function createWriter(options: QueueFilesOptions) {
  const { store, reviews } = options;

  function itemLines(queue: StoredQueue, items: readonly StoredItem[]): string {
    return items
      .filter((item) => item.isRemoved === 0 && !isDone(item))
      .map((item) => {
        const { id, conversationId, runId, stratum, isFlagged, needed, done } = item;
        const runs = runsOf(options, queue, item);
        const shown = { id, conversationId, runId, stratum, isFlagged: isFlagged === 1, needed: needed - done, runs };
        return runs.length === 0 ? '' : lineOf({ type: 'item', ...shown });
      })
      .join('');
  }

  function reviewLines(queue: StoredQueue, items: readonly StoredItem[]): string {
    const idOf = new Map(items.map(({ sequence, id }) => [sequence, id]));
    const range = { from: items[0]!.position, to: items.at(-1)!.position + 1 };
    return reviews
      .reviewsIn(queue.sequence, range)
      .map((review) => {
        const { id, item, reviewerId, kind, note, seconds, createdAt } = review;
        const answers = answersOf(review);
        return lineOf({
          type: 'review',
          id,
          itemId: idOf.get(item)!,
          reviewerId,
          kind,
          answers,
          note,
          seconds,
          createdAt,
        });
      })
      .join('');
  }

  async function* linesOf(queue: StoredQueue, signal: AbortSignal): AsyncGenerator<string> {
    yield lineOf(queueLineOf(queue));
    if (queue.isImported)
      for (const { reviewerId, name } of reviews.progress(queue.sequence, []))
        yield lineOf({ type: 'reviewer', id: reviewerId, name, installationId: store.installationId });
    const count = store.itemCount(queue.sequence);
    for (let offset = 0; offset < count; offset += itemsAtOnce) {
      const items = store.items(queue.sequence, { offset, limit: itemsAtOnce });
      yield queue.isImported ? reviewLines(queue, items) : itemLines(queue, items);
      await nextTurn();
      signal.throwIfAborted();
    }
  }

  return (id: string, signal: AbortSignal): AsyncGenerator<string> => {
    const queue = store.read(id);
    requireOwn(queue);
    if (queue.strata.length > maxFileStrata)
      throw new AppError('conflict', `The queue has more than ${maxFileStrata} strata, and a file can't have them.`);
    return linesOf(queue, signal);
  };
}

/** The first line. Throws `invalid_request` for a file that starts with something else. */
async function readQueue(lines: AsyncGenerator<FileLine>): Promise<QueueLine> {
  const { value: first } = await lines.next();
  if (first?.type !== 'queue') throw invalidFile('it does not start with a queue');
  return first;
}

function newItemOf({ id, conversationId, runId, stratum, isFlagged, needed, runs }: ItemLine): NewItem {
  const lower = (value: string) => value.toLowerCase();
  return {
    id: lower(id),
    conversationId: lower(conversationId),
    runId: lower(runId),
    stratum,
    isFlagged,
    needed,
    content: runs,
  };
}

/** As it is stored here: its filter and its reviewers are those of another installation. */
function importedQueue(queue: QueueLine): NewQueue {
  const { itemType, plan, seed, reviewersPerItem, secondShare, reservationMinutes } = queue;
  const { name, population, strata, rubric, createdAt, installationId } = queue;
  const decided = { itemType, plan, seed, reviewersPerItem, secondShare, reservationMinutes };
  return {
    id: queue.id.toLowerCase(),
    name,
    population,
    strata,
    rubric,
    createdAt,
    installationId,
    isImported: true,
    isOpen: false,
    filledDay: null,
    plan: { ...decided, source: 'device', filter: {}, reviewerIds: null },
  };
}

function createImporter({ store }: QueueFilesOptions) {
  function requireNew(queue: QueueLine): void {
    if (queue.installationId === store.installationId)
      throw new AppError(
        'conflict',
        `"${queue.name}" was made by this installation. Only its reviews can be merged into it.`,
      );
    if (store.find(queue.id))
      throw new AppError('conflict', `"${queue.name}" is here already. Review it, then send its file back.`);
  }

  return async (content: FileContent): Promise<string> => {
    const lines = readLines(content);
    const queue = await readQueue(lines);
    requireNew(queue);
    const imported = importedQueue(queue);
    const sequence = store.create(imported);
    try {
      let batch: NewItem[] = [];
      let position = 0;
      const append = async () => {
        store.append(sequence, position, batch);
        position += batch.length;
        batch = [];
        await nextTurn();
      };
      for await (const line of lines) {
        if (line.type !== 'item') throw invalidFile(`it has a ${line.type} among the items`);
        batch.push(newItemOf(line));
        if (batch.length === itemsAtOnce) await append();
      }
      await append();
      if (position === 0) throw invalidFile('it has no item that needs a review');
      store.show(sequence);
    } catch (error) {
      store.hide(sequence);
      while (store.removeSome()) await nextTurn();
      throw error;
    }
    return imported.id;
  };
}

function requireSame(queue: StoredQueue, file: QueueLine): void {
  if (file.id.toLowerCase() === queue.id && file.installationId.toLowerCase() === queue.installationId) return;
  throw new AppError(
    'conflict',
    `The file is of the queue "${file.name}" (${file.id}) of another installation, and this is "${queue.name}" (${queue.id}).`,
  );
}

type NamedReviewers = ReadonlyMap<string, ReviewerLine>;

/** The reviewers by ID, and the reviews. `check` throws for one that may not be merged. */
async function readReviews(
  lines: AsyncGenerator<FileLine>,
  check: (line: ReviewLine, named: NamedReviewers) => void,
): Promise<{ named: NamedReviewers; given: ReviewLine[] }> {
  const named = new Map<string, ReviewerLine>();
  const given: ReviewLine[] = [];
  for await (const line of lines) {
    if (line.type === 'reviewer') named.set(line.id.toLowerCase(), line);
    else if (line.type !== 'review') throw invalidFile('it has items instead of reviews: it has not been reviewed yet');
    else {
      check(line, named);
      given.push(line);
    }
  }
  return { named, given };
}

function createMerger(options: QueueFilesOptions) {
  const { store, reviews, reviewers, flush } = options;
  const close = createOutcome(options);

  /** Throws `conflict` or `invalid_request` for a review that does not fit the queue. */
  function check(queue: StoredQueue, line: ReviewLine, named: NamedReviewers): void {
    if (!store.hasItem(queue.sequence, line.itemId))
      throw new AppError(
        'conflict',
        `The file has a review of the item ${line.itemId}, which this queue does not have.`,
      );
    const reviewer = named.get(line.reviewerId.toLowerCase());
    if (!reviewer) throw invalidFile(`the reviewer ${line.reviewerId} is missing`);
    // Nobody else may speak for someone here, or replace what they answered.
    if (reviewers.isOwn(reviewer.id))
      throw new AppError(
        'conflict',
        `The file has reviews by "${reviewer.name}", who is a reviewer of this installation.`,
      );
    if (line.kind === 'review') readAnswers(queue.rubric.items, line.answers);
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

  return async (id: string, content: FileContent): Promise<{ added: number; known: number }> => {
    const queue = store.read(id);
    requireOwn(queue);
    const lines = readLines(content);
    requireSame(queue, await readQueue(lines));
    const { named, given } = await readReviews(lines, (line, reviewersOfFile) => check(queue, line, reviewersOfFile));
    let added = 0;
    flush();
    for (let offset = 0; offset < given.length; offset += reviewsAtOnce) {
      reviews.transaction(() => {
        for (const line of given.slice(offset, offset + reviewsAtOnce)) if (add(queue, line, named)) added += 1;
      });
      await nextTurn();
    }
    return { added, known: given.length - added };
  };
}

export function createQueueFiles(options: QueueFilesOptions): QueueFiles {
  return { write: createWriter(options), import: createImporter(options), merge: createMerger(options) };
}
