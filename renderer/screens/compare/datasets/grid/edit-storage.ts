import {
  type EditedColumn,
  type EditedRow,
  type Segment,
  type TableDocument,
  createDocument,
} from './table-document.ts';
import { yieldToWindow } from './time-slices.ts';

type RowSegment = Extract<Segment, { id: string }>;

/** Unsaved edits of a dataset, and the version that they change. */
export interface StoredEdits {
  readonly baseVersion: number;
  readonly table: TableDocument;
}

interface TableRecord {
  readonly baseVersion: number;
  readonly columns: readonly EditedColumn[];
  readonly segments: readonly ({ base: number; count: number } | { id: string })[];
}

const databaseName = 'touchstone.dataset-edits';
const segmentsAtOnce = 4;
/** A page that is reloaded keeps its lock for a moment. After this time another window is taken to have it. */
const maxWaitMilliseconds = 1000;

function requestResult<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

let openedDatabase: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  if (!openedDatabase) {
    const request = indexedDB.open(databaseName, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('tables');
      request.result.createObjectStore('segments');
    };
    openedDatabase = requestResult(request);
  }
  return openedDatabase;
}

/** All segments of a dataset: arrays sort after strings. */
const segmentsOf = (datasetId: string) => IDBKeyRange.bound([datasetId], [datasetId, []]);

/**
 * Unsaved edits in IndexedDB, so that they survive a reload. A segment is one record and never changes, so an edit writes one segment and
 * not 100,000 rows. Many segments are written in several transactions, so that the window stays responsive; a page that closes meanwhile
 * writes the rest at once. Only one window of a browser writes the edits of a dataset.
 */
export class EditStorage {
  /** Segments that transactions have put so far. Later transactions run after them. */
  #written = new Set<string>();
  /** Edits that no transaction has written whole. */
  #waiting: StoredEdits | 'nothing' | null = null;
  #draining: Promise<void> | null = null;
  #opened: IDBDatabase | null = null;
  #release: (() => void) | null = null;
  readonly #closing = new AbortController();

  readonly #datasetId: string;

  constructor(datasetId: string) {
    this.#datasetId = datasetId;
  }

  /** Resolves once this window alone has the edits of this dataset; nothing is stored before. `onWait` is called if that takes a while. */
  async open(onWait: () => void): Promise<void> {
    if (typeof indexedDB === 'undefined') return;
    window.addEventListener('pagehide', this.#writeRest);
    if (typeof navigator.locks === 'undefined') return;
    const waiting = setTimeout(onWait, maxWaitMilliseconds);
    const { signal } = this.#closing;
    await new Promise<void>((resolve, reject) => {
      const held = navigator.locks.request(`${databaseName}/${this.#datasetId}`, { signal }, () => {
        resolve();
        return new Promise<void>((release) => {
          this.#release = release;
        });
      });
      held.catch(reject);
    }).finally(() => clearTimeout(waiting));
  }

  async read(): Promise<StoredEdits | null> {
    if (typeof indexedDB === 'undefined') return null;
    try {
      this.#opened = await database();
      const transaction = this.#opened.transaction(['tables', 'segments']);
      const [record, keys, rows] = await Promise.all([
        requestResult<TableRecord | undefined>(transaction.objectStore('tables').get(this.#datasetId)),
        requestResult(transaction.objectStore('segments').getAllKeys(segmentsOf(this.#datasetId))),
        requestResult<EditedRow[][]>(transaction.objectStore('segments').getAll(segmentsOf(this.#datasetId))),
      ]);
      const byId = new Map(keys.map((key, index) => [(key as [string, string])[1], rows[index]!]));
      this.#written = new Set(byId.keys());
      if (!record) return null;
      const segments = record.segments.map((segment): Segment =>
        'id' in segment ? { id: segment.id, rows: byId.get(segment.id)! } : segment,
      );
      return { baseVersion: record.baseVersion, table: createDocument(record.columns, segments) };
    } catch (cause) {
      console.warn("Couldn't read unsaved edits from IndexedDB.", cause);
      return null;
    }
  }

  /** Writes edits; null removes them. Only for who has opened it. Edits during a write share the next one. */
  write(edits: StoredEdits | null): void {
    if (typeof indexedDB === 'undefined') return;
    this.#waiting = edits ?? 'nothing';
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    try {
      this.#opened ??= await database();
      while (this.#waiting !== null) await this.#writeNext(this.#opened);
    } catch (cause) {
      console.warn("Couldn't write unsaved edits to IndexedDB. They last until the window closes.", cause);
    } finally {
      this.#draining = null;
    }
  }

  /** Some of the segments that wait, or else the record. Newer edits take the place of those that wait. */
  async #writeNext(opened: IDBDatabase): Promise<void> {
    const missing = this.#missing();
    if (missing.length <= segmentsAtOnce) return this.#finish(opened, missing);
    const transaction = opened.transaction('segments', 'readwrite');
    await this.#put(transaction, missing.slice(0, segmentsAtOnce));
    await yieldToWindow();
  }

  /** The segments with changes of the edits that wait. */
  #segments(): RowSegment[] {
    if (this.#waiting === null || this.#waiting === 'nothing') return [];
    return this.#waiting.table.segments.filter((segment) => 'rows' in segment);
  }

  #missing(): RowSegment[] {
    return this.#segments().filter(({ id }) => !this.#written.has(id));
  }

  #finish(opened: IDBDatabase, missing: readonly RowSegment[]): Promise<void> {
    const transaction = opened.transaction(['tables', 'segments'], 'readwrite', { durability: 'strict' });
    const used = new Set(this.#segments().map(({ id }) => id));
    const stale = [...this.#written].filter((id) => !used.has(id));
    for (const id of stale) transaction.objectStore('segments').delete([this.#datasetId, id]);
    if (this.#waiting === null || this.#waiting === 'nothing')
      transaction.objectStore('tables').delete(this.#datasetId);
    else {
      const { baseVersion, table } = this.#waiting;
      const record: TableRecord = {
        baseVersion,
        columns: table.columns,
        segments: table.segments.map((segment) => ('rows' in segment ? { id: segment.id } : segment)),
      };
      transaction.objectStore('tables').put(record, this.#datasetId);
    }
    this.#waiting = null;
    return this.#put(transaction, missing, stale);
  }

  /** Takes the segments as written at once; a transaction that fails takes that back. */
  async #put(
    transaction: IDBTransaction,
    segments: readonly RowSegment[],
    removed: readonly string[] = [],
  ): Promise<void> {
    for (const { id, rows } of segments) {
      transaction.objectStore('segments').put(rows, [this.#datasetId, id]);
      this.#written.add(id);
    }
    for (const id of removed) this.#written.delete(id);
    try {
      await completed(transaction);
    } catch (error) {
      for (const { id } of segments) this.#written.delete(id);
      throw error;
    }
  }

  /** Also what a transaction has not written yet. A closing page gets no events, so it can't wait for one transaction before the next. */
  readonly #writeRest = ({ persisted }: PageTransitionEvent): void => {
    if (this.#opened !== null && this.#waiting !== null) this.#finish(this.#opened, this.#missing()).catch(() => {});
    // A page that is gone can keep its lock for seconds. Transactions of the next one run after those of this one.
    if (!persisted) this.#release?.();
  };

  /** Lets others have the edits once they are written. */
  close(): void {
    if (typeof indexedDB === 'undefined') return;
    window.removeEventListener('pagehide', this.#writeRest);
    this.#closing.abort();
    void (this.#draining ?? Promise.resolve()).then(() => {
      this.#release?.();
      this.#release = null;
    });
  }
}
