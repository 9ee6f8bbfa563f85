import type { DatasetColumn } from '../../../../../shared/contract/datasets.ts';
import { convertValue, fileIdOf, parsedOr } from '../../../../../shared/dataset-values.ts';
import { describeMistake, parseJson } from '../../../../drafts/json-text.ts';

type ColumnType = DatasetColumn['type'];

export const columnTypeNames: Readonly<Record<ColumnType, string>> = {
  text: 'Text',
  json: 'JSON',
  file: 'File',
  expected: 'Expected',
};

/** Characters of a cell that the grid shows. A cell can have 4 MB. */
const maxShown = 300;

/** One line for the grid. */
export function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value.slice(0, maxShown) : JSON.stringify(value).slice(0, maxShown);
  return text.replaceAll(/\r\n|[\r\n]/g, ' ↵ ');
}

/** The text that a person edits or copies. */
export function editText(value: unknown, type: ColumnType, { isIndented = false } = {}): string {
  if (value === null || value === undefined) return '';
  const file = type === 'file' ? fileIdOf(value) : null;
  if (file !== null) return file;
  // Text of a JSON column has quotes, so that `"7"` isn't 7.
  if (typeof value === 'string' && type !== 'json') return value;
  return JSON.stringify(value, null, isIndented ? 2 : undefined);
}

/** A value for a cell, null for none, or why the text isn't one. */
export type ReadCell = { readonly value: unknown } | { readonly problem: string };

/** Reads what a person typed into a cell. */
export function readTyped(text: string, type: ColumnType): ReadCell {
  if (type === 'json') {
    if (text.trim() === '') return { value: null };
    const parsed = parseJson(text);
    return 'mistake' in parsed ? { problem: describeMistake(parsed.mistake) } : parsed;
  }
  return { value: readPasted(text, type) };
}

/** Reads pasted text, of which every cell must become something: text that isn't JSON is text in a JSON column. */
export function readPasted(text: string, type: ColumnType): unknown {
  if (text === '') return null;
  // An expected list or object was copied from a cell with one; a number stays the text that an answer has.
  if (type === 'expected') return /^\s*[[{]/.test(text) ? parsedOr(text) : text;
  return convertValue(text, type) ?? null;
}

/** Why a value can't be saved in a column; null if it can. */
export function valueProblem(value: unknown, type: ColumnType): string | null {
  if (value === null || value === undefined || type !== 'file') return null;
  return fileIdOf(value) === null ? 'Not a file. Choose a file, or clear the cell.' : null;
}
