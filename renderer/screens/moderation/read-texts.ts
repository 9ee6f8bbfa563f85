import papaparse from 'papaparse';
import { maxBatchTexts, type BatchText } from '../../../shared/contract/moderation-window.ts';
import { isListColumn, labelName, listedCategories, readLabels, type LabelCell } from './read-labels.ts';

/** A request to the host is at most 4 MB; what stands around the texts in it takes some of them. */
const maxBytes = 3_800_000;

/** Columns with the text; the first one that is there counts. */
const textColumns = ['text', 'prompt', 'input', 'content', 'message', 'sentence', 'comment', 'body'];
const numberColumns = new Set(['', 'id', 'index', '#']);

const isTextColumn = (name: string) => textColumns.includes(name.trim().toLowerCase());
const isLabelColumn = (name: string) => isListColumn(name) || labelName(name) !== null;

function withLabels(text: string, ...read: Parameters<typeof readLabels>): BatchText {
  const labels = readLabels(...read);
  return { text, ...(labels && { labels }) };
}

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Labels next to the text, or in an object inside, as in `"labels": {"violence": 1}`. */
function labelCells(values: Values): LabelCell[] {
  return Object.entries(values).flatMap(([column, value]): LabelCell[] => {
    if (!isLabelColumn(column)) return [];
    if (!isListColumn(column) || !isObject(value)) return [{ column, value }];
    return Object.entries(value).map(([inner, each]) => ({ column: inner, value: each }));
  });
}

function jsonText(line: string, where: string): BatchText {
  let values: unknown;
  try {
    values = JSON.parse(line);
  } catch {
    throw new Error(`${where} is not valid JSON.`);
  }
  if (typeof values === 'string') return { text: values };
  if (!isObject(values)) throw new Error(`${where} must be a text or an object.`);
  const names = Object.keys(values).filter((name) => typeof values[name] === 'string');
  const key = textColumns.map((name) => names.find((each) => each.toLowerCase() === name)).find((each) => each);
  if (key === undefined) throw new Error(`${where} has no text. Put it in a field "text" or "prompt".`);
  const nested = Object.keys(values).find((column) => isListColumn(column) && isObject(values[column]));
  const nameOf = (column: string) => `${where}, "${column in values ? column : `${nested}.${column}`}"`;
  return withLabels(values[key] as string, labelCells(values), where, nameOf);
}

function readJsonLines(content: string): BatchText[] {
  return content
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [jsonText(line, `Line ${index + 1}`)]));
}

interface Row {
  readonly number: number;
  readonly cells: readonly string[];
}

/** Rows of a CSV with their numbers, without blank ones. The first line decides what is between the columns. */
function csvRows(content: string): Row[] {
  const [line = ''] = content.split('\n', 1);
  const delimiter = [',', ';', '\t'].find((each) => line.split(each).some(isTextColumn)) ?? ',';
  const { data, errors } = papaparse.parse<string[]>(content, { delimiter });
  const [error] = errors;
  if (error) {
    const row = `Row ${(error.row ?? 0) + 1}`;
    if (error.code === 'MissingQuotes') throw new Error(`${row} has an unclosed quote.`);
    throw new Error(`${row} has text after a closing quote. Write quotes inside a quoted cell twice.`);
  }
  const rows = data.map((cells, index) => ({ number: index + 1, cells }));
  return rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
}

/** A cell too many means a comma in a text without quotes: the rest of the text would be lost. */
function requireWidth(rows: readonly Row[], width: number, first: string): void {
  for (const { number, cells } of rows) {
    if (cells.slice(width).every((cell) => cell.trim() === '')) continue;
    const count = `${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}`;
    throw new Error(`Row ${number} has ${count}, but ${first} has ${width}. Put texts with commas in quotes.`);
  }
}

/** Whether each row is a text and the categories that it belongs to. */
function areTextsWithCategories(rows: readonly Row[]): boolean {
  return rows.every(({ number, cells }) => {
    if (cells.length !== 2 || cells[1]!.trim() === '') return false;
    try {
      return listedCategories(cells[1], String(number)).length >= 0;
    } catch {
      return false;
    }
  });
}

function textColumnOf(names: readonly string[]): number {
  for (const name of textColumns) {
    const index = names.findIndex((each) => each.toLowerCase() === name);
    if (index >= 0) return index;
  }
  const others = names.flatMap((name, index) =>
    isLabelColumn(name) || numberColumns.has(name.toLowerCase()) ? [] : [index],
  );
  if (others.length !== 1) throw new Error('No text column found. Name it "text" or "prompt" in the first row.');
  return others[0]!;
}

function readCsv(content: string): BatchText[] {
  const [head, ...rows] = csvRows(content);
  if (!head) return [];
  const names = head.cells.map((name) => name.trim());
  const hasHeader = names.some(isTextColumn) || (names.length > 1 && names.some(isLabelColumn));
  if (!names.some(isTextColumn) && areTextsWithCategories([head, ...rows])) {
    return [head, ...rows].map(({ number, cells }) => {
      const where = `Row ${number}`;
      return withLabels(cells[0]!, [{ column: 'labels', value: cells[1] }], where, () => where);
    });
  }
  requireWidth(rows, names.length, hasHeader ? 'the header' : 'row 1');
  if (!hasHeader) return [head, ...rows].map(({ cells }) => ({ text: cells[0]! }));
  const textAt = textColumnOf(names);
  // A column of categories that nobody filled in says nothing of any text.
  const labelled = names.flatMap((column, at) => {
    if (at === textAt || !isLabelColumn(column)) return [];
    return isListColumn(column) && rows.every(({ cells }) => !cells[at]?.trim()) ? [] : [{ column, at }];
  });
  return rows.map(({ number, cells }) => {
    const where = `Row ${number}`;
    const values = labelled.map(({ column, at }) => ({ column, value: cells[at] ?? '' }));
    return withLabels(cells[textAt] ?? '', values, where, (column) => `${where}, column "${column}"`);
  });
}

/** Every line that is not empty is a text. */
function readLines(content: string): BatchText[] {
  return content.split(/\r?\n/).map((text) => ({ text }));
}

function checked(texts: readonly BatchText[]): BatchText[] {
  const kept = texts.filter(({ text }) => text.trim() !== '');
  if (kept.length === 0) throw new Error('The file has no text.');
  if (kept.length > maxBatchTexts) {
    const most = maxBatchTexts.toLocaleString('en');
    throw new Error(`The file has ${kept.length.toLocaleString('en')} texts. Load up to ${most} at a time.`);
  }
  if (new TextEncoder().encode(JSON.stringify(kept)).byteLength > maxBytes) {
    throw new Error('The file is larger than 3.8 MB. Load it in parts.');
  }
  return kept;
}

/** Texts of a file by the ending of its name. Throws `Error` with words for a person. */
export function readTexts(fileName: string, content: string): BatchText[] {
  const plain = content.replace(/^\uFEFF/, '');
  if (/\.(jsonl|ndjson)$/i.test(fileName)) return checked(readJsonLines(plain));
  return checked(/\.csv$/i.test(fileName) ? readCsv(plain) : readLines(plain));
}
