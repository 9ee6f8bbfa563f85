import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import type { Log } from '../log.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { ReviewStore } from '../storage/reviews/review-store.ts';
import type { ReviewerStore } from '../storage/reviews/reviewer-store.ts';
import type { QueueChanges, TeamQueueState, TeamReview } from '../team/team-review-rows.ts';
import { createOutcome, writeGold } from './create-reviews.ts';
import { createPublisher, itemsAtOnce, type PublisherOptions } from './publish-queue.ts';
import { createReviewerExchange, type ReviewerExchange } from './reviewer-exchange.ts';
import type { SharedQueues } from './sharing.ts';

export interface SharedQueuesOptions extends PublisherOptions {
  readonly reviews: ReviewStore;
  readonly reviewers: ReviewerStore;
  readonly flush: () => void;
  readonly log: Log;
}

const changesAtOnce = 20;
const pollMs = 1000;
const abandonedMs = 3_600_000;

/** One call at a time per queue; a caller that comes meanwhile waits for one that starts after it came. */
function createPuller(pull: (id: string) => Promise<void>) {
  const active = new Map<string, { current: Promise<void>; next: Promise<void> | null }>();
  return function run(id: string): Promise<void> {
    const running = active.get(id);
    if (running) return (running.next ??= running.current.catch(() => undefined).then(() => run(id)));
    const current = pull(id).finally(() => active.delete(id));
    active.set(id, { current, next: null });
    return current;
  };
}

/** Writes what happened in the team database to the copies. */
function createCopies(options: SharedQueuesOptions) {
  const { store, reviews, reviewers, flush } = options;
  const close = createOutcome(options);

  const sequenceOf = (reviewer: Pick<TeamReview, 'reviewerId' | 'reviewerName'>, queue: StoredQueue) =>
    reviewers.ensureImported({
      id: reviewer.reviewerId,
      name: reviewer.reviewerName,
      installationId: queue.installationId,
    }).sequence;

  function copyReview(queue: StoredQueue, review: TeamReview): void {
    if (reviews.has(review.id) || !store.hasItem(queue.sequence, review.itemId)) return;
    const item = store.item(queue.sequence, review.itemId);
    const { answers, reviewerName, ...given } = review;
    const reviewer = sequenceOf(review, queue);
    const copied = { ...given, reviewer, reviewerName, item: item.sequence, answersJson: JSON.stringify(answers) };
    reviews.add(queue.sequence, copied);
    close(queue, item, { now: review.createdAt, added: copied });
  }

  function copyDecisions(queue: StoredQueue, { items }: QueueChanges): void {
    for (const { itemId, isRemoved, gold, goldBy, goldAt } of items) {
      if (!store.hasItem(queue.sequence, itemId)) continue;
      const item = store.item(queue.sequence, itemId);
      if (isRemoved) store.removeItem(item.sequence);
      else if (gold !== null && goldAt !== item.goldAt)
        writeGold({ queue, item, gold, by: goldBy ?? '', at: goldAt ?? 0 }, reviews);
    }
  }

  function copyDiscussions(queue: StoredQueue, { comments }: QueueChanges): void {
    for (const comment of comments) {
      if (!store.hasItem(queue.sequence, comment.itemId)) continue;
      const { id, text, createdAt } = comment;
      const item = store.item(queue.sequence, comment.itemId).sequence;
      reviews.addComment({ id, item, reviewer: sequenceOf(comment, queue), text, createdAt });
    }
  }

  function copySeconds(queue: StoredQueue, { seconds }: QueueChanges): void {
    for (const { itemId, second } of seconds)
      if (store.hasItem(queue.sequence, itemId)) reviews.setSecond(store.item(queue.sequence, itemId).sequence, second);
  }

  return async (queue: StoredQueue, changes: QueueChanges): Promise<void> => {
    flush();
    // Before the reviews, which would close an item that needs one more.
    reviews.transaction(() => copySeconds(queue, changes));
    for (let offset = 0; offset < changes.reviews.length; offset += changesAtOnce) {
      const slice = changes.reviews.slice(offset, offset + changesAtOnce);
      reviews.transaction(() => slice.forEach((review) => copyReview(queue, review)));
      await nextTurn();
    }
    const now = Date.now();
    reviews.transaction(() => {
      copyDecisions(queue, changes);
      copyDiscussions(queue, changes);
      const held = changes.reservations.filter(({ itemId }) => store.hasItem(queue.sequence, itemId));
      reviews.replaceReservations(
        queue.sequence,
        held.map((one) => ({
          item: store.item(queue.sequence, one.itemId).sequence,
          reviewer: sequenceOf(one, queue),
          startedAt: now - one.sinceMs,
          expiresAt: now + one.leftMs,
        })),
      );
      store.setTeamChange(queue.sequence, changes.last);
    });
  };
}

