import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewQueue, StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import type { CallTeamReviews } from '../team/team-reviews.ts';
import { hasTexts } from './describe-queue.ts';
import { type Content, runsOf } from './item-texts.ts';

export interface PublisherOptions extends Content {
  readonly store: QueueStore;
  readonly team: { isOn(): boolean; readonly reviews: CallTeamReviews };
}

/** Items of one message, whose texts are in memory at once. */
export const itemsAtOnce = 20;

/** How other hosts store it. */
function describedOf({ sequence: _sequence, teamChange: _change, ...described }: StoredQueue): NewQueue {
  return { ...described, isImported: true };
}

/** Sends queues of this host to the team database. */
export function createPublisher(options: PublisherOptions) {
  const { store, team } = options;

  function itemsFrom(queue: StoredQueue, offset: number) {
    return store.items(queue.sequence, { offset, limit: itemsAtOnce }).map((item) => {
      const { id, position, conversationId, runId, stratum, needed } = item;
      const content = hasTexts(queue) ? store.content(item.sequence) : runsOf(options, queue, item);
      return { id, position, conversationId, runId, stratum, needed, isFlagged: item.isFlagged === 1, content };
    });
  }

  async function publish(queue: StoredQueue, signal: AbortSignal): Promise<void> {
    // From now on it may be there, also if this host is killed.
    store.setTeamChange(queue.sequence, 0);
    await team.reviews('publish', { id: queue.id, queue: describedOf(queue) });
    const count = store.itemCount(queue.sequence);
    for (let offset = 0; offset < count; offset += itemsAtOnce) {
      await team.reviews('append', { queueId: queue.id, items: itemsFrom(queue, offset) });
      await nextTurn();
      signal.throwIfAborted();
    }
    await team.reviews('show', { queueId: queue.id });
  }

  /** Whether it is certain that others don't have it. */
  async function discard({ id, sequence }: StoredQueue): Promise<boolean> {
    const isDiscarded = await team.reviews('discard', { queueId: id });
    if (isDiscarded) store.setTeamChange(sequence, null);
    return isDiscarded;
  }

  return {
    async publish(queue: StoredQueue, signal: AbortSignal): Promise<void> {
      try {
        await publish(queue, signal);
      } catch (failure) {
        // The database may have lost only its answer. Until it can say so, the poll asks.
        await discard(queue).catch(() => false);
        throw failure;
      }
    },
    /** Removes a queue whose publishing failed or was interrupted, unless others have worked on it. */
    async retract(queue: StoredQueue): Promise<void> {
      if (!(await discard(queue))) store.show(queue.sequence);
    },
    async extend(queue: StoredQueue): Promise<void> {
      const described = describedOf(queue);
      let offset = await team.reviews('itemCount', { queueId: queue.id });
      // At least once: the description may have changed.
      for (let isFirst = true; ; isFirst = false) {
        const items = itemsFrom(queue, offset);
        if (items.length === 0 && !isFirst) return;
        await team.reviews('extend', { queueId: queue.id, queue: described, items });
        offset += items.length;
        await nextTurn();
      }
    },
  };
}
