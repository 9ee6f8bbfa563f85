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

interface Line {
  readonly text: string;
  readonly bytes: number;
}

async function* linesOf(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let [restBytes, bytes] = [0, 0];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (parts: Buffer[]): string => {
    try {
      return decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    } catch {
      throw unreadableLog('is not in UTF-8');
    }
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const text = decode([...rest, chunk.subarray(from, end)]);
      bytes += restBytes + end - from + 1;
      [rest, restBytes, from] = [[], 0, end + 1];
      yield { text, bytes };
    }
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > maxDocumentBytes) throw tooLong();
  }
  if (restBytes > 0) yield { text: decode(rest), bytes: bytes + restBytes };
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

/** The objects of a file: one per line, or one document over several lines, or a list. */
async function* jsonItems(path: string): AsyncGenerator<JsonItem> {
  let isFirst = true;
  for await (const { text, bytes } of linesOf(path)) {
    const line = (isFirst ? text.replace(/^\uFEFF/, '') : text).trim();
    if (line === '') continue;
    const read = parse(line);
    if (isFirst && read === null) return yield* documentItems(path);
    isFirst = false;
    yield* valuesIn(read, bytes);
  }
}

async function* documentItems(path: string): AsyncGenerator<JsonItem> {
  const { size } = await stat(path);
  if (size > maxDocumentBytes) throw tooLong();
  const read = parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  if (read === null) throw unreadableLog('is neither JSON nor lines of JSON');
  yield* valuesIn(read, size);
}

type JsonFormat = Exclude<LogFormat, 'csv'>;

function formatOf(value: unknown): JsonFormat | null {
  if (isOtlp(value)) return 'otlp';
  if (isLangfuse(value)) return 'langfuse';
  const isChat = isRecord(value) && ['messages', 'request', 'body', 'choices', 'input'].some((name) => name in value);
  return isChat ? 'openai-chat' : null;
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

async function firstCharacter(path: string): Promise<string> {
  for await (const { text } of linesOf(path)) {
    const start = text.replace(/^\uFEFF/, '').trimStart();
    if (start !== '') return start[0]!;
  }
  throw unreadableLog('is empty');
}

/** Throws `invalid_request` for a file that is no log. */
export async function openLog(file: LogFile): Promise<OpenLog> {
  const isNamedCsv = /\.[ct]sv$/i.test(file.fileName);
  if (file.format === 'csv' || (file.format === null && isNamedCsv)) return openCsv(file);
  if (!'[{'.includes(await firstCharacter(file.path))) {
    if (file.format === null) return openCsv(file);
    throw unreadableLog('is not JSON');
  }
  let { format } = file;
  for await (const { read } of jsonItems(file.path)) {
    format ??= formatOf(read?.value);
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
