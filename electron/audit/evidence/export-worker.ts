import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { AppError, type ErrorBody } from '../../../shared/app-error.ts';
import { describeDiskFailure } from '../../storage/disk-failure.ts';
import { createExportRows } from '../../storage/export-rows.ts';
import type { ExportTask, ExportMessage } from './export-messages.ts';
import { finishPack } from './finish-pack.ts';
import { previewRules } from './preview-rules.ts';
import { writePack } from './write-pack.ts';

const port = parentPort!;
const task = workerData as ExportTask;
const stop = new AbortController();

function post(message: ExportMessage): void {
  port.postMessage(message);
}

async function work(database: Database.Database): Promise<void> {
  const rows = createExportRows(database);
  if (task.kind === 'preview') {
    post({ type: 'previewed', rules: previewRules(task, rows) });
    return;
  }
  const written = await writePack({
    ...task,
    rows,
    signal: stop.signal,
    onProgress: (progress) => post({ type: 'progress', progress }),
  });
  if (written === null) return;
  const result = await finishPack({
    ...task,
    written,
    signal: stop.signal,
    onStep: (step) => post({ type: 'step', step }),
  });
  post({ type: 'completed', result });
}

/** What went wrong, as data: a worker's errors lose their fields on the way. */
function describe(error: unknown): { message: string; stack: string; body: ErrorBody | null } {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
  const known = isFull
    ? new AppError('conflict', 'The disk is full. Free some space, then resume the pack.')
    : (describeDiskFailure(error) ?? error);
  return { message, stack, body: known instanceof AppError ? known.toBody('') : null };
}

port.on('message', () => stop.abort());
const database = new Database(task.databaseFile, { readonly: true, fileMustExist: true });
try {
  await work(database);
} catch (error) {
  if (!stop.signal.aborted) post({ type: 'failed', ...describe(error) });
} finally {
  database.close();
  port.close();
}
