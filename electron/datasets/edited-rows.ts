import { createReadStream } from 'node:fs';
import { AppError } from '../../shared/app-error.ts';
import { type EditedColumn, editedColumns, editedRows, type EditedRows } from '../../shared/contract/dataset-edits.ts';
import { type Dataset, maxRowBytes, type RowValues } from '../../shared/contract/datasets.ts';
import { convertValue } from '../../shared/dataset-values.ts';
import type { DatasetStore, WrittenRow } from '../storage/dataset-store.ts';
import { type RowChecker, RowIds } from './dataset-row.ts';

const rowsAtOnce = 250;
const maxBatchBytes = 4 * 1_048_576;
/** Characters of a line that keeps rows. Longer lines aren't parsed to find the kept rows. */
const maxKeepLine = 100;

function malformed(line: number, issue: string): AppError {
  const text = `has ${issue} in line ${line}`;
  return new AppError('invalid_request', `The file ${text}.`, { details: [{ field: 'file', issue: text }] });
}

/** The lines of a text file with their numbers, without empty ones. */
async function* linesOf(path: string): AsyncGenerator<{ number: number; text: string }> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let number = 0;
  for await (const chunk of createReadStream(path)) {
    const lines = (rest + decode(chunk as Buffer)).split('\n');
    rest = lines.pop()!;
    for (const text of lines) {
      number += 1;
      if (text.trim() !== '') yield { number, text };
    }
    // Escapes in JSON make a row longer, at most six times.
    if (rest.length > 6 * maxRowBytes) throw malformed(number + 1, 'more than 24 MB');
  }
  rest += decode();
  if (rest.trim() !== '') yield { number: number + 1, text: rest };

  function decode(chunk?: Buffer): string {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw malformed(number + 1, 'text that is not UTF-8');
    }
  }
}

function parsedLine({ number, text }: { number: number; text: string }): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(number, 'no valid JSON');
  }
}

/** The columns of the first line of a file of edits. Throws `invalid_request`. */
export async function readEditedColumns(path: string): Promise<EditedColumn[]> {
  for await (const line of linesOf(path)) {
    const parsed = editedColumns.safeParse(parsedLine(line));
    if (parsed.success) return parsed.data.columns;
    const [issue] = parsed.error.issues;
    const field = issue?.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
    throw malformed(line.number, `no valid columns (${field?.slice(1)}: ${issue?.message})`);
  }
  throw malformed(1, 'no columns');
}

export interface Edits {
  readonly path: string;
  readonly columns: readonly EditedColumn[];
  readonly base: Dataset;
  readonly checker: RowChecker;
  readonly store: Pick<DatasetStore, 'rows' | 'rowIds'>;
}

interface ColumnSource {
  readonly column: EditedColumn;
  /** Name in the base version; null for a new column. */
  readonly from: string | null;
  readonly isRetyped: boolean;
}

function sourcesOf({ columns, base }: Edits): ColumnSource[] {
  const types = new Map(base.columns.map(({ name, type }) => [name, type]));
  return columns.map((column, index) => {
    const from = column.from === undefined ? (types.has(column.name) ? column.name : null) : column.from;
    if (from !== null && !types.has(from))
      throw malformed(1, `no valid columns (columns[${index}].from: is not a column of version ${base.version})`);
    return { column, from, isRetyped: from !== null && types.get(from) !== column.type };
  });
}

/** Whether the rows of the base version have the same values in the new one. */
function areRowsSame(sources: readonly ColumnSource[], base: Dataset): boolean {
  const same = new Map(
    sources.filter(({ column, from }) => from === column.name).map(({ column }) => [column.name, column.type]),
  );
  return (
    base.columns.every(({ name, type }) => same.get(name) === type) &&
    sources.every(({ column, from }) => from === null || from === column.name)
  );
}

function editOf(line: { number: number; text: string }): EditedRows {
  const parsed = editedRows.safeParse(parsedLine(line));
  if (!parsed.success) throw malformed(line.number, 'neither kept nor new rows');
  return parsed.data;
}

