import { readFile } from 'node:fs/promises';
import { type CellValue, EncryptedFileError, HucreError, readXlsx, type Sheet } from 'hucre';
import { openPromise } from 'yauzl';
import { maxDatasetRows } from '../../../shared/contract/datasets.ts';
import { type Findings, headerOf, type OpenTable, type Row, type TableFile, unreadable } from './table.ts';

/** Of all parts of a workbook. A sheet is parsed at once, in about ten times as much memory. */
const maxWorkbookBytes = 64 * 1_048_576;
const maxParts = 10_000;
/** Cells that merged ranges may fill. */
const maxMergedCells = 1_000_000;

/** The reader never unpacks more than a part claims to have, so the claims are enough. */
async function requireUnpackable(path: string): Promise<void> {
  const archive = await openPromise(path).catch(() => null);
  if (archive === null) throw unreadable('is not a valid workbook');
  try {
    if (archive.entryCount > maxParts) throw unreadable(`is a workbook of more than ${maxParts} parts`);
    let bytes = 0;
    for await (const { uncompressedSize, compressedSize } of archive.eachEntry()) {
      if (uncompressedSize === 0 && compressedSize > 2) throw unreadable('is not a valid workbook');
      bytes += uncompressedSize;
    }
    if (bytes <= maxWorkbookBytes) return;
    const megabytes = Math.round(bytes / 1_048_576).toLocaleString('en');
    throw unreadable(`is a workbook that unpacks to ${megabytes} MB, more than 64 MB; save it as CSV`);
  } finally {
    archive.close();
  }
}

/** Dates count from here. */
const dayZero = Date.UTC(1899, 11, 31);
/** Earlier dates with a time are durations. */
const firstDate = Date.UTC(1900, 2, 1);

/** Text as in a CSV file of the same sheet. Dates are ISO 8601, and times and durations hours, minutes and seconds. */
function textOf(value: CellValue | undefined): string {
  if (value === null || value === undefined) return '';
  if (!(value instanceof Date)) return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
  if (Number.isNaN(value.getTime())) return '';
  const iso = value.toISOString();
  const time = value.getTime();
  // A whole day is rather a date, such as 1900-01-01 for an unknown one.
  if (iso.endsWith('T00:00:00.000Z') && time !== dayZero) return iso.slice(0, 10);
  if (time < dayZero || time >= firstDate) return iso.slice(0, 19);
  const hours = Math.floor((time - dayZero) / 3_600_000);
  return `${String(hours).padStart(2, '0')}${iso.slice(13, 19)}`;
}

/** Gives each cell of a merged range its value, as a person reads it. */
function fillMerged({ rows, merges = [] }: Sheet, findings: Findings): void {
  let filled = 0;
  for (const { startRow, startCol, endRow, endCol } of merges) {
    const value = rows[startRow]?.[startCol] ?? null;
    if (value === null) continue;
    const cells = (Math.min(endRow, rows.length - 1) - startRow + 1) * (endCol - startCol + 1);
    filled += cells;
    if (filled > maxMergedCells) throw unreadable('has merged ranges of more than 1,000,000 cells');
    for (let row = startRow; row <= endRow && row < rows.length; row += 1) {
      for (let column = startCol; column <= endCol; column += 1) rows[row]![column] = value;
    }
  }
  if (filled > 0) findings.add('changed', 'file', 'Each cell of a merged range has its value');
}

async function readSheet(bytes: Uint8Array, name: string | null): Promise<{ sheets: string[]; sheet: Sheet }> {
  const sheets: string[] = [];
  let chosen = name;
  try {
    const { sheets: read } = await readXlsx(bytes, {
      // The header, one row that is too much, and empty rows between them.
      maxRows: 2 * maxDatasetRows,
      sheets(info) {
        sheets.push(info.name);
        const isHidden = info.hidden === true || info.veryHidden === true;
        if (chosen === null && !isHidden) chosen = info.name;
        return info.name === chosen;
      },
    });
    const sheet = read[0];
    if (sheet) return { sheets, sheet };
  } catch (error) {
    if (error instanceof EncryptedFileError) throw unreadable('is protected with a password; save it without one');
    if (error instanceof HucreError) throw unreadable('is not a valid workbook');
    throw error;
  }
  if (name === null && sheets.length > 0) return readSheet(bytes, sheets[0]!);
  throw unreadable(`has no sheet "${(name ?? '').slice(0, 100)}"; it has ${sheets.slice(0, 20).join(', ')}`);
}

function* sheetRows({ rows }: Sheet, findings: Findings, onHeader: (names: readonly string[]) => void): Generator<Row> {
  let header: string[] | null = null;
  for (const [index, row] of rows.entries()) {
    const cells = row.map(textOf);
    while (cells.at(-1) === '') cells.pop();
    if (cells.length === 0) continue;
    if (header === null) {
      header = headerOf(cells, findings);
      onHeader(header);
      continue;
    }
    if (cells.length > header.length)
      throw unreadable(`has ${cells.length} cells in row ${index + 1}, and ${header.length} in its header`);
    yield Object.fromEntries(header.slice(0, cells.length).map((name, column) => [name, cells[column]!]));
  }
}

/** A sheet of an Excel workbook. Formulas have their last calculated values. */
export async function openWorkbook({ path, sheet: name }: TableFile): Promise<OpenTable> {
  await requireUnpackable(path);
  const { sheets, sheet } = await readSheet(await readFile(path), name);
  let isFilled = false;
  let header: readonly string[] = [];
  return {
    format: 'xlsx',
    isText: true,
    sheets,
    sheet: sheet.name,
    header: () => header,
    rows(findings) {
      if (!isFilled) fillMerged(sheet, findings);
      isFilled = true;
      return sheetRows(sheet, findings, (names) => (header = names));
    },
  };
}
