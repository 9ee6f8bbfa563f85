import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import { maxQueueItems } from '../../shared/contract/review-queues.ts';
import type { NewItem, NewQueue, StoredItem, StoredQueue } from '../storage/reviews/queue-rows.ts';
import { answersOf, isDone, secondOf } from './describe-item.ts';
import { type Content, runsOf } from './item-texts.ts';
import { createMerger, type Merged, type MergeOptions, requireOwn } from './merge-queue-file.ts';
import {
  type FileLine,
  invalidFile,
  maxFileStrata,
  maxStratumCharacters,
  type ItemLine,
  type QueueLine,
  readLines,
  readQueue,
} from './queue-file.ts';

type FileContent = AsyncIterable<Buffer>;

/** Review queues that go to another installation as a file, and whose reviews come back. Methods with an id throw `not_found`. */
export interface QueueFiles {
  /** Texts of the items that need reviews; of an imported queue its reviews. Throws `conflict` for over 1,000 strata. */
  write(id: string, signal: AbortSignal): AsyncGenerator<string>;
  /** Resolves with the id of the queue. Throws `conflict` for a queue that is here, and `invalid_request`. */
  import(content: FileContent): Promise<string>;
  /** Throws `conflict` for a file of another queue, before anything is stored. Merging a file twice adds nothing. */
  merge(id: string, content: FileContent): Promise<Merged>;
}

export type QueueFilesOptions = Content & MergeOptions;

const itemsAtOnce = 50;
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
    strata: strata.map((stratum) => ({ ...stratum, name: stratum.name.slice(0, maxStratumCharacters) })),
    rubric,
    createdAt,
  };
}

function createWriter(options: QueueFilesOptions) {
  const { store, reviews } = options;

  function itemLines(queue: StoredQueue, items: readonly StoredItem[]): string {
    return items
      .filter((item) => item.isRemoved === 0 && !isDone(item))
      .map((item) => {
        const { id, conversationId, runId, stratum, isFlagged, needed, done } = item;
        const runs = runsOf(options, queue, item);
        const second = secondOf(item);
        const shown = {
          ...{ id, conversationId, runId, stratum, isFlagged: isFlagged === 1, needed: needed - done, runs },
          // Without the reason, which says what a reviewer thinks.
          ...(second && { secondReview: { by: second.by, reviewerId: second.reviewerId, at: second.at } }),
        };
        return runs.length === 0 ? '' : lineOf({ type: 'item', ...shown });
      })
      .join('');
  }

  function reviewLines(queue: StoredQueue, items: readonly StoredItem[]): string {
    const idOf = new Map(items.map(({ sequence, id }) => [sequence, id]));
    const range = { from: items[0]!.position, to: items.at(-1)!.position + 1 };
    return reviews
      .historyIn(queue.sequence, range)
      .map((review) => {
        const { id, item, reviewerId, kind, note, seconds, createdAt, replaces } = review;
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
          ...(replaces !== null && { replaces }),
        });
      })
      .join('');
  }

  /** Requests for second reviews that were made here, and discussions. */
  function discussionLines(queue: StoredQueue, items: readonly StoredItem[]): string {
    const idOf = new Map(items.map(({ sequence, id }) => [sequence, id]));
    const range = { from: items[0]!.position, to: items.at(-1)!.position + 1 };
    const seconds = items.flatMap((item) => {
      const second = secondOf(item);
      if (second === null) return [];
      const { reviewerId, reason, at: createdAt } = second;
      return [lineOf({ type: 'secondReview', itemId: item.id, reviewerId, reason, createdAt })];
    });
    const comments = reviews
      .commentsIn(queue.sequence, range)
      .map(({ id, item, reviewerId, text, createdAt }) =>
        lineOf({ type: 'comment', id, itemId: idOf.get(item)!, reviewerId, text, createdAt }),
      );
    return [...seconds, ...comments].join('');
  }

  async function* linesOf(queue: StoredQueue, signal: AbortSignal): AsyncGenerator<string> {
    yield lineOf(queueLineOf(queue));
    if (queue.isImported)
      for (const { reviewerId, name } of reviews.progress(queue.sequence, reviews.authors(queue.sequence)))
        yield lineOf({ type: 'reviewer', id: reviewerId, name, installationId: store.installationId });
    const count = store.itemCount(queue.sequence);
    for (let offset = 0; offset < count; offset += itemsAtOnce) {
      const items = store.items(queue.sequence, { offset, limit: itemsAtOnce });
      yield queue.isImported ? discussionLines(queue, items) + reviewLines(queue, items) : itemLines(queue, items);
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

function newItemOf({ id, conversationId, runId, stratum, isFlagged, needed, runs, secondReview }: ItemLine): NewItem {
  const lower = (value: string) => value.toLowerCase();
  return {
    id: lower(id),
    conversationId: lower(conversationId),
    runId: lower(runId),
    stratum,
    isFlagged,
    needed,
    content: runs,
    second: secondReview ? { ...secondReview, reason: null } : null,
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

const tooManyItems = () => invalidFile(`it has more than ${maxQueueItems.toLocaleString('en-US')} items`);

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
        if (line.stratum >= queue.strata.length) throw invalidFile(`the item ${line.id} is of an unknown stratum`);
        if (position + batch.length === maxQueueItems) throw tooManyItems();
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

export function createQueueFiles(options: QueueFilesOptions): QueueFiles {
  return { write: createWriter(options), import: createImporter(options), merge: createMerger(options) };
}
