import { createDocumentWriter, type DocumentWriter, type ReadDocument } from './document-writer.ts';
import type { ReportProgress } from './document-writer.ts';
import { SourceFailure } from './parsed-source.ts';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Deeper than any document that a person writes. Limits the length of paths and the recursion. */
const maxLevels = 100;
const longestKey = 80;
const longestPath = 200;

/** A record up to this long is written on one line, like the row of a table. */
const longestRecord = 400;
/** A text up to this length follows its key on one line; a longer one is a paragraph. */
const longestValue = 200;
/** Lines are passed on in groups of about this many. */
const linesOfGroup = 50;

const isScalar = (value: Json) => value === null || typeof value !== 'object';
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function isShort(value: Json): boolean {
  if (typeof value === 'string') return value.length <= longestValue && !value.includes('\n');
  return (
    isScalar(value) || (isList(value) && value.length <= 20 && value.every((item) => isScalar(item) && isShort(item)))
  );
}

const shortKey = (key: string) => (key.length > longestKey ? `${key.slice(0, longestKey)}…` : key);

function textOf(value: Json): string {
  if (isList(value)) return value.map(textOf).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The short, non-empty members of an object, as `key: value`. */
function shortMembers(members: readonly (readonly [string, Json])[]): string[] {
  return members.flatMap(([key, value]) => {
    const text = isShort(value) ? textOf(value) : '';
    return text === '' ? [] : [`${shortKey(key)}: ${text}`];
  });
}

/** A record on one line; `null` if it has more content. */
function recordLine(value: Json, index: number): string | null {
  if (isShort(value)) return `[${index}] ${textOf(value)}`;
  if (isScalar(value) || isList(value) || !Object.values(value as object).every(isShort)) return null;
  const line = `[${index}] ${shortMembers(Object.entries(value as object)).join('; ')}`;
  return line.length <= longestRecord ? line : null;
}

function createJsonWriter(writer: DocumentWriter, report: ReportProgress) {
  function heading(path: string, level: number): void {
    const shown = path.length > longestPath ? `…${path.slice(-longestPath)}` : path;
    if (shown !== '') writer.heading(level, shown);
  }

  function writeList(items: readonly Json[], path: string, level: number): void {
    heading(path, level);
    let lines: string[] = [];
    const flush = () => {
      writer.lines(lines.join('\n'));
      lines = [];
    };
    for (const [index, item] of items.entries()) {
      const line = recordLine(item, index);
      if (line !== null) lines.push(line);
      if (line === null || lines.length >= linesOfGroup) flush();
      if (line === null) write(item, `${path}[${index}]`, level + 1);
      if (level === 1) report(index / items.length);
    }
    flush();
  }

  function writeObject(members: readonly (readonly [string, Json])[], path: string, level: number): void {
    heading(path, level);
    writer.lines(shortMembers(members).join('\n'));
    for (const [key, value] of members) {
      if (isShort(value)) continue;
      if (typeof value === 'string') writer.paragraph(`${shortKey(key)}: ${value}`);
      else write(value, path === '' ? shortKey(key) : `${path}.${shortKey(key)}`, level + 1);
    }
  }

  function write(value: Json, path: string, level: number): void {
    if (level > maxLevels)
      throw new SourceFailure(`The JSON is nested more than ${maxLevels} levels deep. Flatten it and add it again.`);
    if (isList(value)) writeList(value, path, level);
    else if (isScalar(value)) writer.paragraph(textOf(value));
    else writeObject(Object.entries(value as object) as [string, Json][], path, level);
  }

  return { write };
}

/** The same JSON with the numbers as texts that JavaScript would change, such as 1.10 or one of 19 digits. */
function withExactNumbers(json: string): string {
  const parts: string[] = [];
  let written = 0;
  let isInText = false;
  for (const { 0: token, index } of json.matchAll(/\\.|"|-?\d[\d.eE+-]*/g)) {
    if (token === '"') isInText = !isInText;
    else if (!isInText && String(Number(token)) !== token) {
      parts.push(json.slice(written, index), `"${token}"`);
      written = index + token.length;
    }
  }
  return parts.join('') + json.slice(written);
}

/** Parses the text itself first, because its errors name positions in it. */
function parseExactly(json: string): Json {
  const value = JSON.parse(json) as Json;
  const exact = withExactNumbers(json);
  return exact === json ? value : (JSON.parse(exact) as Json);
}

/** One value per line, as in logs and data sets; `null` for any other file. */
function parseLines(text: string): Json[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2) return null;
  const values: Json[] = [];
  for (const line of lines) {
    try {
      values.push(parseExactly(line));
    } catch {
      // A file that is still being written ends within a line; any other error means another format.
      return values.length > 0 && values.length === lines.length - 1 ? values : null;
    }
  }
  return values;
}

function parse(text: string): Json {
  try {
    return parseExactly(text);
  } catch (error) {
    const values = parseLines(text);
    if (values) return values;
    const position = /\(line (\d+) column (\d+)\)/.exec(String(error));
    throw new SourceFailure(
      position
        ? `Invalid JSON at line ${position[1]}, column ${position[2]}.`
        : 'Invalid JSON. The file may be incomplete.',
    );
  }
}

/** The content of a JSON file, with the path of each part as its heading. */
export function readJson(text: string, report: ReportProgress): ReadDocument {
  const writer = createDocumentWriter();
  createJsonWriter(writer, report).write(parse(text), '', 1);
  return writer.finish();
}