/** Appends the items that aren't here yet. */
async function copyItems(
  { store, team }: Pick<SharedQueuesOptions, 'store' | 'team'>,
  queueId: string,
  sequence: number,
): Promise<void> {
  for (let from = store.itemCount(sequence); ;) {
    const items = await team.reviews('items', { queueId, from, limit: itemsAtOnce });
    if (items.length === 0) return;
    store.append(sequence, from, items);
    from += items.length;
    await nextTurn();
  }
}

/** Makes the copy of a queue that another host shares. */
function createImporter(options: SharedQueuesOptions) {
  const { store, team } = options;
  return async (id: string): Promise<void> => {
    const described = await team.reviews('read', { queueId: id });
    if (described === null) return;
    const sequence = store.create({ ...described, id, isImported: true });
    try {
      await copyItems(options, id, sequence);
      store.setTeamChange(sequence, 0);
      store.show(sequence);
    } catch (failure) {
      store.hide(sequence);
      while (store.removeSome()) await nextTurn();
      throw failure;
    }
  };
}

interface Polled {
  readonly people: ReviewerExchange;
  readonly retract: ReturnType<typeof createPublisher>['retract'];
  readonly makeCopy: ReturnType<typeof createImporter>;
  readonly pull: ReturnType<typeof createPuller>;
}

function reportUnread(failure: unknown, log: Log): void {
  // A database that is away is reported by the copier.
  if (!(failure instanceof AppError)) log('A shared review queue could not be read.', failure);
}

/** Follows the team database. Returns what stops it. */
function startPolling(
  { store, team, log }: SharedQueuesOptions,
  { people, retract, makeCopy, pull }: Polled,
): () => void {
  const sentRemovals = new Map<string, number>();
  let hasRight = false;
  let isPolling = false;
  let abandonedAt = -Infinity;

  /** The runs of items are deleted where they were recorded, which can be on several hosts. */
  async function sendRemovals(queue: StoredQueue): Promise<void> {
    const itemIds = store.removedItems(queue.sequence);
    if (itemIds.length === (sentRemovals.get(queue.id) ?? 0)) return;
    await team.reviews('removeItems', { queueId: queue.id, itemIds });
    sentRemovals.set(queue.id, itemIds.length);
  }

  async function follow({ id, lastChange, isRemoved }: TeamQueueState): Promise<void> {
    const queue = store.find(id);
    if (isRemoved) {
      if (queue !== null && queue.teamChange !== null) store.remove(id);
    } else if (queue === null) await makeCopy(id);
    else if (queue.teamChange !== null) {
      await sendRemovals(queue);
      if (queue.teamChange !== lastChange) await pull(id);
    }
  }

  async function removeAbandoned(): Promise<void> {
    if (performance.now() - abandonedAt < abandonedMs) return;
    abandonedAt = performance.now();
    await team.reviews('removeAbandoned');
  }

  const report = (failure: unknown) => reportUnread(failure, log);

  async function poll(): Promise<void> {
    hasRight ||= await team.reviews('hasRight');
    if (!hasRight) return;
    await people.exchange();
    // What fails for one queue, such as one that is being deleted, mustn't keep the others back.
    for (const queue of store.unpublished()) await retract(queue).catch(report);
    for (const state of await team.reviews('queues')) await follow(state).catch(report);
    await removeAbandoned().catch(report);
    while (store.removeSome()) await nextTurn();
  }

  const timer = setInterval(() => {
    if (!team.isOn() || isPolling) return;
    isPolling = true;
    poll()
      .catch((failure: unknown) => {
        hasRight = false;
        report(failure);
      })
      .finally(() => (isPolling = false));
  }, pollMs).unref();
  return () => clearInterval(timer);
}

