import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../../shared/app-error.ts';
import type { BlindPair } from '../../../shared/contract/blind-votes.ts';
import type { DatasetRow } from '../../../shared/contract/datasets.ts';
import type { RunDetail } from '../../../shared/contract/runs.ts';
import { createSeededRandom } from '../../../shared/seeded-random.ts';
import type { StoredCell } from '../../storage/comparison-cells.ts';
import type { ComparisonStore, StoredComparison } from '../../storage/comparison-store.ts';
import type { DatasetStore } from '../../storage/dataset-store.ts';
import type { FileReader } from '../../storage/file-store.ts';
import type { RunStore } from '../../storage/storage.ts';
import type { StoredBlindVote, StoredPairVote, VoteStore } from '../../storage/vote-store.ts';
import { type CellTable, rowOrder } from '../cell-table.ts';
import type { ComparisonJob } from '../comparison-job.ts';

export interface BlindPairsOptions {
  readonly votes: VoteStore;
  readonly store: Pick<ComparisonStore, 'cell'>;
  readonly datasets: Pick<DatasetStore, 'read' | 'rows'>;
  readonly runs: Pick<RunStore, 'read'>;
}

export type Variants = Pick<StoredBlindVote, 'first' | 'second'>;

/** The cells of a pair, by variant. */
export interface PairCells {
  readonly first: StoredCell;
  readonly second: StoredCell;
}

const maxValueCharacters = 20_000;
const maxAnswerCharacters = 200_000;
/** Rows that are looked at before other work gets its turn. */
const rowsAtOnce = 500;

/** Whether the second variant is on the left. Rows of one seed differ, and a row stays as it is. */
export function isSwapped(seed: number, row: number): boolean {
  return createSeededRandom(seed ^ Math.imul(row + 1, 0x9e37_79b1)).boolean(0.5);
}

function hasAnswers(
  cells: CellTable,
  { row, repeat }: Pick<StoredPairVote, 'row' | 'repeat'>,
  { first, second }: Variants,
): boolean {
  if (repeat >= cells.repeats) return false;
  return [first, second].every((variant) => cells.get(cells.position({ row, variant, repeat })) === 'Completed');
}

/** The first repeat of a row of which both variants have an answer; null without one. */
export function repeatWithAnswers(cells: CellTable, row: number, variants: Variants): number | null {
  for (let repeat = 0; repeat < cells.repeats; repeat += 1)
    if (hasAnswers(cells, { row, repeat }, variants)) return repeat;
  return null;
}

/** Rows with an answer of both variants. */
export function countPairs(cells: CellTable, variants: Variants): number {
  let pairs = 0;
  for (let row = 0; row < cells.rows; row += 1) if (repeatWithAnswers(cells, row, variants) !== null) pairs += 1;
  return pairs;
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, maxValueCharacters);
}

/** Nothing that names the variant, such as the run. */
function answerOf({ output, citations }: RunDetail): BlindPair['answers'][number] {
  return {
    text: output.content.slice(0, maxAnswerCharacters),
    toolCalls: (output.toolCalls ?? []).map(({ name, arguments: text }) => ({ name, arguments: text })),
    passages: citations.map(({ index, sourceName, text }) => ({ index, sourceName, text })),
  };
}

/** A row with the values that a voter sees: without the expected answer. */
function rowOf(
  { datasetId, datasetVersion }: StoredComparison,
  row: number,
  datasets: BlindPairsOptions['datasets'],
): { row: DatasetRow; values: BlindPair['values'] } {
  const page = { offset: row, limit: 1, maxBytes: Infinity };
  const [found] = datasets.rows(datasetId, datasetVersion, page);
  const shown = datasets.read(datasetId, datasetVersion).columns.filter(({ type }) => type !== 'expected');
  const values = shown.flatMap(({ name }) => {
    const value = found!.values[name];
    return value === undefined || value === null ? [] : [[name, textOf(value)] as const];
  });
  return { row: found!, values: Object.fromEntries(values) };
}

export function createBlindPairs({ votes, store, datasets, runs }: BlindPairsOptions) {
  function cellsOf(job: ComparisonJob, variants: Variants, row: number, repeat: number): PairCells | null {
    const cell = (variant: number) => store.cell(job.comparison.sequence, job.cells.position({ row, variant, repeat }));
    const [first, second] = [cell(variants.first), cell(variants.second)];
    return first && second && { first, second };
  }

  /** A pair as the voter sees it; null if a run was deleted. Throws `forbidden` if the caller may not read the runs. */
  function show(
    job: ComparisonJob,
    { seed }: Pick<StoredBlindVote, 'seed'>,
    { row, repeat, cells }: { readonly row: number; readonly repeat: number; readonly cells: PairCells },
    { callerId, canReadAll }: FileReader,
  ): BlindPair | null {
    const [first, second] = [cells.first, cells.second].map(({ runId }) => (runId === null ? null : runs.read(runId)));
    if (first?.status !== 'Completed' || second?.status !== 'Completed') return null;
    if (!canReadAll && [first, second].some((run) => run.callerId !== callerId))
      throw new AppError('forbidden', 'Reading the answers of runs of other callers needs the scope `audit`.');
    const answers = [answerOf(first), answerOf(second)];
    const found = rowOf(job.comparison, row, datasets);
    return {
      rowId: found.row.id,
      position: row,
      repeat: repeat + 1,
      values: found.values,
      answers: isSwapped(seed, row) ? answers.toReversed() : answers,
    };
  }

  return {
    cellsOf,
    /** A pair that was shown before. */
    showAgain(
      job: ComparisonJob,
      vote: StoredBlindVote,
      { row, repeat }: Pick<StoredPairVote, 'row' | 'repeat'>,
      reader: FileReader,
    ): BlindPair | null {
      const cells = cellsOf(job, vote, row, repeat);
      return cells && show(job, vote, { row, repeat, cells }, reader);
    },
    /** The given repeat of a row if both variants have an answer of it, or the first such one; null without one. */
    repeatOf(job: ComparisonJob, vote: Variants, row: number, given: number | undefined): number | null {
      if (given === undefined) return repeatWithAnswers(job.cells, row, vote);
      return hasAnswers(job.cells, { row, repeat: given }, vote) ? given : null;
    },
    /** The next pair without a vote; null if there is none. Notes pairs of equal answers, which need no vote. */
    async next(job: ComparisonJob, vote: StoredBlindVote, reader: FileReader): Promise<BlindPair | null> {
      job.flush();
      const voted = new Set(votes.pairVotes(vote.sequence).map(({ row }) => row));
      let looked = 0;
      for (const row of rowOrder(job.cells.rows, vote.seed)) {
        const repeat = voted.has(row) ? null : repeatWithAnswers(job.cells, row, vote);
        const cells = repeat === null ? null : cellsOf(job, vote, row, repeat);
        if (!cells || repeat === null) continue;
        const { answerHash } = cells.first;
        if (answerHash !== null && answerHash === cells.second.answerHash) {
          votes.setPairVotes(vote.sequence, [{ row, repeat, vote: 'identical', note: null }]);
        } else {
          const pair = show(job, vote, { row, repeat, cells }, reader);
          if (pair) return pair;
        }
        if ((looked += 1) % rowsAtOnce === 0) await nextTurn();
      }
      return null;
    },
  };
}
