import papaparse from 'papaparse';
import { type MockEntry, type ToolMock, toolMock } from '../../shared/contract/tools.ts';
import { isObject, type JsonSchema } from '../../shared/json-schema.ts';
import { describeMistake, parseJson } from './json-text.ts';

export type LookupMock = Extract<ToolMock, { kind: 'lookUp' }>;

/** Bytes of a file; a lookup has at most 1 MB. */
export const maxLookupFileBytes = 1_048_576;

export const maxLookupRows = 1000;

interface SkippedRow {
  /** As the file counts: a line of CSV, without line ends in quotes, or an item of JSON; from 1. */
  row: number;
  issue: string;
}

export interface LookupFile {
  /** The lookup with the rows of the file at its end. */
  mock: LookupMock;
  added: number;
  skipped: SkippedRow[];
}

export type ReadLookup = LookupFile | { problem: string };

/** A row of a file: an entry, or why it has none. */
interface ReadRow {
  row: number;
  entry: MockEntry | { issue: string };
}

const resultNames = ['result', 'content', 'return'];
const errorNames = ['is_error', 'isError', 'error'];
const trueTexts: ReadonlySet<string> = new Set(['true', '1', 'yes']);
const falseTexts: ReadonlySet<string> = new Set(['', 'false', '0', 'no']);

/** The types that the tool's schema gives a parameter; empty if it gives none. */
function typesOf(schema: JsonSchema | null, name: string): unknown[] {
  const properties = schema?.['properties'];
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : null;
  return isObject(property) && property['type'] !== undefined ? [property['type']].flat() : [];
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === 'null' ? value === null : typeof value === type;
}

/** A cell as the model would send it: the schema decides whether `12` is a number. */
function argumentOf(text: string, types: readonly unknown[]): { value: unknown } | { issue: string } {
  if (types.length === 0 || types.includes('string')) return { value: text };
  const parsed = parseJson(text.trim());
  const value = 'value' in parsed ? parsed.value : undefined;
  if (types.some((type) => hasType(value, type))) return { value };
  return { issue: `"${text.slice(0, 40)}" is not of type ${types.map(String).join(' or ')}` };
}

function isErrorOf(value: unknown): boolean | null {
  const text = value === undefined || value === null ? '' : String(value).trim().toLowerCase();
  if (trueTexts.has(text)) return true;
  return falseTexts.has(text) ? false : null;
}

function entryOf(given: Record<string, unknown>, result: unknown, error: unknown): ReadRow['entry'] {
  const isError = isErrorOf(error);
  if (isError === null) return { issue: `"${String(error).slice(0, 40)}" must be true or false` };
  if (result === undefined || result === null) return { issue: 'has no result' };
  if (Object.keys(given).length === 0) return { issue: 'has no arguments, so it would match every call' };
  return { arguments: given, content: typeof result === 'string' ? result : JSON.stringify(result), isError };
}

interface Columns {
  result: string;
  error: string | undefined;
  parameters: string[];
}

/** The meaning of the columns, or why they have none. */
function columnsOf(names: readonly string[], schema: JsonSchema | null): Columns | { problem: string } {
  const isParameter = (name: string) => {
    const properties = schema?.['properties'];
    return isObject(properties) && Object.hasOwn(properties, name);
  };
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) return { problem: `Two columns have the name "${repeated.slice(0, 40)}"` };
  // A parameter may have one of these names, too.
  const named = (known: readonly string[]) =>
    known.find((name) => names.includes(name) && !isParameter(name)) ?? known.find((name) => names.includes(name));
  const [result, error] = [named(resultNames), named(errorNames)];
  if (result === undefined) return { problem: 'The first row needs a column "result"' };
  const parameters = names.filter((name) => name !== result && name !== error && name !== '');
  if (parameters.length === 0) return { problem: 'The first row needs a column for an argument' };
  const properties = schema?.['properties'];
  const unknown = parameters.find((name) => !isParameter(name));
  if (isObject(properties) && Object.keys(properties).length > 0 && unknown !== undefined)
    return { problem: `The tool has no parameter "${unknown.slice(0, 40)}"` };
  return { result, error, parameters };
}

