import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type { DatasetDifference } from '../../shared/contract/dataset-edits.ts';
import type {
  Dataset,
  DatasetColumn,
  DatasetInput,
  DatasetRow,
  DatasetRows,
  DatasetVersionInput,
  RowValues,
} from '../../shared/contract/datasets.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';
import type { Log } from '../log.ts';
import type { DatasetDraft, DatasetStore, WrittenRow } from '../storage/dataset-store.ts';
import type { FileReader, FileStore } from '../storage/file-store.ts';
import { changedRows, checkedRows } from './changed-rows.ts';
import { RowChecker, RowIds, VersionSize } from './dataset-row.ts';
import { editedRowsOf, readEditedColumns } from './edited-rows.ts';
import { differenceOf } from './version-difference.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

/** Who creates rows: their files must be readable for them. */
export interface RowAuthor extends Cancellable {
  readonly reader: FileReader;
}

/** Rows as they are read from a file. `columns` is final when the last row was read. */
export interface IncomingRows {
  readonly rows: AsyncIterable<readonly RowValues[]>;
  readonly columns: () => readonly DatasetColumn[];
}

/** A new version as a file of edits; see `shared/contract/dataset-edits.ts`. */
export interface DatasetEdits {
  readonly path: string;
  readonly baseVersion: number;
  /** The latest version that the author knows of; null if any may be. */
  readonly latestVersion: number | null;
  readonly note: string | null;
}

/** Methods with an id throw `not_found`. */
export interface Datasets extends Pick<DatasetStore, 'list' | 'read' | 'listVersions'> {
  /** Throws `invalid_request` with the field of an invalid row, and `payload_too_large`. */
  create(input: DatasetInput, author: RowAuthor): Promise<Dataset>;
  /** As `create`, for rows that arrive in parts. */
  import(name: string, incoming: IncomingRows, author: RowAuthor): Promise<Dataset>;
  /** A function gets the latest version, which none follows until its own is written. */
  addVersion(
    id: string,
    input: DatasetVersionInput | ((latest: Dataset) => DatasetVersionInput),
    author: RowAuthor,
  ): Promise<Dataset>;
  /** Throws `conflict` if there is a later version than the author knows of, and `invalid_request`. */
  edit(id: string, edits: DatasetEdits, author: RowAuthor): Promise<Dataset>;
  /** Counts what differs from another version; null is the one before it. */
  difference(id: string, version: number, base: number | null, options: Cancellable): Promise<DatasetDifference>;
  rename(id: string, name: string): Dataset;
  rows(id: string, page: { version: number | null; offset: number; limit: number }): DatasetRows;
  /** All rows of a version, in parts. */
  eachRow(id: string, version: number): Generator<DatasetRow[]>;
  /** Throws `conflict` while a comparison uses it. */
  remove(id: string, options: Cancellable): Promise<void>;
  close(): Promise<void>;
}

export interface DatasetsOptions {
  readonly store: DatasetStore;
  readonly files: Pick<FileStore, 'find'>;
  /** The name of a comparison that uses a dataset; null if there is none. */
  readonly comparisonWith: (datasetId: string) => string | null;
  readonly log: Log;
}

/** Rows that are checked and written in one turn of the event loop: a few milliseconds. */
const rowsAtOnce = 250;
/** Characters of the same. */
const charactersAtOnce = 262_144;
/** Of the values in one response. */
const maxPageBytes = 4 * 1_048_576;

/** Groups rows for one transaction each. */
async function* batchesOf(rows: Iterable<WrittenRow> | AsyncIterable<WrittenRow>): AsyncGenerator<WrittenRow[]> {
  let batch: WrittenRow[] = [];
  let characters = 0;
  for await (const row of rows) {
    batch.push(row);
    characters += 'json' in row ? row.json.length : 0;
    if (batch.length < rowsAtOnce && characters < charactersAtOnce) continue;
    // Checking and writing a row of 4 MB take too long for one turn.
    if (characters >= charactersAtOnce) await nextTurn();
    yield batch;
    batch = [];
    characters = 0;
    await nextTurn();
  }
  if (batch.length > 0) yield batch;
}

/** Adds all rows of a version. Resolves with its columns. */
type Fill = (add: (batch: readonly WrittenRow[]) => void) => Promise<readonly DatasetColumn[]>;

function fillWith(columns: readonly DatasetColumn[], rows: Iterable<WrittenRow> | AsyncIterable<WrittenRow>): Fill {
  return async (add) => {
    for await (const batch of batchesOf(rows)) add(batch);
    return columns;
  };
}

interface VersionWriter {
  /** Writes a version in parts. If it fails, nothing of it stays. */
  write(id: string, note: string | null, options: Cancellable, fill: Fill): Promise<Dataset>;
  /** Deletes what was discarded or removed, while other work continues. */
  removeDiscarded(): void;
  close(): Promise<void>;
}

function createVersionWriter(store: DatasetStore, log: Log): VersionWriter {
  const closing = new AbortController();
  let removal: Promise<void> | null = null;

  async function removeAll(): Promise<void> {
    try {
      while (!closing.signal.aborted && store.removeSome()) await nextTurn();
    } catch (error) {
      log('rows of removed datasets could not be deleted', error);
    } finally {
      removal = null;
    }
  }

  const removeDiscarded = () => void (removal ??= removeAll());
  removeDiscarded();

  return {
    removeDiscarded,
    async write(id, note, { signal }, fill) {
      const draft: DatasetDraft = store.begin(id);
      const size = new VersionSize();
      try {
        const columns = await fill((batch) => {
          signal.throwIfAborted();
          closing.signal.throwIfAborted();
          size.add(batch.length, 0);
          size.add(0, store.append(draft, size.rows - batch.length, batch));
        });
        store.finish(draft, { columns, rowCount: size.rows, bytes: size.bytes, note });
      } catch (error) {
        store.discard(draft);
        removeDiscarded();
        throw error;
      }
      return store.read(id, draft.version);
    },
    async close() {
      closing.abort(new AppError('provider_not_configured', 'Touchstone is shutting down.'));
      await removal;
    },
  };
}

