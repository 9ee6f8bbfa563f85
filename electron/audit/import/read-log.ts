import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { AppError } from '../../../shared/app-error.ts';
import type { LogFormat } from '../../../shared/contract/log-imports.ts';
import { Findings } from '../../datasets/import/table.ts';
import { openText } from '../../datasets/import/text-tables.ts';
import {
  type ColumnMap,
  ContentKeys,
  csvCall,
  detectColumns,
  isAnsweredPrompt,
  isLangfuse,
  langfuseCalls,
  openAiCall,
} from './file-calls.ts';
import { limitLevels } from '../../passthrough/fields.ts';
import { isRecord, type LeftOut, type LogCall } from './log-call.ts';
import { isOtlp, otlpCalls } from './otlp-calls.ts';

/** A log on this computer. */
export interface LogFile {
  readonly path: string;
  readonly fileName: string;
  /** Null: detected. */
  readonly format: LogFormat | null;
  /** What columns of a CSV file are, for those that the caller chose. */
  readonly columns: ColumnMap;
}

/** An entry of a log, and how many bytes of the file were read until then. */
export interface LogItem {
  readonly item: LogCall | LeftOut;
  readonly bytes: number;
}

export interface OpenLog {
  readonly format: LogFormat;
  readonly columns: ColumnMap;
  /** The same items in the same order each time. */
  items(): AsyncGenerator<LogItem>;
}

/** Of one line or document, which is parsed as a whole. JavaScript's texts end at 512 MB. */
const maxDocumentBytes = 256 * 1_048_576;

export function unreadableLog(issue: string): AppError {
  return new AppError('invalid_request', `The file ${issue}.`, { details: [{ field: 'file', issue }] });
}

const tooLong = () => unreadableLog('has a line of more than 256 MB; write one request or one observation per line');

const noUtf8 = () => unreadableLog('is not in UTF-8');

interface Line {
  /** Null for the first or the last line that was cut within a character, as a rotated log can be. */
  readonly text: string | null;
  readonly bytes: number;
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let [restBytes, bytes] = [0, 0];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (parts: Buffer[], canBeCut: boolean): string | null => {
    try {
      return decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    } catch {
      if (canBeCut) return null;
      throw noUtf8();
    }
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const text = decode([...rest, chunk.subarray(from, end)], bytes === 0);
      bytes += restBytes + end - from + 1;
      [rest, restBytes, from] = [[], 0, end + 1];
      yield { text, bytes };
    }
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > maxDocumentBytes) throw tooLong();
  }
  if (restBytes > 0) yield { text: decode(rest, true), bytes: bytes + restBytes };
}

function parse(text: string): { value: unknown } | null {
  try {
    return { value: limitLevels(JSON.parse(text)) };
  } catch {
    return null;
  }
}

interface JsonItem {
  /** Null for a line that is no JSON. */
  readonly read: { readonly value: unknown } | null;
  readonly bytes: number;
}

/** The entries of a list, also of a page of a list as APIs return it. */
function entriesOf(value: unknown): readonly unknown[] | null {
  const list = isRecord(value) && isRecord(value['meta']) ? value['data'] : value;
  return Array.isArray(list) ? list : null;
}

function* valuesIn(read: JsonItem['read'], bytes: number): Generator<JsonItem> {
  const entries = read === null ? null : entriesOf(read.value);
  if (entries === null) return void (yield { read, bytes });
  for (const value of entries) yield { read: { value }, bytes };
}

const startOf = ({ text }: Line): string | null => text && text.replace(/^\uFEFF/, '').trim();

/** The objects of a file: one per line, or one document over several lines, or a list. A rotated log can start within a line. */
async function* jsonItems(path: string): AsyncGenerator<JsonItem> {
  let isFirst = true;
  let cut: JsonItem | null = null;
  for await (const line of linesOf(path)) {
    const text = startOf(line);
    if (text === '') continue;
    const item: JsonItem = { read: text === null ? null : parse(text), bytes: line.bytes };
    if (isFirst && item.read === null) {
      const document = await readDocument(path);
      if (document) return yield* valuesIn(document.read, document.bytes);
      cut = item;
    } else {
      if (cut !== null && !isRecord(item.read?.value)) break;
      if (cut !== null) yield cut;
      cut = null;
      yield* valuesIn(item.read, item.bytes);
    }
    isFirst = false;
  }
  if (cut === null) return;
  throw (await isTooLong(path)) ? tooLong() : unreadableLog('is neither JSON nor lines of JSON');
}

const isTooLong = async (path: string): Promise<boolean> => (await stat(path)).size > maxDocumentBytes;