function readCsv(text: string, schema: JsonSchema | null): ReadRow[] | { problem: string } {
  const { data, errors } = papaparse.parse<string[]>(text);
  const quote = errors.find(({ type }) => type === 'Quotes');
  if (quote) return { problem: `Row ${(quote.row ?? 0) + 1}: a quotation mark is not closed or not doubled` };
  const names = (data[0] ?? []).map((name) => name.trim());
  const columns = columnsOf(names, schema);
  if ('problem' in columns) return columns;
  const { result, error, parameters } = columns;
  return data.slice(1).flatMap((cells, index): ReadRow[] => {
    const row = index + 2;
    if (cells.every((cell) => cell.trim() === '')) return [];
    if (cells.length > names.length) return [{ row, entry: { issue: 'has more cells than the first row' } }];
    const cellOf = (name: string) => cells[names.indexOf(name)];
    const given: [name: string, value: unknown][] = [];
    for (const name of parameters) {
      const cell = cellOf(name) ?? '';
      if (cell === '') continue;
      const argument = argumentOf(cell, typesOf(schema, name));
      if ('issue' in argument) return [{ row, entry: { issue: `${name}: ${argument.issue}` } }];
      given.push([name, argument.value]);
    }
    const errorCell = error === undefined ? undefined : cellOf(error);
    return [{ row, entry: entryOf(Object.fromEntries(given), cellOf(result), errorCell) }];
  });
}

function readItem(item: unknown): ReadRow['entry'] {
  if (!isObject(item)) return { issue: 'is not an object' };
  const resultName = resultNames.find((name) => Object.hasOwn(item, name));
  const errorName = errorNames.find((name) => Object.hasOwn(item, name));
  const result = resultName === undefined ? undefined : item[resultName];
  const error = errorName === undefined ? undefined : item[errorName];
  const { arguments: given } = item;
  if (isObject(given)) return entryOf(given, result, error);
  const rest = Object.entries(item).filter(([name]) => name !== resultName && name !== errorName);
  return entryOf(Object.fromEntries(rest), result, error);
}

function readJson(text: string): ReadRow[] | { problem: string } {
  const parsed = parseJson(text);
  if ('mistake' in parsed) return { problem: describeMistake(parsed.mistake) };
  const { value } = parsed;
  const list = isObject(value) ? value['entries'] : value;
  if (!Array.isArray(list)) return { problem: 'The file must have a list' };
  return list.map((item, index) => ({
    row: index + 1,
    entry: isDeeper(item) ? { issue: `has more than ${maxLevels} levels` } : readItem(item),
  }));
}

/** The most levels of a row: JSON that is nested deeper exhausts the stack. */
const maxLevels = 100;

function isDeeper(value: unknown, levels = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === maxLevels || Object.values(value).some((part) => isDeeper(part, levels + 1));
}

/** Two rows with the same arguments in another order have the same key. */
function keyOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

const isEmptyRow = ({ arguments: given, content }: MockEntry) => Object.keys(given).length === 0 && content === '';

/**
 * Adds the rows of a CSV or JSON file to a lookup. A row of CSV has a column for each argument and the column `result`; JSON is a list of
 * such objects or of entries as in the API. Rows without a meaning are skipped and reported.
 */
export function readLookupFile(text: string, mock: LookupMock, schema: JsonSchema | null): ReadLookup {
  const rows = /^\s*[[{]/.test(text) ? readJson(text) : readCsv(text, schema);
  if ('problem' in rows) return rows;
  const entries = mock.entries.filter((entry) => !isEmptyRow(entry));
  const before = entries.length;
  const seen = new Set(entries.map((entry) => keyOf(entry.arguments)));
  const skipped: SkippedRow[] = [];
  for (const { row, entry } of rows) {
    const key = 'issue' in entry ? null : keyOf(entry.arguments);
    if ('issue' in entry) skipped.push({ row, issue: entry.issue });
    else if (seen.has(key!)) skipped.push({ row, issue: 'has the arguments of an earlier row' });
    else if (entries.length === maxLookupRows)
      skipped.push({ row, issue: `does not fit: a lookup has at most ${maxLookupRows} rows` });
    else {
      seen.add(key!);
      entries.push(entry);
    }
  }
  const read = { ...mock, entries };
  const issue = toolMock.safeParse(read).error?.issues[0];
  if (issue) return { problem: `The results ${issue.message}` };
  return { mock: read, added: entries.length - before, skipped };
}

const byteOrderMarks: readonly [encoding: string, first: number, second: number][] = [
  ['utf-16le', 0xff, 0xfe],
  ['utf-16be', 0xfe, 0xff],
];

/** The text of a file. Old spreadsheets write neither UTF-8 nor UTF-16. */
export async function decodeLookupFile(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const marked = byteOrderMarks.find(([, first, second]) => bytes[0] === first && bytes[1] === second);
  if (marked) return new TextDecoder(marked[0]).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
