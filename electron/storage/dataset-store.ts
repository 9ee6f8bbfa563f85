import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import type { Dataset, DatasetColumn, DatasetRow, DatasetVersion } from '../../shared/contract/datasets.ts';
import { type ListPage, type ListQuery, newestList } from './list-page.ts';

/** A row of a version that is being written: one that is stored already, or a new one. */
export type WrittenRow =
  { readonly content: number } | { readonly id: string; readonly json: string; readonly fileIds: readonly string[] };

/** A stored row, without its values. */
export interface StoredRow {
  readonly content: number;
  readonly id: string;
}

/** A version that is being written. */
export interface DatasetDraft {
  /** `datasets.sequence`. */
  readonly dataset: number;
  readonly version: number;
}

export interface FinishedVersion {
  readonly columns: readonly DatasetColumn[];
  readonly rowCount: number;
  readonly bytes: number;
  readonly note: string | null;
}

/** Datasets with their versions. Methods with an id throw `not_found`. Rows are read and written in parts, so that none blocks the host. */
export interface DatasetStore {
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<Dataset>;
  /** A null version is the latest one. */
  read(id: string, version: number | null): Dataset;
  listVersions(id: string, query: ListQuery): ListPage<DatasetVersion>;
  rename(id: string, name: string): void;
  /** Up to `limit` rows in their order, fewer if they have more than `maxBytes`; always at least one if there is one. */
  rows(id: string, version: number, page: { offset: number; limit: number; maxBytes: number }): DatasetRow[];
  rowIds(id: string, version: number, page: { offset: number; limit: number }): StoredRow[];
  /** Counts from 0; null for an unknown row. */
  rowNumber(id: string, version: number, rowId: string): number | null;
  /** The id of a new dataset, which has no version yet and is in no list. */
  create(name: string): string;
  /** Begins the next version. Call `finish` or `discard` with it. */
  begin(id: string): DatasetDraft;
  /** Adds rows after those that the version has. Returns their bytes. */
  append(draft: DatasetDraft, position: number, rows: readonly WrittenRow[]): number;
  finish(draft: DatasetDraft, version: FinishedVersion): void;
  discard(draft: DatasetDraft): void;
  /** Hides a dataset with all its versions. `removeSome` deletes its rows. */
  remove(id: string): void;
  /** Deletes some rows of discarded versions and removed datasets. Returns whether there are more. */
  removeSome(): boolean;
}

interface DatasetVersionRow {
  sequence: number;
  id: string;
  name: string;
  created_at: number;
  latest: number;
  version: number;
  columns_json: string;
  row_count: number;
  bytes: number;
  note: string | null;
  version_created_at: number;
  comparisons: number;
}

function versionOf(row: DatasetVersionRow): DatasetVersion {
  return {
    version: row.version,
    columns: JSON.parse(row.columns_json) as DatasetColumn[],
    rowCount: row.row_count,
    bytes: row.bytes,
    note: row.note,
    createdAt: new Date(row.version_created_at).toISOString(),
  };
}

function datasetOf(row: DatasetVersionRow): Dataset {
  const { createdAt: updatedAt, ...version } = versionOf(row);
  return {
    id: row.id,
    name: row.name,
    createdAt: new Date(row.created_at).toISOString(),
    latestVersion: row.latest,
    ...version,
    updatedAt,
    comparisonCount: row.comparisons,
  };
}

const columns = `datasets.sequence, datasets.id, datasets.name, datasets.created_at, found.version, found.columns_json, found.row_count,
  found.bytes, found.note, found.created_at AS version_created_at,
  (SELECT max(version) FROM dataset_versions WHERE dataset = datasets.sequence AND is_complete = 1) AS latest,
  (SELECT count(*) FROM comparisons JOIN comparison_progress ON comparison = comparisons.sequence
   WHERE dataset_id = datasets.id AND state <> 'Removed') AS comparisons`;
const complete =
  'FROM datasets JOIN dataset_versions AS found ON found.dataset = datasets.sequence AND found.is_complete = 1';

/** Rows that one call deletes: a few milliseconds. */
const removedAtOnce = 1000;

function readStatements(database: Database.Database) {
  return {
    page: database.prepare<{ before: number; limit: number }, DatasetVersionRow>(
      `SELECT ${columns} ${complete} WHERE found.version = latest AND datasets.sequence < @before
       ORDER BY datasets.sequence DESC LIMIT @limit`,
    ),
    find: database.prepare<{ id: string; version: number | null }, DatasetVersionRow>(
      `SELECT ${columns} ${complete} WHERE datasets.id = @id AND found.version = coalesce(@version, latest)`,
    ),
    versions: database.prepare<{ id: string; before: number; limit: number }, DatasetVersionRow>(
      `SELECT ${columns} ${complete} WHERE datasets.id = @id AND found.version < @before
       ORDER BY found.version DESC LIMIT @limit`,
    ),
    rows: database.prepare<[number, number, number, number], { id: string; values_json: string }>(
      `SELECT row_id AS id, values_json FROM dataset_rows
       JOIN dataset_row_contents AS contents ON contents.sequence = dataset_rows.content
       WHERE dataset_rows.dataset = ? AND version = ? AND position >= ? ORDER BY position LIMIT ?`,
    ),
    rowNumber: database
      .prepare<{ dataset: number; version: number; rowId: string }, number>(
        `SELECT position FROM dataset_rows WHERE dataset = @dataset AND version = @version AND content =
           (SELECT sequence FROM dataset_row_contents WHERE dataset = @dataset AND row_id = @rowId)`,
      )
      .pluck(),
    rowIds: database.prepare<[number, number, number, number], StoredRow>(
      `SELECT content, row_id AS id FROM dataset_rows
       JOIN dataset_row_contents AS contents ON contents.sequence = dataset_rows.content
       WHERE dataset_rows.dataset = ? AND version = ? AND position >= ? ORDER BY position LIMIT ?`,
    ),
  };
}

