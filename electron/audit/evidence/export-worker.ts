/** Entry point of the thread that writes one evidence pack or previews its rules; started by `run-export-worker.ts`. */
import Database from 'better-sqlite3';
import { AppError } from '../../../shared/app-error.ts';
import { type CallContext, serveCalls } from '../../common/worker-server.ts';
import { describeDiskFailure } from '../../storage/disk-failure.ts';
import { createExportRows, type ExportRows } from '../../storage/export-rows.ts';
import { openRunSnapshot } from '../../storage/run-snapshot.ts';
import { finishPack } from './finish-pack.ts';
import type { PackCheckpoint, PackPlan, PackResult } from './pack-store.ts';
import { type PreviewedRules, previewRules, type PreviewTask } from './preview-rules.ts';
import { writePack } from './write-pack.ts';

export interface PackTask {
  readonly databaseFile: string;
  /** A copy of other hosts' runs; absent for runs of this device. */
  readonly snapshotFile?: string;
  readonly filesDirectory: string;
  readonly folder: string;
  readonly plan: PackPlan;
  readonly conversations: number;
}

/** The last checkpoint, or the step that has started. */
export type PackProgress = { readonly checkpoint: PackCheckpoint } | { readonly step: 'checking' | 'packing' };

async function withRows<Result>(
  { databaseFile, snapshotFile }: Pick<PackTask, 'databaseFile' | 'snapshotFile'>,
  run: (rows: ExportRows) => Result | Promise<Result>,
): Promise<Result> {
  const database = new Database(databaseFile, { readonly: true, fileMustExist: true });
  let snapshot: ReturnType<typeof openRunSnapshot> | null = null;
  try {
    if (snapshotFile !== undefined) snapshot = openRunSnapshot(snapshotFile, database);
    return await run(snapshot ?? createExportRows(database));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
      throw new AppError('conflict', 'The disk is full. Free some space, then resume the pack.');
    throw describeDiskFailure(error) ?? error;
  } finally {
    snapshot?.close();
    database.close();
  }
}

const methods = {
  preview: (task: PreviewTask): Promise<PreviewedRules> => withRows(task, (rows) => previewRules(task, rows)),
  writePack: (task: PackTask, { signal, onProgress }: CallContext<PackProgress>): Promise<PackResult | null> =>
    withRows(task, async (rows) => {
      const onCheckpoint = (checkpoint: PackCheckpoint) => onProgress({ checkpoint });
      const written = await writePack({ ...task, rows, signal, onProgress: onCheckpoint });
      if (written === null) return null;
      return finishPack({ ...task, written, signal, onStep: (step) => onProgress({ step }) });
    }),
};

export type ExportMethods = typeof methods;

serveCalls(methods);