/** A function that does one task at a time for each dataset. */
function createExclusively() {
  const mutexes = new Map<string, Mutex>();
  return async <Result>(id: string, signal: AbortSignal, task: () => Promise<Result>): Promise<Result> => {
    const key = id.toLowerCase();
    const mutex = mutexes.get(key) ?? createMutex(() => {});
    mutexes.set(key, mutex);
    const release = await mutex.take({ signal });
    try {
      return await task();
    } finally {
      release();
    }
  };
}

function* eachRow(store: DatasetStore, id: string, version: number): Generator<DatasetRow[]> {
  const { rowCount } = store.read(id, version);
  for (let offset = 0; offset < rowCount;) {
    const rows = store.rows(id, version, { offset, limit: rowsAtOnce, maxBytes: maxPageBytes });
    if (rows.length === 0) return;
    yield rows;
    offset += rows.length;
  }
}

function requireLatest(known: number | null, { latestVersion }: Dataset): void {
  if (known === null || latestVersion === known) return;
  const message = `Version ${latestVersion} of this dataset was saved since version ${known}.`;
  throw new AppError('conflict', message);
}

function requireUnused(comparison: string | null): void {
  if (comparison === null) return;
  const message = `The comparison "${comparison}" uses this dataset. Delete the comparison first.`;
  throw new AppError('conflict', message);
}

/** What the first version is compared with. */
const noVersion = (first: Dataset): Dataset => ({ ...first, version: 0, columns: [], rowCount: 0 });

/** What writes a version of a dataset. */
function createVersions(
  { store, files }: DatasetsOptions,
  writer: ReturnType<typeof createVersionWriter>,
  exclusively: ReturnType<typeof createExclusively>,
): Pick<Datasets, 'create' | 'import' | 'addVersion' | 'edit'> {
  const hasFileFor = (reader: FileReader) => (fileId: string) => files.find(fileId, reader) !== null;

  return {
    create({ name, columns, rows, note }, author) {
      const checker = new RowChecker(columns, hasFileFor(author.reader));
      const checked = checkedRows(rows, checker, new RowIds(), 'rows');
      return writer.write(store.create(name), note ?? null, author, fillWith(columns, checked));
    },
    import(name, incoming, author) {
      const ids = new RowIds();
      return writer.write(store.create(name), null, author, async (add) => {
        let first = 0;
        for await (const rows of incoming.rows) {
          const checker = new RowChecker(incoming.columns(), hasFileFor(author.reader));
          for await (const batch of batchesOf(checkedRows(rows, checker, ids, 'rows', first))) add(batch);
          first += rows.length;
        }
        if (first === 0) throw invalidField('file', 'has no rows', 'The file has no rows.');
        return incoming.columns();
      });
    },
    addVersion(id, given, author) {
      return exclusively(id, author.signal, async () => {
        const input = typeof given === 'function' ? given(store.read(id, null)) : given;
        const base = store.read(id, input.baseVersion ?? null);
        const columns = input.columns ?? base.columns;
        const checker = new RowChecker(columns, hasFileFor(author.reader));
        const types = new Map(columns.map(({ name, type }) => [name, type]));
        const areValuesSame = base.columns.every(({ name, type }) => types.get(name) === type);
        const rows = input.rows
          ? checkedRows(input.rows, checker, new RowIds(), 'rows')
          : changedRows({ base, changes: input.changes ?? {}, checker, areValuesSame, store });
        return writer.write(id, input.note ?? null, author, fillWith(columns, rows));
      });
    },
    edit(id, { path, baseVersion, latestVersion, note }, author) {
      return exclusively(id, author.signal, async () => {
        const base = store.read(id, baseVersion);
        requireLatest(latestVersion, base);
        const edited = await readEditedColumns(path);
        const columns = edited.map(({ name, type }) => ({ name, type }));
        const checker = new RowChecker(columns, hasFileFor(author.reader));
        const rows = editedRowsOf({ path, columns: edited, base, checker, store });
        return writer.write(id, note, author, fillWith(columns, rows));
      });
    },
  };
}

export function createDatasets(datasets: DatasetsOptions): Datasets {
  const { store, comparisonWith, log } = datasets;
  const writer = createVersionWriter(store, log);
  const exclusively = createExclusively();

  return {
    list: store.list,
    read: store.read,
    listVersions: store.listVersions,
    ...createVersions(datasets, writer, exclusively),
    difference: async (id, version, base, options) =>
      differenceOf(
        store,
        version === 1 && base === null ? noVersion(store.read(id, 1)) : store.read(id, base ?? version - 1),
        store.read(id, version),
        options,
      ),
    rename(id, name) {
      store.rename(id, name);
      return store.read(id, null);
    },
    rows(id, { version, offset, limit }) {
      const { rowCount: total, version: found } = store.read(id, version);
      return { data: store.rows(id, found, { offset, limit, maxBytes: maxPageBytes }), offset, total };
    },
    eachRow: (id, version) => eachRow(store, id, version),
    remove: (id, { signal }) =>
      exclusively(id, signal, async () => {
        const { id: datasetId } = store.read(id, null);
        requireUnused(comparisonWith(datasetId));
        store.remove(datasetId);
        writer.removeDiscarded();
      }),
    close: writer.close,
  };
}
