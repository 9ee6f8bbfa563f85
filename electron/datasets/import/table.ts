import { AppError } from '../../../shared/app-error.ts';
import type { Check } from '../../../shared/contract/checks.ts';
import type {
  DatasetFormat,
  ImportEntry,
  ImportReport,
  JudgeProposal,
} from '../../../shared/contract/dataset-import.ts';
import { type DatasetColumn, maxDatasetColumns, type RowValues } from '../../../shared/contract/datasets.ts';

/** A file that holds a table. */
export interface TableFile {
  readonly path: string;
  /** As the caller names it. Only its extension counts. */
  readonly fileName: string;
  /** Null: detected. */
  readonly format: DatasetFormat | null;
  /** Null: the first one. */
  readonly sheet: string | null;
  /** The configuration that the rows belong to, as JSON or YAML. */
  readonly definition?: string | null;
  /** Names of files. A column of such names has the type `file`. */
  readonly fileNames?: readonly string[];
  /** Texts that came with the table: its definition, and what it refers to. */
  readonly companions?: readonly Companion[];
}

/** A text file beside a table. */
export interface Companion {
  /** Its path in the archive, as `TableFile.fileName`. */
  readonly name: string;
  readonly path: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** A file whose format is known. */
export interface OpenTable {
  readonly format: DatasetFormat;
  readonly sheets?: readonly string[];
  readonly sheet?: string | null;
  /** All rows from the first one on. Throws `invalid_request` that names the line. */
  rows(findings: Findings): AsyncIterable<Row> | Iterable<Row>;
  /** Names of columns in the order of the file, which objects don't have for names that are numbers. Complete after the first row. */
  readonly header?: () => readonly string[];
  /** Whether all values are text, as in CSV. Those of a JSON column are read as JSON then. */
  readonly isText?: boolean;
  /** Types of columns that the format determines. Complete after the last row. */
  readonly types?: ReadonlyMap<string, DatasetColumn['type']>;
  /** Complete after the last row. */
  readonly checks?: () => readonly Check[];
  readonly judges?: () => readonly JudgeProposal[];
}

/** What the inspection of a file finds. */
export interface InspectedTable {
  readonly columns: (DatasetColumn & { readonly missing: number })[];
  readonly rowCount: number;
  /** The first rows in the types of their columns, with long texts cut. */
  readonly rows: RowValues[];
  readonly report: ImportReport;
}

export function unreadable(issue: string): AppError {
  return new AppError('invalid_request', `The file ${issue}.`, { details: [{ field: 'file', issue }] });
}

const maxFindings = 200;
const maxFieldCharacters = 200;

/** Collects what was changed or left out. Equal findings are counted. */
export class Findings {
  readonly #entries = new Map<string, { -readonly [Key in keyof ImportEntry]: ImportEntry[Key] }>();
  #others = 0;

  /** `rows` is null for a finding about the whole file. */
  add(outcome: ImportEntry['outcome'], field: string, message: string, rows: number | null = null): void {
    const shown = field.length > maxFieldCharacters ? `${field.slice(0, maxFieldCharacters)}…` : field;
    const key = JSON.stringify([outcome, shown, message]);
    const known = this.#entries.get(key);
    if (known) known.rows = rows === null ? known.rows : (known.rows ?? 0) + rows;
    else if (this.#entries.size < maxFindings) this.#entries.set(key, { outcome, field: shown, message, rows });
    else this.#others += 1;
  }

  list(): ImportEntry[] {
    const entries = [...this.#entries.values()];
    if (this.#others > 0) {
      const message = `${this.#others.toLocaleString('en')} more findings are not listed`;
      entries.push({ outcome: 'skipped', field: 'file', message, rows: null });
    }
    return entries;
  }
}

/** The name of the file that a cell names; null for none. */
export type FileFinder = (cell: string) => string | null;

/** Files that were chosen one by one have lost their folders, so that the last part of a path names them. */
export function fileFinder(names: ReadonlySet<string>): FileFinder {
  const hasFolders = [...names].some((name) => name.includes('/'));
  return (cell) => {
    if (names.has(cell)) return cell;
    const last = cell.slice(Math.max(cell.lastIndexOf('/'), cell.lastIndexOf('\\')) + 1);
    return !hasFolders && names.has(last) ? last : null;
  };
}

/** Unique names for the cells of a header. */
export function headerOf(cells: readonly string[], findings: Findings): string[] {
  if (cells.length > maxDatasetColumns) {
    throw unreadable(`has ${cells.length.toLocaleString('en')} columns, more than ${maxDatasetColumns}`);
  }
  const used = new Set<string>();
  return cells.map((cell, index) => {
    const name =
      cell
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 190) || `Column ${index + 1}`;
    let unique = name === '__proto__' ? '__proto__ ' : name;
    for (let number = 2; used.has(unique); number += 1) unique = `${name} (${number})`;
    if (unique !== name) findings.add('changed', name, `Renamed "${unique}", because the name is used more than once`);
    used.add(unique);
    return unique;
  });
}
