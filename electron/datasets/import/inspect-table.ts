import {
  columnName,
  type DatasetColumn,
  maxDatasetColumns,
  maxDatasetRows,
  type RowValues,
} from '../../../shared/contract/datasets.ts';
import { parsedOr } from '../../../shared/dataset-values.ts';
import { tooManyRows } from '../dataset-row.ts';
import {
  type FileFinder,
  fileFinder,
  Findings,
  type InspectedTable,
  type OpenTable,
  type Row,
  unreadable,
} from './table.ts';

const previewedRows = 50;
const previewedCharacters = 1000;
/** Rows that are counted for the error that they are too many. */
const maxCountedRows = 10 * maxDatasetRows;

/** Names of columns that hold what an answer should be, in the files of other programs. */
const expectedName =
  /^(?:expected|expected[ _-]?(?:output|answer|result|response)|ideal|reference|ground[ _-]?truth|__expected\d*)$/i;

interface FoundColumn {
  type: DatasetColumn['type'];
  missing: number;
  /** Values that are names of files. */
  files: number;
}

function typeOf(name: string, value: unknown, known: DatasetColumn['type'] | undefined): DatasetColumn['type'] {
  if (expectedName.test(name)) return 'expected';
  return typeof value === 'string' || value === null || value === undefined ? (known ?? 'text') : 'json';
}

const nameForError = (name: string) => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);

const hasNoValue = (value: unknown) => value === null || value === undefined || value === '';

/** A value for the preview: long ones become the start of their text. */
function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length > previewedCharacters ? `${text.slice(0, previewedCharacters)}…` : value;
}

/** Adds a row to the columns that were found before it, which are `rows` rows. */
function addColumns(columns: Map<string, FoundColumn>, row: Row, rows: number, findFile: FileFinder): void {
  for (const [name, value] of Object.entries(row)) {
    const known = columns.get(name);
    const type = typeOf(name, value, known?.type);
    if (known) known.type = type;
    else {
      if (!columnName.safeParse(name).success)
        throw unreadable(`has a name that no column can have: ${nameForError(name)}`);
      columns.set(name, { type, missing: rows, files: 0 });
    }
    if (columns.size > maxDatasetColumns) throw unreadable(`has more than ${maxDatasetColumns} columns`);
  }
  for (const [name, column] of columns) {
    if (!Object.hasOwn(row, name) || hasNoValue(row[name])) column.missing += 1;
    else if (typeof row[name] === 'string' && findFile(row[name]) !== null) column.files += 1;
  }
}

/** The first thing that was left out, which may be why there is nothing. */
function reasonIn(findings: Findings): string {
  const skipped = findings.list().find(({ outcome }) => outcome === 'skipped');
  return skipped ? `: ${skipped.field}: ${skipped.message}` : '';
}

/** Reads all rows. A column whose values are not all text is JSON. Throws `payload_too_large`, and `invalid_request` with the line. */
export async function inspectTable(
  table: OpenTable,
  fileNames: ReadonlySet<string> = new Set(),
): Promise<InspectedTable> {
  const found = new Map<string, FoundColumn>();
  const findFile = fileFinder(fileNames);
  const findings = new Findings();
  const first: Row[] = [];
  let rowCount = 0;
  for await (const row of table.rows(findings)) {
    addColumns(found, row, rowCount, findFile);
    rowCount += 1;
    if (rowCount > maxCountedRows) throw tooManyRows(rowCount);
    if (first.length >= previewedRows) continue;
    first.push(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shortened(value)])));
  }
  if (rowCount > maxDatasetRows) throw tooManyRows(rowCount);
  if (rowCount === 0) throw unreadable(`has no rows${reasonIn(findings)}`);
  if (found.size === 0) throw unreadable(`has rows without values${reasonIn(findings)}`);
  const names = new Set([...(table.header?.() ?? []), ...found.keys()].filter((name) => found.has(name)));
  const columns = [...names].map((name) => {
    const { type, missing, files } = found.get(name)!;
    const unknown = rowCount - missing - files;
    if (files > 0 && unknown > 0)
      findings.add(
        'changed',
        name,
        'Rows name a file that did not come with the table, so the column is text',
        unknown,
      );
    const isFile = files > 0 && unknown === 0;
    return { name, type: isFile ? 'file' : (table.types?.get(name) ?? type), missing };
  });
  for (const { name, missing } of columns) {
    // Columns of checks that not every row has.
    if (missing > 0 && !name.startsWith('__expected'))
      findings.add('missing', name, 'Rows have no value in this column', missing);
  }
  const checks = [...(table.checks?.() ?? [])];
  const judges = [...(table.judges?.() ?? [])];
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const parsed = new Set(table.isText === true ? types.keys() : []);
  return {
    columns,
    rowCount,
    rows: first.map((row) => typedValues(row, types, parsed)),
    report: {
      format: table.format,
      sheets: [...(table.sheets ?? [])],
      sheet: table.sheet ?? null,
      entries: findings.list(),
      checks,
      judges,
    },
  };
}

/** The values of a row in the types of its columns. The texts of `parsed` columns may be JSON. */
export function typedValues(
  row: Row,
  types: ReadonlyMap<string, DatasetColumn['type']>,
  parsed: ReadonlySet<string>,
): RowValues {
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    const type = types.get(name);
    if (type === undefined) return [];
    if (type === 'json' && typeof value === 'string' && parsed.has(name)) return [[name, parsedOr(value)]];
    return [[name, type === 'text' && typeof value !== 'string' && value !== null ? JSON.stringify(value) : value]];
  });
  return Object.fromEntries(entries);
}