/** A file as one document; null if it isn't one, or is too long for one. */
async function readDocument(path: string): Promise<JsonItem | null> {
  if (await isTooLong(path)) return null;
  const content = await readFile(path);
  const read = parse(content.toString('utf8').replace(/^\uFEFF/, ''));
  return read && { read, bytes: content.length };
}

type JsonFormat = Exclude<LogFormat, 'csv'>;

function formatOf(value: unknown): JsonFormat | null {
  if (isOtlp(value)) return 'otlp';
  if (isLangfuse(value)) return 'langfuse';
  const isChat = isRecord(value) && ['messages', 'request', 'body', 'choices', 'input'].some((name) => name in value);
  return isChat || (isRecord(value) && isAnsweredPrompt(value)) ? 'openai-chat' : null;
}

function callsOf(format: JsonFormat, value: unknown, keys: ContentKeys): readonly (LogCall | LeftOut)[] {
  if (!isRecord(value)) return [{ leftOut: 'Lines that are no objects' }];
  if (format === 'otlp') return isOtlp(value) ? otlpCalls(value) : [{ leftOut: 'Lines without spans' }];
  return format === 'langfuse' ? langfuseCalls(value) : [openAiCall(value, keys)];
}

async function* jsonCalls(path: string, format: JsonFormat): AsyncGenerator<LogItem> {
  const keys = new ContentKeys();
  for await (const { read, bytes } of jsonItems(path)) {
    const items = read === null ? [{ leftOut: 'Lines that are not valid JSON' }] : callsOf(format, read.value, keys);
    for (const item of items) yield { item, bytes };
  }
}

async function openCsv({ path, fileName, columns }: LogFile): Promise<OpenLog> {
  const open = () => openText({ path, fileName, format: 'csv', sheet: null });
  let names: string[] | null = null;
  for await (const row of (await open()).rows(new Findings())) {
    names = Object.keys(row);
    break;
  }
  if (names === null) throw unreadableLog('has no rows');
  const detected = detectColumns(names);
  const unknown = Object.keys(columns).find((name) => !names.includes(name));
  if (unknown !== undefined) throw unreadableLog(`has no column "${unknown.slice(0, 100)}"`);
  const chosen = new Set(Object.values(columns));
  // A chosen field is taken from the column that was detected for it.
  const others = names.map((name) => [name, chosen.has(detected[name]!) ? null : detected[name]!] as const);
  const fields = { ...Object.fromEntries(others), ...columns };
  if (!Object.values(fields).includes('prompt')) throw unreadableLog('has no column for the prompt; choose one');
  return {
    format: 'csv',
    columns: fields,
    async *items() {
      const keys = new ContentKeys();
      const { size } = await stat(path);
      let row = 0;
      for await (const cells of (await open()).rows(new Findings())) {
        row += 1;
        // Papa Parse doesn't say where a row ends. The bar moves without reaching the end.
        yield { item: csvCall(cells, fields, keys), bytes: Math.round(size * (1 - 1 / (1 + row / 5000))) };
      }
    },
  };
}

/** Whether a file starts with JSON, or has it in the second line, after one that was cut. */
async function isJson(path: string): Promise<boolean> {
  let first: Line | null = null;
  for await (const line of linesOf(path)) {
    const text = startOf(line);
    if (text === '') continue;
    if (first !== null) {
      if (text !== null && formatOf(parse(text)?.value) !== null) return true;
      break;
    }
    if (text !== null && '[{'.includes(text[0]!)) return true;
    first = line;
  }
  if (first === null) throw unreadableLog('is empty');
  if (first.text === null) throw noUtf8();
  return false;
}

/** Throws `invalid_request` for a file that is no log. */
export async function openLog(file: LogFile): Promise<OpenLog> {
  const isNamedCsv = /\.[ct]sv$/i.test(file.fileName);
  if (file.format === 'csv' || (file.format === null && isNamedCsv)) return openCsv(file);
  if (!(await isJson(file.path))) {
    if (file.format === null) return openCsv(file);
    throw unreadableLog('is not JSON');
  }
  let { format } = file;
  for await (const { read } of jsonItems(file.path)) {
    if (read === null) continue;
    format ??= formatOf(read.value);
    break;
  }
  if (format === null) {
    throw unreadableLog(
      'is none of the logs that can be read: traces of OpenTelemetry, Langfuse, chats of OpenAI, CSV',
    );
  }
  const known = format as JsonFormat;
  return { format: known, columns: {}, items: () => jsonCalls(file.path, known) };
}