function writeStatements(database: Database.Database) {
  return {
    insert: database.prepare<[string, string, number]>('INSERT INTO datasets (id, name, created_at) VALUES (?, ?, ?)'),
    sequence: database.prepare<[string], number>('SELECT sequence FROM datasets WHERE id = ?').pluck(),
    rename: database.prepare<[string, string]>('UPDATE datasets SET name = ? WHERE id = ?'),
    begin: database
      .prepare<[{ dataset: number; now: number }], number>(
        `INSERT INTO dataset_versions (dataset, version, is_complete, columns_json, row_count, bytes, created_at)
         SELECT @dataset, coalesce(max(version), 0) + 1, 0, '[]', 0, 0, @now FROM dataset_versions WHERE dataset = @dataset
         RETURNING version`,
      )
      .pluck(),
    insertContent: database
      .prepare<[number, string, string], number>(
        `INSERT INTO dataset_row_contents (dataset, row_id, values_json) VALUES (?, ?, ?)
         ON CONFLICT DO NOTHING RETURNING sequence`,
      )
      .pluck(),
    content: database
      .prepare<[number, string], number>('SELECT sequence FROM dataset_row_contents WHERE dataset = ? AND row_id = ?')
      .pluck(),
    contentBytes: database
      .prepare<[number], number>('SELECT octet_length(values_json) FROM dataset_row_contents WHERE sequence = ?')
      .pluck(),
    insertFile: database.prepare<[string, number]>('INSERT OR IGNORE INTO dataset_files (file, content) VALUES (?, ?)'),
    insertRow: database.prepare<[number, number, number, number]>(
      'INSERT INTO dataset_rows (dataset, version, position, content) VALUES (?, ?, ?, ?)',
    ),
    finish: database.prepare(
      `UPDATE dataset_versions
       SET is_complete = 1, columns_json = @columns, row_count = @rowCount, bytes = @bytes, note = @note, created_at = @now
       WHERE dataset = @dataset AND version = @version`,
    ),
  };
}

/** What `removeSome` runs in order until a statement has deleted something. */
function removalStatements(database: Database.Database) {
  return {
    hide: database.prepare<[number]>('UPDATE dataset_versions SET is_complete = 0 WHERE dataset = ?'),
    hideOne: database.prepare<[number, number]>(
      'UPDATE dataset_versions SET is_complete = 0 WHERE dataset = ? AND version = ?',
    ),
    discarded: database.prepare<[], { dataset: number; version: number }>(
      'SELECT dataset, version FROM dataset_versions WHERE is_complete = 0',
    ),
    rows: database.prepare<[number, number, number]>(
      `DELETE FROM dataset_rows WHERE (dataset, version, position) IN (
         SELECT dataset, version, position FROM dataset_rows WHERE dataset = ? AND version = ? LIMIT ?)`,
    ),
    otherVersion: database.prepare<[number, number], 1>(
      'SELECT 1 FROM dataset_versions WHERE dataset = ? AND version <> ? AND is_complete = 1',
    ),
    contents: database.prepare<[number, number]>(
      'DELETE FROM dataset_row_contents WHERE sequence IN (SELECT sequence FROM dataset_row_contents WHERE dataset = ? LIMIT ?)',
    ),
    unusedContents: database.prepare<[number, number, number]>(
      `DELETE FROM dataset_row_contents WHERE sequence IN (
         SELECT sequence FROM dataset_row_contents
         WHERE dataset = ? AND sequence NOT IN (SELECT content FROM dataset_rows WHERE dataset = ?) LIMIT ?)`,
    ),
    version: database.prepare<[number, number]>('DELETE FROM dataset_versions WHERE dataset = ? AND version = ?'),
    dataset: database.prepare<[number]>(
      'DELETE FROM datasets WHERE sequence = ? AND NOT EXISTS (SELECT 1 FROM dataset_versions WHERE dataset = datasets.sequence)',
    ),
  };
}

/** Deletes some rows of a discarded version, and at last the version. */
function removeSomeOf({ dataset, version }: DatasetDraft, removals: ReturnType<typeof removalStatements>): void {
  if (removals.rows.run(dataset, version, removedAtOnce).changes > 0) return;
  const removed =
    removals.otherVersion.get(dataset, version) === undefined
      ? removals.contents.run(dataset, removedAtOnce)
      : removals.unusedContents.run(dataset, dataset, removedAtOnce);
  if (removed.changes > 0) return;
  removals.version.run(dataset, version);
  removals.dataset.run(dataset);
}

