import type { DatasetColumn } from './contract/datasets.ts';

type ColumnType = DatasetColumn['type'];

/** Values of a JSON column that come as text, such as those of a CSV file, are JSON or plain text. */
export function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const fileIdForm = /^[\da-f]{64}$/;

/** The id of the file in a value; null if it is no file. */
export function fileIdOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const { fileId, ...rest } = value as { fileId?: unknown };
  if (typeof fileId !== 'string' || Object.keys(rest).length > 0) return null;
  const id = fileId.toLowerCase();
  return fileIdForm.test(id) ? id : null;
}

function asFile(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  return fileIdForm.test(text.toLowerCase()) ? { fileId: text.toLowerCase() } : parsedOr(text);
}

/** A value as a column of another type has it. One that no file column can have stays, so that the check of the row names it. */
export function convertValue(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return undefined;
  if (type === 'text') return typeof value === 'string' ? value : JSON.stringify(value);
  if (type === 'json') return typeof value === 'string' ? parsedOr(value) : value;
  if (type === 'file') return value === '' ? undefined : asFile(value);
  return value;
}
