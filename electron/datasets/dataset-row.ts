import { createHash } from 'node:crypto';
import { AppError, invalidField } from '../../shared/app-error.ts';
import {
  type DatasetColumn,
  maxDatasetBytes,
  maxDatasetRows,
  maxRowBytes,
  type RowValues,
} from '../../shared/contract/datasets.ts';
import { fileIdOf } from '../../shared/dataset-values.ts';

/** A checked row: its values as JSON with sorted names, and the files in it. */
export interface CheckedRow {
  readonly json: string;
  readonly fileIds: readonly string[];
}

/** Whether the caller may use a file. */
export type HasFile = (fileId: string) => boolean;

/** Checks the values of rows against the columns of their version. */
export class RowChecker {
  readonly #types: ReadonlyMap<string, DatasetColumn['type']>;
  readonly #names: readonly string[];
  readonly #hasFile: HasFile;

  constructor(columns: readonly DatasetColumn[], hasFile: HasFile) {
    this.#types = new Map(columns.map(({ name, type }) => [name, type]));
    this.#names = columns.map(({ name }) => name).toSorted();
    this.#hasFile = hasFile;
  }

  /** Throws `invalid_request` that names the field below `field`. */
  check(values: RowValues, field: string): CheckedRow {
    for (const name of Object.keys(values)) {
      if (!this.#types.has(name))
        throw invalidField(`${field}.${name.slice(0, 100)}`, 'is not a column of the dataset');
    }
    const checked: Record<string, unknown> = {};
    const fileIds: string[] = [];
    for (const name of this.#names) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === null || value === undefined) continue;
      checked[name] = this.#checkValue(value, this.#types.get(name)!, `${field}.${name}`, fileIds);
    }
    const json = JSON.stringify(checked);
    if (Buffer.byteLength(json) > maxRowBytes) throw invalidField(field, 'is larger than 4 MB');
    return { json, fileIds };
  }

  /** The values that remain when the columns have changed. */
  checkRemaining(values: RowValues, field: string): CheckedRow {
    return this.check(Object.fromEntries(Object.entries(values).filter(([name]) => this.#types.has(name))), field);
  }

  #checkValue(value: unknown, type: DatasetColumn['type'], field: string, fileIds: string[]): unknown {
    if (type === 'text') {
      if (typeof value !== 'string') throw invalidField(field, 'must be text, as its column is of the type `text`');
      return value;
    }
    if (type !== 'file') return value;
    const fileId = fileIdOf(value);
    if (fileId === null) throw invalidField(field, 'must be `{"fileId": "…"}`, as its column is of the type `file`');
    if (!this.#hasFile(fileId))
      throw invalidField(field, 'is not a file', `${field}: no file has this ID. Send it with POST /files first.`);
    fileIds.push(fileId);
    return { fileId };
  }
}

/**
 * Ids of the rows of one version. A row's id is the hash of its values; further rows with the same values get a number. So a row
 * keeps its id in the next version, unless an equal row before it goes.
 */
export class RowIds {
  readonly #used: Set<string>;
  readonly #occurrences = new Map<string, number>();

  /** `taken` are the ids of the rows that stay in the version. */
  constructor(taken: Iterable<string> = []) {
    this.#used = new Set(taken);
  }

  next(json: string): string {
    const hash = createHash('sha256').update(json).digest('hex').slice(0, 32);
    for (let occurrence = (this.#occurrences.get(hash) ?? 0) + 1; ; occurrence += 1) {
      const id = occurrence === 1 ? hash : `${hash}-${occurrence}`;
      if (this.#used.has(id)) continue;
      this.#used.add(id);
      this.#occurrences.set(hash, occurrence);
      return id;
    }
  }
}

/** Counts what a version may have. */
export class VersionSize {
  #rows = 0;
  #bytes = 0;

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Throws `payload_too_large` with the limit that is exceeded. */
  add(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    if (this.#rows > maxDatasetRows) throw tooManyRows(this.#rows);
    if (this.#bytes > maxDatasetBytes) {
      throw new AppError(
        'payload_too_large',
        'The rows are larger than 200 MB (209,715,200 bytes). Split the dataset.',
      );
    }
  }
}

export function tooManyRows(rows: number): AppError {
  return new AppError(
    'payload_too_large',
    `A dataset has at most 100,000 rows, and this one has ${rows.toLocaleString('en')} or more. Split it.`,
  );
}
