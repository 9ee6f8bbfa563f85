import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import papaparse from 'papaparse';
import { type Findings, headerOf, type OpenTable, type Row, type TableFile, unreadable } from './table.ts';

/** Of a JSON document, which is parsed at once. */
const maxDocumentBytes = 64 * 1_048_576;
const headBytes = 65_536;

async function readHead(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** How a file is encoded, in the names that the decoder and a person use. */
const encodings = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
  'windows-1252': 'Windows-1252, because it is not valid UTF-8',
} as const;
type Encoding = keyof typeof encodings;

/** The encoding of a text file: by its byte order mark, else UTF-8 if all of it is valid, else the one of old spreadsheets. */
async function encodingOf(path: string, head: Uint8Array): Promise<Encoding> {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (head.includes(0)) throw unreadable('is not text');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) {
      decoder.decode(chunk as Buffer, { stream: true });
    }
    decoder.decode();
    return 'utf-8';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return 'windows-1252';
  }
}

async function* textOf(path: string, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of createReadStream(path)) yield decoder.decode(chunk as Buffer, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw unreadable('is not valid UTF-16');
    throw error;
  }
}

const hasText = (cells: readonly string[]) => cells.some((cell) => cell.trim() !== '');

interface CsvFormat {
  readonly delimiter: string;
  readonly newline: '\n';
  /** Characters before the first row. */
  readonly start: number;
}

/** The format of a CSV file by its first rows, or by the line `sep=;` that Excel takes it from. */
function csvFormat(text: string): CsvFormat {
  const [line = '', separator] = /^sep=(.)\r?\n/i.exec(text) ?? [];
  const { linebreak } = papaparse.parse(text, { preview: 1, delimiter: ',' }).meta;
  // Rows may end in both ways: a carriage return before the line feed is removed from the cell.
  const newline = (linebreak === '\r' ? '\r' : '\n') as '\n';
  const detected = () => papaparse.parse(text, { preview: 20, skipEmptyLines: 'greedy', newline }).meta.delimiter;
  return { delimiter: separator ?? detected(), newline, start: line.length };
}

function withoutReturn(cells: string[]): string[] {
  const last = cells.length - 1;
  if (cells[last]!.endsWith('\r')) cells[last] = cells[last]!.slice(0, -1);
  return cells;
}

/** The cells of each row. The stream of Papa Parse stops after its first chunks, so its parser gets the chunks here. */
async function* cellsOf(path: string, encoding: Encoding): AsyncGenerator<string[]> {
  let rest = '';
  let format: CsvFormat | null = null;
  let parsedFrom = headBytes / 2;
  let rows = 0;
  const take = (isLast: boolean): string[][] => {
    if (format === null) {
      format = csvFormat(rest);
      rest = rest.slice(format.start);
    }
    const parser = new papaparse.Parser(format);
    const { data, errors, meta } = parser.parse(rest, 0, !isLast) as papaparse.ParseResult<string[]>;
    // The end of the last whole row.
    rest = rest.slice(meta.cursor);
    // The row after these isn't whole yet.
    const malformed = errors.find(({ row }) => row! < data.length)?.row ?? null;
    if (malformed !== null) {
      const row = rows + data.slice(0, malformed + 1).filter(hasText).length;
      throw unreadable(`has a quotation mark in row ${row} that is not closed or not doubled`);
    }
    const whole = data.filter(hasText).map(withoutReturn);
    rows += whole.length;
    return whole;
  };
  for await (const text of textOf(path, encoding)) {
    rest += text;
    // The first chunk has the header and enough rows to see the delimiter.
    if (rest.length < parsedFrom) continue;
    yield* take(false);
    // Twice as much, so that a long cell is not parsed again with each chunk.
    parsedFrom = Math.max(headBytes / 2, 2 * rest.length);
  }
  if (rest !== '') yield* take(true);
}

async function* csvRows(
  path: string,
  encoding: Encoding,
  findings: Findings,
  onHeader: (names: readonly string[]) => void,
): AsyncGenerator<Row> {
  let header: string[] | null = null;
  let number = 1;
  for await (const cells of cellsOf(path, encoding)) {
    if (header === null) {
      header = headerOf(cells, findings);
      onHeader(header);
      continue;
    }
    number += 1;
    if (cells.length > header.length && cells.slice(header.length).some((cell) => cell !== '')) {
      throw unreadable(`has ${cells.length} cells in row ${number}, and ${header.length} in its header`);
    }
    yield Object.fromEntries(header.slice(0, cells.length).map((name, index) => [name, cells[index]!]));
  }
}

function rowOf(value: unknown, where: string, findings: Findings): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable(`has no object ${where}`);
  // The rows of OpenAI Evals are inside of `item`.
  const { item, ...rest } = value as { item?: unknown };
  const isObject = typeof item === 'object' && item !== null && !Array.isArray(item);
  const isWrapped = isObject && Object.keys(rest).every((name) => name === 'sample');
  if (isWrapped && Object.hasOwn(rest, 'sample')) findings.add('skipped', 'sample', 'Is an earlier answer', 1);
  return (isWrapped ? item : value) as Row;
}

async function* linesOf(path: string, encoding: Encoding): AsyncGenerator<string> {
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

async function* jsonlRows(path: string, encoding: Encoding, findings: Findings): AsyncGenerator<Row> {
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
    yield rowOf(value, `in line ${number}`, findings);
  }
}

/** A text that is parsed at once. Throws for one of more than 64 MB. */
export async function wholeText(path: string): Promise<string> {
  const bytes = await readFile(path);
  if (bytes.length > maxDocumentBytes)
    throw unreadable('is JSON of more than 64 MB; use JSONL, with one object per line');
  const encoding = await encodingOf(path, bytes.subarray(0, headBytes));
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

async function* jsonRows(path: string, encoding: Encoding, findings: Findings): AsyncGenerator<Row> {
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
  for (const [index, value] of list.entries()) yield rowOf(value, `at [${index}]`, findings);
}

const textFormats = { csv: csvRows, jsonl: jsonlRows, json: jsonRows } as const;
type TextFormat = keyof typeof textFormats;

function formatOf(fileName: string, start: string): TextFormat {
  const isNamed = (extension: string) => fileName.toLowerCase().endsWith(extension);
  if (isNamed('.csv') || isNamed('.tsv')) return 'csv';
  if (start.startsWith('[') && !isNamed('.jsonl')) return 'json';
  return start.startsWith('{') || isNamed('.jsonl') ? 'jsonl' : 'csv';
}

/** A CSV, JSONL or JSON file. Throws `invalid_request` for a file that is none of them. */
export async function openText({ path, fileName, format }: TableFile): Promise<OpenTable> {
  const head = await readHead(path);
  if (head.length === 0) throw unreadable('is empty');
  const encoding = await encodingOf(path, head);
  const start = new TextDecoder(encoding).decode(head, { stream: true }).trimStart();
  const textFormat = format !== null && format in textFormats ? (format as TextFormat) : formatOf(fileName, start);
  let header: readonly string[] = [];
  return {
    format: textFormat,
    header: () => header,
    isText: textFormat === 'csv',
    rows(findings) {
      if (encoding !== 'utf-8') findings.add('changed', 'file', `Read as ${encodings[encoding]}`);
      return textFormats[textFormat](path, encoding, findings, (names) => (header = names));
    },
  };
}
