/** Reading JSON of other programs and providers, of which nothing is certain. */

import { maxTokens } from '../providers/provider.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A count of tokens, or an index; null for anything that can't be one. */
export function countOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= maxTokens ? Math.round(value) : null;
}

/** A value as JSON text; a text stays as it is. */
export function jsonOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Levels of nested JSON. Writing and copying a value end with an error some thousand levels below. */
const maxLevels = 256;

/** Replaces what is nested more than 256 levels deep, in place. Returns whether there was any. */
function replaceDeep(root: unknown): boolean {
  let isCut = false;
  let level = [root].filter((value) => typeof value === 'object' && value !== null) as Record<string, unknown>[];
  for (let depth = 1; level.length > 0; depth += 1) {
    const below: Record<string, unknown>[] = [];
    for (const parent of level) {
      for (const name of Object.keys(parent)) {
        const child = parent[name];
        if (typeof child !== 'object' || child === null) continue;
        if (depth < maxLevels) below.push(child as Record<string, unknown>);
        else {
          parent[name] = '[nested too deeply to be recorded]';
          isCut = true;
        }
      }
    }
    level = below;
  }
  return isCut;
}

/** Replaces what is nested more than 256 levels deep, in place, and returns the value. */
export function limitLevels(root: unknown): unknown {
  replaceDeep(root);
  return root;
}

/** Values of one JSON text. A thread that runs out of memory while it parses ends the whole process. */
const maxValues = 4_000_000;
/** Shorter texts can't have that many. */
const maxUncounted = 2 * maxValues;

/** Where a string of a JSON text ends; the end of the text if it doesn't. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** Whether a JSON text has more than four million values. */
export function hasTooManyValues(text: string): boolean {
  if (text.length <= maxUncounted) return false;
  let count = 0;
  for (let index = 0; index < text.length && count <= maxValues; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === ',' || character === '{' || character === '[') count += 1;
  }
  return count > maxValues;
}

/** The number of fields that the objects of a JSON value have. */
function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const child of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) count += countFields(child);
  return count;
}

/** Whether an object of a JSON text has two fields of the same name, of which parsers take either. `value` is the parsed text. */
export function hasRepeatedFields(text: string, value: unknown): boolean {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === ':') count += 1;
  }
  return count !== countFields(value);
}

interface ReadJson<Value> {
  readonly value: Value;
  /** Whether something is missing because it is nested more than 256 levels deep. */
  readonly isCut: boolean;
}

/** A JSON value without what is nested more than 256 levels deep. Throws a `SyntaxError`, also for more than four million values. */
export function readJson(text: string): ReadJson<unknown> {
  if (hasTooManyValues(text)) throw new SyntaxError('too many values');
  const value: unknown = JSON.parse(text);
  return { value, isCut: replaceDeep(value) };
}

/** A JSON object without what is nested more than 256 levels deep; null for anything else. */
export function readObject(text: string): ReadJson<Fields> | null {
  try {
    const { value, isCut } = readJson(text);
    return isObject(value) ? { value, isCut } : null;
  } catch {
    return null;
  }
}

/** A JSON object; null for anything else. */
export function parseObject(text: string): Fields | null {
  return readObject(text)?.value ?? null;
}
