import { AppError } from '../../../shared/app-error.ts';
import type { DatasetColumn, RowValues } from '../../../shared/contract/datasets.ts';
import { createMutex } from '../../common/mutex.ts';
import { createWorkerClient, startThread, type WorkerClient } from '../../common/worker-client.ts';
import { workerUrl } from '../../common/worker-url.ts';
import type { IncomingRows } from '../create-datasets.ts';
import type { ImportMethods } from './import-worker.ts';
import type { TableFile } from './read-table.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

/** Reads tables, each in a thread of its own with limits of time and memory, one at a time. */
export interface TableReader {
  /**
   * Calls `take` with the columns and rows of a file. `types` replaces types of its columns. Throws `invalid_request` that names the line
   * or the column, and `payload_too_large`.
   */
  read<Result>(
    file: TableFile,
    types: Readonly<Record<string, DatasetColumn['type']>>,
    take: (table: IncomingRows) => Promise<Result>,
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

function withTypes(columns: readonly DatasetColumn[], types: Readonly<Record<string, DatasetColumn['type']>>) {
  const names = new Set(columns.map(({ name }) => name));
  for (const name of Object.keys(types)) {
    if (!names.has(name)) {
      const issue = `has no column "${name.slice(0, 100)}"`;
      throw new AppError('invalid_request', `The file ${issue}.`, { details: [{ field: 'types', issue }] });
    }
  }
  return columns.map(({ name, type }) => ({ name, type: Object.hasOwn(types, name) ? types[name]! : type }));
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

  return {
    async read(file, types, take, { signal }) {
      const release = await mutex.take({ signal });
      const worker = createWorkerClient<ImportMethods>({
        name: 'Reading a table',
        start: () => startThread(workerUrl(import.meta.url, 'import-worker'), { maxHeapMegabytes: megabytes }),
      });
      try {
        const limits = { signal, onAbort: 'terminate', timeLimitMs: milliseconds } as const;
        const found = await worker.call('inspect', file, limits);
        const columns = withTypes(found.columns, types);
        await worker.call('open', { ...file, columns }, limits);
        return await take({ rows: rowsOf(worker, { signal }), columns: () => columns });
      } catch (error) {
        throw describe(error, signal);
      } finally {
        await worker.terminate(new Error('The table was read.'));
        release();
      }
    },
  };
}
