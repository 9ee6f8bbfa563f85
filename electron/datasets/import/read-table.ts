import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import papaparse from 'papaparse';
import { AppError } from '../../../shared/app-error.ts';
import {
  type DatasetColumn,
  maxDatasetColumns,
  maxDatasetRows,
  type RowValues,
} from '../../../shared/contract/datasets.ts';
import { parsedOr } from '../../../shared/dataset-values.ts';
import { tooManyRows } from '../dataset-row.ts';

/** A table in a file. */
export interface TableFile {
  readonly path: string;
  /** As the caller names it. Only its extension counts. */
  readonly fileName: string;
}

type Row = Record<string, unknown>;

/** Of a JSON document, which is parsed at once. */
const maxDocumentBytes = 64 * 1_048_576;
const headBytes = 65_536;

function unreadable(issue: string): AppError {
  return new AppError('invalid_request', `The file ${issue}.`, { details: [{ field: 'file', issue }] });
}

async function readHead(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** The encoding of a text file: by its byte order mark, else UTF-8, else the one of old spreadsheets. */
function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (head.includes(0)) throw unreadable('is not text');
  try {
    // The head can end within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

async function* textOf(path: string, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of createReadStream(path)) yield decoder.decode(chunk as Buffer, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw unreadable('is not valid UTF-8');
    throw error;
  }
}

/** Unique names for the cells of a header. */
function headerOf(cells: readonly string[]): string[] {
  if (cells.length > maxDatasetColumns) throw unreadable(`has ${cells.length} columns, more than ${maxDatasetColumns}`);
  const used = new Set<string>();
  return cells.map((cell, index) => {
    const name =
      cell
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 190) || `Column ${index + 1}`;
    let unique = name === '__proto__' ? '__proto__ ' : name;
    for (let number = 2; used.has(unique); number += 1) unique = `${name} (${number})`;
    used.add(unique);
    return unique;
  });
}

/** The cells of each row. The stream of Papa Parse stops after its first chunks, so its parser gets the chunks here. */
async function* cellsOf(path: string, encoding: string): AsyncGenerator<string[]> {
  let rest = '';
  let format: { delimiter: string; newline: '\n' } | null = null;
  const take = (isLast: boolean): string[][] => {
    if (format === null) {
      const { delimiter, linebreak } = papaparse.parse(rest, { preview: 20, skipEmptyLines: 'greedy' }).meta;
      format = { delimiter, newline: linebreak as '\n' };
    }
    const parser = new papaparse.Parser(format);
    const { data, meta } = parser.parse(rest, 0, !isLast) as { data: string[][]; meta: { cursor: number } };
    // The end of the last whole row.
    rest = rest.slice(meta.cursor);
    return data.filter((cells) => cells.some((cell) => cell.trim() !== ''));
  };
  for await (const text of textOf(path, encoding)) {
    rest += text;
    // The first chunk has the header and enough rows to see the delimiter.
    if (rest.length >= headBytes / 2) yield* take(false);
  }
  if (rest !== '') yield* take(true);
}

async function* csvRows(path: string, encoding: string): AsyncGenerator<Row> {
  let header: string[] | null = null;
  let number = 1;
  for await (const cells of cellsOf(path, encoding)) {
    if (header === null) {
      header = headerOf(cells);
      continue;
    }
    number += 1;
    if (cells.length > header.length && cells.slice(header.length).some((cell) => cell !== '')) {
      throw unreadable(`has ${cells.length} cells in row ${number}, and ${header.length} in its header`);
    }
    yield Object.fromEntries(header.slice(0, cells.length).map((name, index) => [name, cells[index]!]));
  }
}

function rowOf(value: unknown, where: string): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable(`has no object ${where}`);
  // The rows of OpenAI Evals are inside of `item`.
  const { item, ...rest } = value as { item?: unknown };
  const isWrapped = typeof item === 'object' && item !== null && Object.keys(rest).every((name) => name === 'sample');
  return (isWrapped ? item : value) as Row;
}