function createDatasetReader(database: Database.Database, tokenSecret: string) {
  const reads = readStatements(database);

  function required(id: string, version: number | null): DatasetVersionRow {
    const row = reads.find.get({ id: id.toLowerCase(), version });
    if (row) return row;
    const isKnown = version !== null && reads.find.get({ id: id.toLowerCase(), version: null }) !== undefined;
    throw new AppError('not_found', isKnown ? `The dataset has no version ${version}.` : 'No dataset has this ID.');
  }

  const reader: Pick<DatasetStore, 'list' | 'read' | 'listVersions' | 'rows' | 'rowIds' | 'rowNumber'> = {
    list: newestList({ tokenSecret, name: 'datasets', rows: (page) => reads.page.all(page), toItem: datasetOf }),
    read: (id, version) => datasetOf(required(id, version)),
    listVersions(id, query) {
      const dataset = required(id, null);
      const rows = (page: { before: number; limit: number }) =>
        reads.versions.all({ ...page, id: dataset.id }).map((row) => ({ ...row, sequence: row.version }));
      return newestList({ tokenSecret, name: `versions of ${dataset.id}`, rows, toItem: versionOf })(query);
    },
    rows(id, version, { offset, limit, maxBytes }) {
      const rows: DatasetRow[] = [];
      let bytes = 0;
      for (const row of reads.rows.iterate(required(id, version).sequence, version, offset, limit)) {
        bytes += row.values_json.length;
        if (rows.length > 0 && bytes > maxBytes) break;
        rows.push({ id: row.id, values: JSON.parse(row.values_json) as DatasetRow['values'] });
      }
      return rows;
    },
    rowNumber: (id, version, rowId) =>
      reads.rowNumber.get({ dataset: required(id, version).sequence, version, rowId }) ?? null,
    rowIds: (id, version, { offset, limit }) =>
      reads.rowIds.all(required(id, version).sequence, version, offset, limit),
  };
  return { ...reader, required };
}

/** Writes rows of a draft in one transaction, and returns their bytes. Equal rows of a dataset share their content. */
function createRowWriter(database: Database.Database, writes: ReturnType<typeof writeStatements>) {
  function contentOf(dataset: number, row: WrittenRow): number {
    if ('content' in row) return row.content;
    const inserted = writes.insertContent.get(dataset, row.id, row.json);
    const content = inserted ?? writes.content.get(dataset, row.id)!;
    // Also of a stored content: the same JSON names no file in a column of another type.
    for (const fileId of row.fileIds) writes.insertFile.run(fileId, content);
    return content;
  }

  return database.transaction((draft: DatasetDraft, position: number, rows: readonly WrittenRow[]) => {
    let bytes = 0;
    for (const [index, row] of rows.entries()) {
      const content = contentOf(draft.dataset, row);
      writes.insertRow.run(draft.dataset, draft.version, position + index, content);
      bytes += 'json' in row ? Buffer.byteLength(row.json) : writes.contentBytes.get(content)!;
    }
    return bytes;
  });
}

/** `onWrite` is called after rows were written: a large import fills the database's log, which a thread writes back. */
export function createDatasetStore(
  database: Database.Database,
  tokenSecret: string,
  onWrite: () => void = () => {},
): DatasetStore {
  const { required, ...reader } = createDatasetReader(database, tokenSecret);
  const writes = writeStatements(database);
  const removals = removalStatements(database);
  const append = createRowWriter(database, writes);
  const active = new Set<string>();
  // A crash can leave a dataset without its first version.
  database.exec('DELETE FROM datasets WHERE sequence NOT IN (SELECT dataset FROM dataset_versions)');
  const keyOf = ({ dataset, version }: DatasetDraft) => `${dataset}/${version}`;

  const removeSome = database.transaction((): boolean => {
    const next = removals.discarded.all().find((draft) => !active.has(keyOf(draft)));
    if (next) removeSomeOf(next, removals);
    return next !== undefined;
  });

  return {
    ...reader,
    rename: (id, name) => void writes.rename.run(name, required(id, null).id),
    create(name) {
      const id = randomUUID();
      writes.insert.run(id, name, Date.now());
      return id;
    },
    begin(id) {
      const dataset = writes.sequence.get(id.toLowerCase())!;
      const draft = { dataset, version: writes.begin.get({ dataset, now: Date.now() })! };
      active.add(keyOf(draft));
      return draft;
    },
    append(draft, position, rows) {
      const bytes = append.immediate(draft, position, rows);
      onWrite();
      return bytes;
    },
    finish(draft, { columns: list, ...version }) {
      writes.finish.run({ ...draft, ...version, columns: JSON.stringify(list), now: Date.now() });
      active.delete(keyOf(draft));
    },
    discard(draft) {
      removals.hideOne.run(draft.dataset, draft.version);
      active.delete(keyOf(draft));
    },
    remove: (id) => void removals.hide.run(required(id, null).sequence),
    removeSome: () => removeSome.immediate(),
  };
}
