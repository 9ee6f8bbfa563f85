/** Values from untrusted files: YAML and JSON, read in bounded time and depth. */

import { LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { lineAt, TransferError } from './source-text.ts';

/** Longer YAML is rejected, because parsing it takes up to five seconds per million characters. */
const maxYamlCharacters = 400_000;
/** A value that is nested deeper isn't a prompt. */
const maxDepth = 64;
/** Limits aliases, which can multiply their values. */
const maxAliases = 100;

/** Objects of YAML and JSON in one form, with keys in their order and without a prototype. */
export type ReadMap = ReadonlyMap<string, unknown>;

export function isMap(value: unknown): value is ReadMap {
  return value instanceof Map;
}

export function textIn(map: ReadMap | null, key: string): string | null {
  const value = map?.get(key);
  return typeof value === 'string' ? value : null;
}

export function mapIn(map: ReadMap | null, key: string): ReadMap | null {
  const value = map?.get(key);
  return isMap(value) ? value : null;
}

export function listIn(map: ReadMap | null, key: string): readonly unknown[] | null {
  const value = map?.get(key);
  return Array.isArray(value) ? value : null;
}

/** The value of a variable, as text. */
export function valueText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(plain(value)) : String(value);
}

/** The same value in plain objects, as configurations are stored. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isMap(value)) return value;
  // As own properties even for the key `__proto__`.
  return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
}

const tooDeep = () => new TransferError(`The file is nested more than ${maxDepth} levels deep`);

function checked(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw tooDeep();
  if (Array.isArray(value)) return value.map((item) => checked(item, depth + 1));
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [String(valueText(key)), checked(item, depth + 1)]));
  }
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? Number(value) : value;
  if (value instanceof Date || value instanceof Uint8Array || value instanceof Set) {
    throw new TransferError("The file contains a value that isn't text, a number, a list or an object");
  }
  return new Map(Object.entries(value).map(([key, item]) => [key, checked(item, depth + 1)]));
}

/** Rejects nesting before a parser reads it: parsers of YAML recurse for each bracket and each dash, and take very long. */
function rejectDepth(text: string): void {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 91 || code === 123) depth += 1;
    else if ((code === 93 || code === 125) && depth > 0) depth -= 1;
    if (depth > 8 * maxDepth) throw tooDeep();
  }
  // Line by line: with the flag m, each of a million carriage returns would start a match.
  const isDeep = (line: string) => /^(?:[^\S\n]*[-?:][^\S\n]){65}/.test(line);
  if (text.split('\n').some(isDeep)) throw tooDeep();
}

export interface ReadYaml {
  readonly value: unknown;
  /** The line of the value at a path, from 1; null if there is none. */
  lineOf(path: readonly (string | number)[]): number | null;
}

function problemOf(document: Document, lines: LineCounter, firstLine: number): TransferError | null {
  const [error] = document.errors;
  if (error === undefined) return null;
  if (error.message.includes('call stack')) return tooDeep();
  const reason = error.message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
  return new TransferError(`Invalid YAML: ${reason}`, lines.linePos(error.pos[0]).line + firstLine - 1);
}

/** Throws `TransferError` for malformed, deep or long YAML and for aliases that multiply. `firstLine` is its first line in its file. */
export function readYaml(text: string, firstLine = 1, maxCharacters = maxYamlCharacters): ReadYaml {
  if (text.length > maxCharacters) {
    throw new TransferError(`The YAML is longer than ${maxCharacters.toLocaleString('en')} characters`);
  }
  rejectDepth(text);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
    const problem = problemOf(document, lines, firstLine);
    if (problem !== null) throw problem;
    const value = checked(document.toJS({ mapAsMap: true, maxAliasCount: maxAliases }));
    const lineOf = (path: readonly (string | number)[]) => {
      const offset = (document.getIn(path, true) as Node | undefined)?.range?.[0];
      return offset === undefined ? null : lines.linePos(offset).line + firstLine - 1;
    };
    return { value, lineOf };
  } catch (error) {
    if (error instanceof TransferError) throw error;
    if (error instanceof RangeError) throw tooDeep();
    if (error instanceof ReferenceError) throw new TransferError('The YAML has too many aliases or an undefined alias');
    throw error;
  }
}

/** Throws `TransferError` for invalid JSON, or too deep nesting. */
export function readJson(text: string, firstLine = 1): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    const line = position === undefined ? firstLine : firstLine - 1 + lineAt(text, Number(position));
    throw new TransferError('Invalid JSON; the file may be incomplete', line);
  }
  return checked(value);
}