export function createSharedQueues(options: SharedQueuesOptions): SharedQueues {
  const { store, team } = options;
  const copy = createCopies(options);
  const people = createReviewerExchange(options);
  const { publish, retract, extend } = createPublisher(options);
  const makeCopy = createImporter(options);

  /** Items of days that have ended. The host that chose them lacks some only after a restored backup. */
  async function copyNewItems(queue: StoredQueue, { itemCount }: QueueChanges): Promise<void> {
    const hasMore = itemCount > store.itemCount(queue.sequence);
    if (!hasMore && !(queue.isImported && queue.isOpen)) return;
    const described = await team.reviews('read', { queueId: queue.id });
    if (described === null || store.find(queue.id) === null) return;
    const { population, strata, isOpen, filledDay } = described;
    store.setSampling(queue.sequence, { population, strata, isOpen, filledDay });
    if (hasMore) await copyItems(options, queue.id, queue.sequence);
  }

  const pull = createPuller(async (id) => {
    for (let hasMore = true; hasMore;) {
      const queue = store.find(id);
      if (queue === null || queue.teamChange === null) return;
      const changes = await team.reviews('changes', { queueId: id, after: queue.teamChange });
      if (queue.isImported && changes.name !== null && changes.name !== queue.name)
        store.rename(queue.sequence, changes.name);
      // Before the reviews of new items.
      await copyNewItems(queue, changes);
      await copy(queue, changes);
      hasMore = changes.hasMore;
    }
  });

  const close = startPolling(options, { people, retract, makeCopy, pull });

  return {
    isOn: () => team.isOn(),
    ensureReviewer: (reviewer) => people.send(reviewer),
    publish,
    extend,
    pull: (queue) => pull(queue.id),
    remove: (queue) => team.reviews('remove', { queueId: queue.id }),
    async reserve(queue, itemId, you) {
      const reviewer = await people.send(you);
      const minutes = queue.plan.reservationMinutes;
      const claim = { queueId: queue.id, itemId: itemId?.toLowerCase() ?? null, reviewerId: reviewer.id, minutes };
      const reserved = await team.reviews('reserve', claim);
      await pull(queue.id);
      if (reserved === null) return null;
      return reserved.itemId === undefined ? false : store.item(queue.sequence, reserved.itemId);
    },
    release: (queue, you) =>
      team.reviews('release', { queueId: queue.id, reviewerId: you.id }).then(() => pull(queue.id)),
    async add(queue, review, you) {
      const reviewer = await people.send(you);
      const isAdded = await team.reviews('add', { ...review, queueId: queue.id, reviewerId: reviewer.id });
      await pull(queue.id);
      return isAdded;
    },
    async decide(queue, itemId, gold, you) {
      const isDecided = await team.reviews('decide', { queueId: queue.id, itemId, gold, by: you.name });
      await pull(queue.id);
      return isDecided;
    },
    async requestSecond(queue, { you, second, ...given }) {
      const { id: reviewerId } = await people.send(you);
      const request = { ...given, queueId: queue.id, reviewerId, second: { ...second, reviewerId } };
      const isRequested = await team.reviews('requestSecond', request);
      await pull(queue.id);
      return isRequested;
    },
    async comment(queue, comment, you) {
      const { id: reviewerId } = await people.send(you);
      const isAdded = await team.reviews('comment', { ...comment, queueId: queue.id, reviewerId });
      await pull(queue.id);
      return isAdded;
    },
    close,
  };
}
