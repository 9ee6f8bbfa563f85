import { eventQueue } from './event-queue.ts';

/** Something with a list that changes and tells it to those who want to know. */
interface FollowedList<Item> {
  list(): Item[];
  subscribe(listener: (items: Item[]) => void): () => void;
}

/** The list now and again after each change, until the signal aborts. A slow reader gets only the newest. */
export async function* followList<Item>(
  source: FollowedList<Item>,
  signal: AbortSignal,
): AsyncGenerator<{ data: Item[] }, void, void> {
  const queue = eventQueue<Item[]>({ signal, merge: (_, next) => next });
  queue.push(source.list());
  const unsubscribe = source.subscribe(queue.push);
  try {
    for await (const data of queue) yield { data };
  } finally {
    unsubscribe();
  }
}
