import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Check, CheckResult } from '../../../shared/contract/checks.ts';
import type { DatasetRow } from '../../../shared/contract/datasets.ts';
import type { StoredCell } from '../../storage/comparison-cells.ts';
import { judgesAmong } from '../votes/cell-votes.ts';
import type { Judges } from './create-judges.ts';

const cellsAtOnce = 500;

/** Whether a judge gave no verdict on a cell, only a stale one, or one from before its calibration. */
export function needsVerdict(
  checks: readonly Check[],
  judges: Pick<Judges, 'exists' | 'verdictsOf'>,
): (cell: StoredCell) => boolean {
  const readers = judgesAmong(checks)
    .filter((id) => judges.exists(id))
    .map((id) => judges.verdictsOf(id));
  return ({ runId, checks: results }) =>
    runId !== null &&
    readers.some((read) => {
      const verdict = read(runId);
      return !verdict || verdict.isStale || (verdict.counts && results.some(({ counts }) => counts === false));
    });
}

/** What new verdicts cost. Those that the cell had are paid. */
export function addedCosts(before: readonly CheckResult[], after: readonly CheckResult[]): number {
  const paid = new Set(before.flatMap(({ runIds = [] }) => runIds));
  return after
    .filter(({ runIds = [] }) => runIds.some((id) => !paid.has(id)))
    .reduce((sum, { cost }) => sum + (cost ?? 0), 0);
}

export interface JudgeAgain {
  readonly isNeeded: (cell: StoredCell) => boolean;
  /** Null for a run that was deleted. */
  readonly judge: (cell: StoredCell, row: DatasetRow, signal: AbortSignal) => Promise<StoredCell | null>;
}

interface JudgeCellsOptions {
  readonly positions: Generator<number>;
  readonly read: (position: number) => StoredCell;
  readonly isNeeded: (cell: StoredCell) => boolean;
  /** Null for a run that was deleted. */
  readonly judge: (cell: StoredCell) => Promise<StoredCell | null>;
  readonly note: (before: StoredCell, after: StoredCell) => void;
  readonly concurrency: number;
  /** Whether the next one may be judged. */
  readonly canContinue: () => boolean;
}

/** Judges cells again, some at a time. */
export async function judgeCells(options: JudgeCellsOptions): Promise<void> {
  const { positions, read, isNeeded, judge, note, concurrency, canContinue } = options;
  async function work(): Promise<void> {
    for (let looked = 1; canContinue(); looked += 1) {
      const { done, value: position } = positions.next();
      if (done) return;
      if (looked % cellsAtOnce === 0) await nextTurn();
      const cell = read(position);
      if (!isNeeded(cell)) continue;
      const judged = await judge(cell);
      if (judged && canContinue()) note(cell, judged);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work));
}
