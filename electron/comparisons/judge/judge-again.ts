import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Check } from '../../../shared/contract/checks.ts';
import type { DatasetRow } from '../../../shared/contract/datasets.ts';
import type { StoredCell, VerdictNeed } from '../../storage/comparison-cells.ts';
import type { ComparisonStore } from '../../storage/comparison-store.ts';
import { judgesAmong } from '../votes/cell-votes.ts';
import type { Judges } from './create-judges.ts';

/** Cells that one query looks at: a few milliseconds. */
const cellsAtOnce = 2000;

/** What a judge would have to do. */
export interface JudgeNeeds {
  readonly judgeId: string;
  /** Answers by what their verdict lacks. */
  readonly counts: Readonly<Record<VerdictNeed, number>>;
  /** Tokens of the answers that it would be paid for, where they are known: their sum and number. */
  readonly tokens: { readonly sum: number; readonly answers: number };
}

export interface VerdictNeeds {
  readonly judges: readonly JudgeNeeds[];
  /** Positions of the cells, ascending. */
  readonly positions: readonly number[];
}

interface NeedsOptions {
  readonly checks: readonly Check[];
  readonly total: number;
  readonly store: Pick<ComparisonStore, 'verdictNeeds'>;
  readonly judges: Pick<Judges, 'currentOf'>;
  readonly signal?: AbortSignal;
}

/** The completed cells without a verdict of a judge as it is, or with one that doesn't count yet. Other work runs in between. */
export async function findVerdictNeeds(comparison: number, options: NeedsOptions): Promise<VerdictNeeds> {
  const current = judgesAmong(options.checks).flatMap((id) => options.judges.currentOf(id) ?? []);
  const found = current.map(({ judgeId }) => ({
    judgeId,
    counts: { missing: 0, stale: 0, uncounted: 0 },
    tokens: { sum: 0, answers: 0 },
  }));
  const positions: number[] = [];
  for (let from = 0; current.length > 0 && from < options.total; from += cellsAtOnce) {
    const here = new Set<number>();
    for (const [index, judge] of current.entries()) {
      const { counts, tokens } = found[index]!;
      for (const cell of options.store.verdictNeeds(comparison, judge, { from, to: from + cellsAtOnce })) {
        here.add(cell.position);
        counts[cell.need] += 1;
        if (cell.need === 'uncounted' || cell.completionTokens === null) continue;
        tokens.sum += cell.completionTokens;
        tokens.answers += 1;
      }
    }
    positions.push(...[...here].toSorted((one, other) => one - other));
    await nextTurn();
    options.signal?.throwIfAborted();
  }
  return { judges: found, positions };
}

export interface JudgedCell {
  /** With the new verdicts. */
  readonly cell: StoredCell;
  /** US dollars of the new verdicts. */
  readonly cost: number;
  /** What ended the judging after a part of it was paid, if others would fail, too. */
  readonly failure?: unknown;
}

export interface JudgeAgain {
  readonly positions: readonly number[];
  /** Null if nothing changed, such as for a run that was deleted. */
  readonly judge: (cell: StoredCell, row: DatasetRow, signal: AbortSignal) => Promise<JudgedCell | null>;
}

interface JudgeCellsOptions {
  readonly positions: readonly number[];
  readonly judge: (position: number) => Promise<void>;
  readonly concurrency: number;
  /** Whether the first one is judged alone, which shows what one costs. */
  readonly isFirstAlone: boolean;
  /** Whether one may be judged while so many are, of which `ended` have ended. */
  readonly canContinue: (judging: { readonly active: number; readonly ended: number }) => boolean;
}

/** Judges cells again, some at a time. */
export async function judgeCells(options: JudgeCellsOptions): Promise<void> {
  const { positions, judge, concurrency, canContinue } = options;
  let [next, ended] = [0, 0];
  async function work(until: number): Promise<void> {
    while (next < until && canContinue({ active: next - ended, ended })) {
      await judge(positions[next++]!);
      ended += 1;
      // A verdict that the judge gave before takes no time.
      await nextTurn();
    }
  }
  if (options.isFirstAlone) await work(1);
  await Promise.all(Array.from({ length: concurrency }, () => work(positions.length)));
}
