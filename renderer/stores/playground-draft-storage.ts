import type { PersistStorage, StorageValue } from 'zustand/middleware';
import type { Draft } from './playground-drafts.ts';

export interface KeptDrafts {
  drafts: Draft[];
  activeId: string;
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
  return { state: { drafts: ordered, activeId: order.activeId }, version: order.version };
}

/** Writes what differs from `before`; resolves when it is on the disk. */
function write(database: IDBDatabase, value: StorageValue<KeptDrafts>, before: Map<string, Draft>): Promise<void> {
  const { drafts, activeId } = value.state;
  // `strict` waits for the disk: a draft survives the process being killed, not only the page going away.
  const transaction = database.transaction(['drafts', 'state'], 'readwrite', { durability: 'strict' });
  const records = transaction.objectStore('drafts');
  for (const draft of drafts) if (before.get(draft.id) !== draft) records.put(draft);
  const kept = new Set(drafts.map((draft) => draft.id));
  for (const id of before.keys()) if (!kept.has(id)) records.delete(id);
  const order: Order = { ids: drafts.map((draft) => draft.id), activeId, version: value.version ?? 0 };
  transaction.objectStore('state').put(order, orderKey);
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * Keeps drafts in IndexedDB, one record each, because a prompt may be larger than what localStorage holds. Each change
 * is written at once; changes that come while one is being written go together in the next write. Without IndexedDB
 * (private windows of some browsers) drafts live as long as the page.
 */
export function createDraftStorage(): PersistStorage<KeptDrafts> {
  let database: Promise<IDBDatabase> | undefined;
  let written = new Map<string, Draft>();
  let waiting: StorageValue<KeptDrafts> | null = null;
  let isWriting = false;

  async function drain(name: string): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    try {
      database ??= open(name);
      const opened = await database;
      while (waiting) {
        const value: StorageValue<KeptDrafts> = waiting;
        waiting = null;
        await write(opened, value, written);
        written = new Map(value.state.drafts.map((draft) => [draft.id, draft]));
      }
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
