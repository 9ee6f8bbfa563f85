import type { PersistStorage, StorageValue } from 'zustand/middleware';
import type { Draft } from './playground-drafts.ts';

export interface KeptDrafts {
  drafts: Draft[];
  activeId: string;
}

/** What another window of this browser has just written. */
export interface DraftsElsewhere {
  changed: Draft[];
  removedIds: string[];
}

interface Order {
  ids: string[];
  activeId: string;
  version: number;
}

const orderKey = 'order';

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function open(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('drafts', { keyPath: 'id' });
    request.result.createObjectStore('state');
  };
  return settled(request);
}

async function read(database: IDBDatabase): Promise<StorageValue<KeptDrafts> | null> {
  const transaction = database.transaction(['drafts', 'state']);
  const [drafts, order] = await Promise.all([
    settled<Draft[]>(transaction.objectStore('drafts').getAll()),
    settled<Order | undefined>(transaction.objectStore('state').get(orderKey)),
  ]);
  if (!order || drafts.length === 0) return null;
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  const ordered = order.ids.flatMap((id) => byId.get(id) ?? []);
  // The order is of the window that wrote last; a draft that another one made meanwhile stands in none.
  const unlisted = drafts.filter(({ id }) => !order.ids.includes(id));
  return { state: { drafts: [...unlisted, ...ordered], activeId: order.activeId }, version: order.version };
}

function difference({ drafts }: KeptDrafts, before: Map<string, Draft>): DraftsElsewhere {
  const kept = new Set(drafts.map(({ id }) => id));
  return {
    changed: drafts.filter((draft) => before.get(draft.id) !== draft),
    removedIds: [...before.keys()].filter((id) => !kept.has(id)),
  };
}

/** Writes what differs from before; resolves when it is on the disk. */
function write(
  database: IDBDatabase,
  { state: { drafts, activeId }, version }: StorageValue<KeptDrafts>,
  { changed, removedIds }: DraftsElsewhere,
): Promise<void> {
  // `strict` waits for the disk: a draft survives the process being killed, not only the page going away.
  const transaction = database.transaction(['drafts', 'state'], 'readwrite', { durability: 'strict' });
  const records = transaction.objectStore('drafts');
  for (const draft of changed) records.put(draft);
  for (const id of removedIds) records.delete(id);
  const order: Order = { ids: drafts.map((draft) => draft.id), activeId, version: version ?? 0 };
  transaction.objectStore('state').put(order, orderKey);
  // By itself it would be committed once the page has heard of each record; a page that goes away does not hear of them.
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * Keeps drafts in IndexedDB, one record each, because a prompt may be larger than what localStorage holds. Each change
 * is written at once; changes that come while one is being written go together in the next write; one that still waits when
 * the page goes away is lost. Without IndexedDB (private windows of some browsers) drafts live as long as the page.
 *
 * Windows of one browser write to the same place: each tells the others what it wrote, so that none puts an older text over
 * it. `takeElsewhere` shows that in this window and returns the drafts that it has taken.
 */
export function createDraftStorage(takeElsewhere: (elsewhere: DraftsElsewhere) => Draft[]): PersistStorage<KeptDrafts> {
  let database: Promise<IDBDatabase> | undefined;
  let written = new Map<string, Draft>();
  const others = typeof indexedDB === 'undefined' ? null : new BroadcastChannel('playground-drafts');
  others?.addEventListener('message', ({ data }: MessageEvent<DraftsElsewhere>) => {
    for (const id of data.removedIds) written.delete(id);
    for (const draft of takeElsewhere(data)) written.set(draft.id, draft);
  });
  let waiting: StorageValue<KeptDrafts> | null = null;
  let isWriting = false;

  async function writeWaiting(opened: IDBDatabase): Promise<void> {
    while (waiting) {
      const value: StorageValue<KeptDrafts> = waiting;
      waiting = null;
      const changes = difference(value.state, written);
      await write(opened, value, changes);
      written = new Map(value.state.drafts.map((draft) => [draft.id, draft]));
      if (changes.changed.length + changes.removedIds.length > 0) others?.postMessage(changes);
    }
  }

  async function drain(name: string): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    try {
      database ??= open(name);
      await writeWaiting(await database);
    } catch (cause) {
      console.warn('Drafts could not be written to IndexedDB; they are kept until the window closes.', cause);
    } finally {
      isWriting = false;
    }
  }

  return {
    getItem: async (name) => {
      if (typeof indexedDB === 'undefined') return null;
      try {
        database ??= open(name);
        const value = await read(await database);
        written = new Map(value?.state.drafts.map((draft) => [draft.id, draft]));
        return value;
      } catch (cause) {
        console.warn('Drafts could not be read from IndexedDB.', cause);
        return null;
      }
    },
    setItem: (name, value) => {
      if (typeof indexedDB === 'undefined') return;
      waiting = value;
      void drain(name);
    },
    removeItem: (name) => {
      if (typeof indexedDB !== 'undefined') indexedDB.deleteDatabase(name);
    },
  };
}
