import { AppError, invalidField } from '../../shared/app-error.ts';
import type { ReviewStratum } from '../../shared/contract/review-queues.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';
import type { Log } from '../log.ts';
import type { StoredQueue } from '../storage/reviews/queue-rows.ts';
import type { QueueStore } from '../storage/reviews/queue-store.ts';
import { dayOf, type Sample } from './choose-items.ts';
import { type AppendItems, isSecond, type Present, readChosen, type Sampler } from './queue-items.ts';
import type { SharedQueues } from './sharing.ts';

export interface DailyItemsOptions {
  readonly store: QueueStore;
  readonly shared: SharedQueues;
  readonly sampler: Sampler;
  readonly append: AppendItems;
  readonly flush: () => void;
  readonly log: Log;
}

/** What a queue had before items are added. */
interface Before {
  readonly chosen: Awaited<ReturnType<typeof readChosen>>;
  /** Items of each stratum, by its place. */
  readonly counts: ReadonlyMap<number, number>;
  readonly today: string;
}

/** How often the day is looked at, in milliseconds. A timer until midnight would be wrong after a sleep, or a change of the clock. */
const pollMs = 60_000;

/** The strata of a queue with what the days add. Those that it has keep their places, which its items name. */
function mergeStrata(
  queue: StoredQueue,
  counts: ReadonlyMap<number, number>,
  { strata: found }: Pick<Sample, 'strata'>,
  today: string,
): ReviewStratum[] {
  const left = new Map(found.map((stratum) => [stratum.name, stratum]));
  const known = queue.strata.map(({ name, population }, index) => {
    const items = counts.get(index) ?? 0;
    // Nothing was read of the day that hasn't ended.
    if (name === today) return { name, population: Math.max(population, items), items };
    const more = left.get(name);
    left.delete(name);
    return { name, population: items + (more?.population ?? 0), items: items + (more?.items ?? 0) };
  });
  return [...known, ...left.values()];
}

/** Throws `invalid_request` for another plan, and `conflict` on another host than the one that made the queue. */
export function requireDaily({ plan, isImported }: StoredQueue): void {
  if (plan.plan.kind !== 'newest')
    throw invalidField('isOpen', 'needs a queue of the newest of each day, which takes new items');
  if (isImported)
    throw new AppError('conflict', 'Another Touchstone made this queue. Only that one can open or close it.');
}

/**
 * Adds the newest of each day to the open queues when the day has ended. What is chosen depends on what the queue has and on what is
 * recorded, not on when it was looked at: a host that was off for days adds the same items in the same order, and one that is killed
 * adds the rest.
 */
export function createDailyItems({ store, shared, sampler, append, flush, log }: DailyItemsOptions) {
  const stopped = new AbortController();
  const { signal } = stopped;
  let running: Promise<void> | null = null;
  const mutexes = new Map<string, Mutex>();

  /** One change of a queue at a time: what the team database gets of a queue is all of it, also what another change is just changing. */
  async function change(givenId: string, work: () => Promise<void>): Promise<void> {
    const { id } = store.read(givenId);
    const mutex = mutexes.get(id) ?? createMutex(() => undefined);
    mutexes.set(id, mutex);
    const release = await mutex.take({ signal });
    try {
      await work();
    } finally {
      if (mutex.waiting === 0) mutexes.delete(id);
      release();
    }
  }

  /** Null if it was deleted or closed meanwhile. */
  function current({ id }: StoredQueue): StoredQueue | null {
    signal.throwIfAborted();
    const queue = store.find(id);
    return queue?.isOpen ? queue : null;
  }

  async function addDaysTo(given: StoredQueue, today: string): Promise<void> {
    // After a restored backup, others have items that aren't here.
    if (given.teamChange !== null) await shared.pull(given);
    const chosen = await readChosen(store, given);
    const counts = new Map<number, number>();
    for (const { stratum } of chosen) counts.set(stratum, (counts.get(stratum) ?? 0) + 1);
    const days = Object.fromEntries(given.strata.map(({ name }, index) => [name, counts.get(index) ?? 0]));
    const filled = { ids: chosen.map(({ id }) => id), days, today };
    const sample = await sampler.draw({ ...given.plan, filled }, given.plan.seed, { readsTeam: true, signal });
    // Not while it draws, which takes seconds among millions of runs.
    await change(given.id, () => addItems(given, sample, { chosen, counts, today }));
  }

  async function addItems(given: StoredQueue, sample: Sample, { chosen, counts, today }: Before): Promise<void> {
    const queue = current(given);
    if (queue === null) return;
    const strata = mergeStrata(queue, counts, sample, today);
    const sampling = { strata, population: strata.reduce((sum, { population }) => sum + population, 0), isOpen: true };
    // Before the items, which name strata.
    store.setSampling(queue.sequence, { ...sampling, filledDay: queue.filledDay });
    let present: Present = {
      items: chosen.length,
      second: chosen.filter((item) => isSecond(item, queue.plan)).length,
    };
    // Day by day, so that the share of second reviews doesn't depend on how many days are added at once.
    for (const [day, ofDay] of Map.groupBy(sample.items, ({ stratum }) => stratum)) {
      const stratum = strata.findIndex(({ name }) => name === sample.strata[day]!.name);
      if (current(queue) === null) return;
      const items = ofDay.map((item) => ({ ...item, stratum }));
      present = await append(queue, items, signal, present);
    }
    const added = current(queue);
    if (added !== null && added.teamChange !== null) await shared.extend(added);
    if (current(queue) !== null) store.setSampling(queue.sequence, { ...sampling, filledDay: today });
  }

  function openQueues(): StoredQueue[] {
    try {
      return store.openQueues();
    } catch (failure) {
      log('Review queues could not be read.', failure);
      return [];
    }
  }

  async function addToAll(): Promise<void> {
    for (const { id } of openQueues()) {
      const queue = store.find(id);
      const today = dayOf(Date.now());
      if (queue === null || !queue.isOpen || queue.filledDay === today) continue;
      flush();
      try {
        await addDaysTo(queue, today);
      } catch (failure) {
        if (signal.aborted) return;
        if (store.find(id) === null) continue;
        // A team database that is away is reported by the copier.
        if (!(failure instanceof AppError)) log('A review queue could not take the items of a day.', failure);
      }
    }
  }

  function add(): Promise<void> {
    running ??= addToAll().finally(() => (running = null));
    return running;
  }

  const timer = setInterval(() => void add(), pollMs).unref();
  void add();

  return {
    /** One call that runs is enough. */
    add,
    change,
    /** Of a daily queue. */
    async setOpen(id: string, isOpen: boolean): Promise<void> {
      await change(id, async () => {
        const queue = store.read(id);
        if (queue.teamChange !== null) await shared.extend({ ...queue, isOpen });
        const { sequence, population, strata } = store.read(id);
        store.setSampling(sequence, { population, strata, isOpen, filledDay: null });
      });
      if (isOpen) await add();
    },
    async close(): Promise<void> {
      clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}
