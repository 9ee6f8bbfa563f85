import {
  type EditedColumn,
  type EditedRow,
  type Segment,
  type TableDocument,
  createDocument,
} from './table-document.ts';
import { yieldToWindow } from './time-slices.ts';

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
 * not 100,000 rows. Only one window of a browser writes the edits of a dataset.
 */
export class EditStorage {
  #written = new Set<string>();
  #waiting: StoredEdits | 'nothing' | null = null;
  #isWriting = false;
  #release: (() => void) | null = null;

  readonly #datasetId: string;

  constructor(datasetId: string) {
    this.#datasetId = datasetId;
  }

  /** Returns false if another window has the edits of this dataset; nothing is stored then. */
  async open(): Promise<boolean> {
    if (typeof indexedDB === 'undefined') return true;
    if (typeof navigator.locks === 'undefined') return true;
    return new Promise((resolve) => {
      void navigator.locks.request(`${databaseName}/${this.#datasetId}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        if (lock === null) return undefined;
        return new Promise<void>((release) => {
          this.#release = release;
        });
      });
    });
  }

  async read(): Promise<StoredEdits | null> {
    if (typeof indexedDB === 'undefined') return null;
    try {
      const transaction = (await database()).transaction(['tables', 'segments']);
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

  /** Writes edits; null removes them. Edits during a write share the next one. */
  write(edits: StoredEdits | null): void {
    if (typeof indexedDB === 'undefined' || (this.#release === null && typeof navigator.locks !== 'undefined')) return;
    this.#waiting = edits ?? 'nothing';
    void this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      const opened = await database();
      while (this.#waiting !== null) {
        const next: StoredEdits | 'nothing' = this.#waiting;
        this.#waiting = null;
        await this.#writeAll(opened, next === 'nothing' ? null : next);
      }
    } catch (cause) {
      console.warn("Couldn't write unsaved edits to IndexedDB. They last until the window closes.", cause);
    } finally {
      this.#isWriting = false;
    }
  }

  async #writeAll(opened: IDBDatabase, edits: StoredEdits | null): Promise<void> {
    const segments = edits?.table.segments.filter((segment) => 'rows' in segment) ?? [];
    const added = segments.filter(({ id }) => !this.#written.has(id));
    for (let index = 0; index < added.length; index += segmentsAtOnce) {
      const transaction = opened.transaction('segments', 'readwrite');
      for (const { id, rows } of added.slice(index, index + segmentsAtOnce))
        transaction.objectStore('segments').put(rows, [this.#datasetId, id]);
      await completed(transaction);
      await yieldToWindow();
    }
    const transaction = opened.transaction(['tables', 'segments'], 'readwrite', { durability: 'strict' });
    const used = new Set(segments.map(({ id }) => id));
    const stale = [...this.#written].filter((id) => !used.has(id));
    for (const id of stale) transaction.objectStore('segments').delete([this.#datasetId, id]);
    if (edits === null) transaction.objectStore('tables').delete(this.#datasetId);
    else {
      const { columns, segments: all } = edits.table;
      const record: TableRecord = {
        baseVersion: edits.baseVersion,
        columns,
        segments: all.map((segment) => ('rows' in segment ? { id: segment.id } : segment)),
      };
      transaction.objectStore('tables').put(record, this.#datasetId);
    }
    await completed(transaction);
    this.#written = used;
  }

  close(): void {
    this.#release?.();
    this.#release = null;
  }
}
