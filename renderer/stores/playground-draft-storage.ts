import type { PersistStorage, StorageValue } from 'zustand/middleware';

/** What the storage reads of a draft. */
interface StoredDraft {
  id: string;
}

export interface StoredDrafts<Draft extends StoredDraft> {
  drafts: Draft[];
  activeId: string;
}

/** Drafts that another window of this browser wrote or removed. */
export interface OtherWindowChanges<Draft extends StoredDraft> {
  changed: Draft[];
  removedIds: string[];
}

interface Order {
  ids: string[];
  activeId: string;
  version: number;
}

const orderKey = 'order';

function requestResult<Result>(request: IDBRequest<Result>): Promise<Result> {
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
  return requestResult(request);
}

async function read<Draft extends StoredDraft>(
  database: IDBDatabase,
): Promise<StorageValue<StoredDrafts<Draft>> | null> {
  const transaction = database.transaction(['drafts', 'state']);
  const [drafts, order] = await Promise.all([
    requestResult<Draft[]>(transaction.objectStore('drafts').getAll()),
    requestResult<Order | undefined>(transaction.objectStore('state').get(orderKey)),
  ]);
  if (!order || drafts.length === 0) return null;
  const byId = new Map(drafts.map((draft) => [draft.id, draft]));
  const ordered = order.ids.flatMap((id) => byId.get(id) ?? []);
  // The order comes from the window that wrote last. It lacks drafts that another window created meanwhile.
  const unlisted = drafts.filter(({ id }) => !order.ids.includes(id));
  return { state: { drafts: [...unlisted, ...ordered], activeId: order.activeId }, version: order.version };
}

function difference<Draft extends StoredDraft>(
  { drafts }: StoredDrafts<Draft>,
  before: Map<string, Draft>,
): OtherWindowChanges<Draft> {
  const remainingIds = new Set(drafts.map(({ id }) => id));
  return {
    changed: drafts.filter((draft) => before.get(draft.id) !== draft),
    removedIds: [...before.keys()].filter((id) => !remainingIds.has(id)),
  };
}

/** Writes the changes. Resolves when they are on the disk. */
function write<Draft extends StoredDraft>(
  database: IDBDatabase,
  { state: { drafts, activeId }, version }: StorageValue<StoredDrafts<Draft>>,
  { changed, removedIds }: OtherWindowChanges<Draft>,
): Promise<void> {
  // `strict` waits for the disk, so that a draft survives a killed process.
  const transaction = database.transaction(['drafts', 'state'], 'readwrite', { durability: 'strict' });
  const records = transaction.objectStore('drafts');
  for (const draft of changed) records.put(draft);
  for (const id of removedIds) records.delete(id);
  const order: Order = { ids: drafts.map((draft) => draft.id), activeId, version: version ?? 0 };
  transaction.objectStore('state').put(order, orderKey);
  // Without this call the browser commits after the events of all records, which a closing page doesn't receive.
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

const noStorage = {
  getItem: () => Promise.resolve(null),
  setItem: () => {},
  removeItem: () => {},
};

/** The drafts that the database holds, as far as this window knows. It tells the other windows what it writes. */
function createWrittenDrafts<Draft extends StoredDraft>(
  channel: string,
  applyOtherWindowChanges: (elsewhere: OtherWindowChanges<Draft>) => Draft[],
) {
  let written = new Map<string, Draft>();
  /** Changes that arrive while the drafts are read, which may be older. Null when they are here. */
  let early: OtherWindowChanges<Draft>[] | null = null;
  const others = new BroadcastChannel(channel);
  others.addEventListener('message', ({ data }: MessageEvent<OtherWindowChanges<Draft>>) => {
    if (early === null) apply(data);
    else early.push(data);
  });

  function apply(changes: OtherWindowChanges<Draft>): void {
    for (const id of changes.removedIds) written.delete(id);
    for (const draft of applyOtherWindowChanges(changes)) written.set(draft.id, draft);
  }

  function set(drafts: readonly Draft[]): void {
    written = new Map(drafts.map((draft) => [draft.id, draft]));
  }

  return {
    set,
    /** Changes of other windows wait until the store has what is read now. */
    async reading<Result>(work: () => Promise<Result>): Promise<Result> {
      early ??= [];
      try {
        return await work();
      } finally {
        setTimeout(() => {
          const waiting = early ?? [];
          early = null;
          for (const changes of waiting) apply(changes);
        });
      }
    },
    /** Transactions run in their order, so the drafts count as written at once; if that fails, as not written. */
    async write(target: IDBDatabase, value: StorageValue<StoredDrafts<Draft>>): Promise<void> {
      const before = written;
      const changes = difference(value.state, before);
      set(value.state.drafts);
      try {
        await write(target, value, changes);
      } catch (error) {
        written = before;
        throw error;
      }
      if (changes.changed.length + changes.removedIds.length > 0) others.postMessage(changes);
    },
  };
}

/**
 * Stores drafts in IndexedDB, one record each, because a prompt may exceed the limit of localStorage. Each change is written at once.
 * Changes during a write share the next one, for which a closing page doesn't wait. Without IndexedDB (private windows of some browsers)
 * drafts last as long as the page.
 *
 * Windows of one browser share the database and a channel. Each sends its changes to the others, so that none overwrites a newer text.
 * `applyOtherWindowChanges` applies them and returns the applied drafts.
 */
export function createDraftStorage<Draft extends StoredDraft>(
  channel: string,
  applyOtherWindowChanges: (elsewhere: OtherWindowChanges<Draft>) => Draft[],
): PersistStorage<StoredDrafts<Draft>> {
  if (typeof indexedDB === 'undefined') return noStorage;
  let database: Promise<IDBDatabase> | undefined;
  let opened: IDBDatabase | null = null;
  const written = createWrittenDrafts(channel, applyOtherWindowChanges);
  let waiting: StorageValue<StoredDrafts<Draft>> | null = null;
  let isWriting = false;

  function writeNext(target: IDBDatabase, value: StorageValue<StoredDrafts<Draft>>): Promise<void> {
    waiting = null;
    return written.write(target, value);
  }

  // A closing page gets no events, so it can't wait for one transaction before the next.
  window.addEventListener('pagehide', () => {
    if (opened !== null && waiting !== null) writeNext(opened, waiting).catch(() => {});
  });

  async function drain(name: string): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    try {
      database ??= open(name);
      opened = await database;
      while (waiting !== null) await writeNext(opened, waiting);
    } catch (cause) {
      console.warn("Couldn't write drafts to IndexedDB. They last until the window closes.", cause);
    } finally {
      isWriting = false;
    }
  }

  return {
    getItem: async (name) => {
      try {
        database ??= open(name);
        const target = await database;
        return await written.reading(async () => {
          const value = await read<Draft>(target);
          written.set(value?.state.drafts ?? []);
          return value;
        });
      } catch (cause) {
        console.warn("Couldn't read drafts from IndexedDB.", cause);
        return null;
      }
    },
    setItem: (name, value) => {
      waiting = value;
      void drain(name);
    },
    removeItem: (name) => void indexedDB.deleteDatabase(name),
  };
}