async function* linesOf(path: string, encoding: string): AsyncGenerator<string> {
  let rest: string[] = [];
  for await (const text of textOf(path, encoding)) {
    const lines = text.split('\n');
    const last = lines.pop()!;
    if (lines.length === 0) {
      rest.push(last);
      continue;
    }
    rest.push(lines[0]!);
    yield rest.join('');
    yield* lines.slice(1);
    rest = [last];
  }
  yield rest.join('');
}

async function* jsonlRows(path: string, encoding: string): AsyncGenerator<Row> {
  let number = 0;
  for await (const line of linesOf(path, encoding)) {
    number += 1;
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw unreadable(`has no valid JSON in line ${number}`);
    }
    yield rowOf(value, `in line ${number}`);
  }
}

async function* jsonRows(path: string, encoding: string): AsyncGenerator<Row> {
  const bytes = await readFile(path);
  if (bytes.length > maxDocumentBytes)
    throw unreadable('is JSON of more than 64 MB; use JSONL, with one object per line');
  let list: unknown;
  try {
    list = JSON.parse(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch {
    throw unreadable('is not valid JSON');
  }
  if (!Array.isArray(list)) throw unreadable('is not a JSON list of objects');
  for (const [index, value] of list.entries()) yield rowOf(value, `at [${index}]`);
}

/** The rows of a CSV, JSONL or JSON file. Throws `invalid_request` that names the line. */
export async function* readRows({ path, fileName }: TableFile): AsyncGenerator<Row> {
  const head = await readHead(path);
  if (head.length === 0) throw unreadable('is empty');
  const encoding = encodingOf(head);
  const start = new TextDecoder(encoding).decode(head, { stream: true }).trimStart();
  const isNamed = (extension: string) => fileName.toLowerCase().endsWith(extension);
  if (isNamed('.csv') || isNamed('.tsv')) yield* csvRows(path, encoding);
  else if (start.startsWith('[') && !isNamed('.jsonl')) yield* jsonRows(path, encoding);
  else if (start.startsWith('{') || isNamed('.jsonl')) yield* jsonlRows(path, encoding);
  else yield* csvRows(path, encoding);
}

/** Names of columns that hold what an answer should be, in the files of other programs. */
const expectedName =
  /^(?:expected|expected[ _-]?(?:output|answer|result|response)|ideal|reference|ground[ _-]?truth|__expected\d?)$/i;

/** Columns and the number of rows of a file. A column whose values are not all text is JSON. Throws `payload_too_large`. */
export async function inspectTable(file: TableFile): Promise<{ columns: DatasetColumn[]; rows: number }> {
  const columns = new Map<string, DatasetColumn['type']>();
  let rows = 0;
  for await (const row of readRows(file)) {
    rows += 1;
    for (const [name, value] of Object.entries(row)) {
      if (expectedName.test(name)) columns.set(name, 'expected');
      else if (typeof value !== 'string' && value !== null) columns.set(name, 'json');
      else if (!columns.has(name)) columns.set(name, 'text');
    }
    if (columns.size > maxDatasetColumns) throw unreadable(`has more than ${maxDatasetColumns} columns`);
  }
  if (rows > maxDatasetRows) throw tooManyRows(rows);
  if (rows === 0) throw unreadable('has no rows');
  return { columns: [...columns].map(([name, type]) => ({ name, type })), rows };
}

/** The values of a row in the types of its columns. */
export function typedValues(row: Row, types: ReadonlyMap<string, DatasetColumn['type']>): RowValues {
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    const type = types.get(name);
    if (type === undefined) return [];
    if (type === 'json' && typeof value === 'string') return [[name, parsedOr(value)]];
    return [[name, type === 'text' && typeof value !== 'string' && value !== null ? JSON.stringify(value) : value]];
  });
  return Object.fromEntries(entries);
}
