import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CopiedRun, copiedRunOf, type LocalRun } from './copied-run.ts';

/** Runs that are converted in one turn of the thread. */
const convertedAtOnce = 20;

/** How far this host has copied. It is stored in the team database, in the transaction that writes the runs. */
export interface HostMark {
  readonly copied_run: number;
  readonly copied_run_id: string | null;
  readonly copied_revision: number;
  /** Sequences of runs that were active when the copier passed them. */
  readonly active: readonly number[];
  /** Runs that the database can't store. */
  readonly rejected: number;
}

export interface Batch {
  readonly mark: HostMark;
  readonly next: HostMark;
  readonly added: readonly LocalRun[];
  readonly changed: readonly LocalRun[];
  /** Sequences on this device. */
  readonly removed: readonly number[];
  /** Of these and of others that may be in the team database, because it is compared with all runs again. */
  readonly removedIds: readonly string[];
  readonly hasMore: boolean;
}

/** A batch as it is written. */
export interface PreparedBatch {
  readonly batch: Batch;
  readonly runs: readonly CopiedRun[];
  readonly changed: readonly { readonly run: CopiedRun; readonly local: LocalRun }[];
}

/** Converts the runs of a batch, in parts: meanwhile the database's answers are read. */
export async function prepare(batch: Batch, isSearchable = true): Promise<PreparedBatch> {
  const convert = async (runs: readonly LocalRun[]): Promise<CopiedRun[]> => {
    const copied: CopiedRun[] = [];
    for (const run of runs) {
      copied.push(copiedRunOf(run, { isSearchable }));
      if (copied.length % convertedAtOnce === 0) await nextTurn();
    }
    return copied;
  };
  const runs = await convert(batch.added);
  const changed = (await convert(batch.changed)).map((run, index) => ({ run, local: batch.changed[index]! }));
  return { batch, runs, changed };
}
