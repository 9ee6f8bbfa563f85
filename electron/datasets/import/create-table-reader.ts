import { AppError, invalidField } from '../../../shared/app-error.ts';
import type { ImportReport } from '../../../shared/contract/dataset-import.ts';
import { columnIssue, type DatasetColumn, type RowValues } from '../../../shared/contract/datasets.ts';
import { createMutex } from '../../common/mutex.ts';
import { createWorkerClient, startThread, type WorkerClient } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { IncomingRows } from '../create-datasets.ts';
import type { ImportMethods, ReadColumn } from './import-worker.ts';
import type { InspectedTable, TableFile } from './table.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

/** What the caller decides about the columns of a file, by their names in it. */
export interface ColumnChoices {
  readonly types: Readonly<Record<string, DatasetColumn['type']>>;
  /** New names; null leaves a column out. */
  readonly names: Readonly<Record<string, string | null>>;
}

/** Rows of a file as they are read, and what was changed or left out. */
export interface ReadTable extends IncomingRows {
  readonly report: ImportReport;
}

/** Reads tables, each in a separate thread with limits of time and memory, one at a time. */
export interface TableReader {
  /** Reads all of a file. Throws `invalid_request` that names the line, and `payload_too_large`. */
  inspect(file: TableFile, options: Cancellable): Promise<InspectedTable>;
  /** As `inspect`, and calls `take` with the columns and rows. Throws `invalid_request` for choices that name no column. */
  read<Result>(
    file: TableFile,
    choices: ColumnChoices,
    take: (table: ReadTable) => Promise<Result>,
    options: Cancellable,
  ): Promise<Result>;
}

export interface TableLimits {
  readonly milliseconds: number;
  readonly megabytes: number;
}

/** 200 MB take about ten seconds. A quote that never closes takes much longer, because every chunk extends the same cell. */
const defaultLimits: TableLimits = { milliseconds: 60_000, megabytes: 1024 };

function tooHard(issue: string): AppError {
  return new AppError('invalid_request', `The file ${issue}.`, { details: [{ field: 'file', issue }] });
}

/** The error of a thread that reached a limit, for a person. */
function describe(error: unknown, signal: AbortSignal): unknown {
  const { name, code } = error as { readonly name?: string; readonly code?: string };
  if (signal.aborted) return error;
  if (name === 'TimeoutError') return tooHard('takes too long to read; look for a quotation mark that never closes');
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooHard('needs too much memory; split it') : error;
}

function requireColumns(names: ReadonlySet<string>, field: keyof ColumnChoices, choices: object): void {
  for (const name of Object.keys(choices)) {
    if (names.has(name)) continue;
    const issue = `has no column "${name.slice(0, 100)}"`;
    throw new AppError('invalid_request', `The file ${issue}.`, { details: [{ field, issue }] });
  }
}

/** The columns to import. */
function chosenColumns(columns: readonly DatasetColumn[], { types, names }: ColumnChoices): ReadColumn[] {
  const known = new Set(columns.map(({ name }) => name));
  requireColumns(known, 'types', types);
  requireColumns(known, 'names', names);
  const chosen = columns.flatMap(({ name: source, type }): ReadColumn[] => {
    const name = Object.hasOwn(names, source) ? names[source]! : source;
    return name === null ? [] : [{ source, name, type: Object.hasOwn(types, source) ? types[source]! : type }];
  });
  if (chosen.length === 0) throw invalidField('names', 'leave no column');
  const found = columnIssue(chosen);
  if (found) throw invalidField(`names.${chosen[found.index]!.source}`, 'is the name of another column');
  return chosen;
}

export function createTableReader({ milliseconds, megabytes } = defaultLimits): TableReader {
  const mutex = createMutex(() => {});

  async function* rowsOf(worker: WorkerClient<ImportMethods>, options: Cancellable): AsyncGenerator<RowValues[]> {
    for (;;) {
      const rows = await worker.call('next', null, { ...options, onAbort: 'terminate', timeLimitMs: milliseconds });
      if (rows.length === 0) return;
      yield rows;
    }
  }

  /** Calls `use` with a thread and what it found in the file. */
  async function withThread<Result>(
    file: TableFile,
    { signal }: Cancellable,
    use: (worker: WorkerClient<ImportMethods>, found: InspectedTable) => Result | Promise<Result>,
  ): Promise<Result> {
    const release = await mutex.take({ signal });
    const worker = createWorkerClient<ImportMethods>({
      name: 'Reading a table',
      start: () => startThread(workerUrl(import.meta.url, 'import-worker'), { maxHeapMegabytes: megabytes }),
    });
    try {
      const limits = { signal, onAbort: 'terminate', timeLimitMs: milliseconds } as const;
      return await use(worker, await worker.call('inspect', file, limits));
    } catch (error) {
      throw describe(error, signal);
    } finally {
      await worker.terminate(new Error('The table was read.'));
      release();
    }
  }

  return {
    inspect: (file, options) => withThread(file, options, (_, found) => found),
    read: (file, choices, take, options) =>
      withThread(file, options, async (worker, found) => {
        const columns = chosenColumns(found.columns, choices);
        await worker.call('open', columns, { ...options, onAbort: 'terminate', timeLimitMs: milliseconds });
        const final = columns.map(({ name, type }) => ({ name, type }));
        return await take({ rows: rowsOf(worker, options), columns: () => final, report: found.report });
      }),
  };
}