/** Rows of the base version that the file keeps unchanged. Throws `invalid_request` for a row that it doesn't have or uses twice. */
async function unchangedRows({ path, base, store }: Edits): Promise<Set<string>> {
  const used = new Uint8Array(base.rowCount);
  const ids = new Set<string>();
  let isHead = true;
  for await (const line of linesOf(path)) {
    if (isHead || line.text.length > maxKeepLine) {
      isHead = false;
      continue;
    }
    const edit = editOf(line);
    if (!('keep' in edit)) continue;
    const [offset, count] = edit.keep;
    if (offset + count > base.rowCount)
      throw malformed(line.number, `rows beyond the ${base.rowCount} of version ${base.version}`);
    if (used.subarray(offset, offset + count).includes(1)) throw malformed(line.number, 'a row that is used before');
    used.fill(1, offset, offset + count);
    for (let at = offset; at < offset + count; at += rowsAtOnce) {
      const limit = Math.min(rowsAtOnce, offset + count - at);
      for (const { id } of store.rowIds(base.id, base.version, { offset: at, limit })) ids.add(id);
    }
  }
  return ids;
}

/** Turns rows of the base version and new values into rows of the new version. */
class RowEditor {
  readonly #edits: Edits;
  readonly #sources: readonly ColumnSource[];
  readonly #areSame: boolean;
  readonly #ids: RowIds;
  #count = 0;

  constructor(edits: Edits, sources: readonly ColumnSource[], unchanged: ReadonlySet<string>) {
    this.#edits = edits;
    this.#sources = sources;
    this.#areSame = areRowsSame(sources, edits.base);
    this.#ids = new RowIds(this.#areSame ? unchanged : []);
  }

  #written(values: RowValues): WrittenRow {
    const checked = this.#edits.checker.check(values, `rows[${this.#count}]`);
    this.#count += 1;
    return { id: this.#ids.next(checked.json), ...checked };
  }

  #convert(values: RowValues): RowValues {
    return Object.fromEntries(
      this.#sources.flatMap(({ column, from, isRetyped }): [string, unknown][] =>
        from === null ? [] : [[column.name, isRetyped ? convertValue(values[from], column.type) : values[from]]],
      ),
    );
  }

  *keep(offset: number, count: number): Generator<WrittenRow> {
    const { base, store } = this.#edits;
    for (let at = offset; at < offset + count;) {
      const limit = Math.min(rowsAtOnce, offset + count - at);
      if (this.#areSame) {
        const rows = store.rowIds(base.id, base.version, { offset: at, limit });
        for (const { content } of rows) yield { content };
        this.#count += limit;
        at += limit;
        continue;
      }
      const rows = store.rows(base.id, base.version, { offset: at, limit, maxBytes: maxBatchBytes });
      for (const { values } of rows) yield this.#written(this.#convert(values));
      at += rows.length;
    }
  }

  change(offset: number, values: RowValues, line: number): WrittenRow {
    const { base, store } = this.#edits;
    const [row] = store.rows(base.id, base.version, { offset, limit: 1, maxBytes: Infinity });
    if (!row) throw malformed(line, `a row beyond the ${base.rowCount} of version ${base.version}`);
    return this.#written({ ...this.#convert(row.values), ...values });
  }

  add(values: RowValues): WrittenRow {
    return this.#written(values);
  }
}

/** The rows of a version by a file of edits. Throws `invalid_request` that names the line, or the row and column. */
export async function* editedRowsOf(edits: Edits): AsyncGenerator<WrittenRow> {
  const sources = sourcesOf(edits);
  const editor = new RowEditor(edits, sources, await unchangedRows(edits));
  let isHead = true;
  for await (const line of linesOf(edits.path)) {
    if (isHead) {
      isHead = false;
      continue;
    }
    const edit = editOf(line);
    if ('keep' in edit) {
      if (line.text.length > maxKeepLine) throw malformed(line.number, 'too many spaces');
      yield* editor.keep(...edit.keep);
    } else if ('row' in edit) yield editor.change(edit.row, edit.values, line.number);
    else yield editor.add(edit.values);
  }
}
