import { invalidField } from '../../shared/app-error.ts';
import type { ComparedRow, ComparisonCell, ComparisonCells } from '../../shared/contract/comparison-results.ts';
import { type CellState, cellState } from '../../shared/contract/comparisons.ts';
import { newCell, type RowFilter, type StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonSetup, ComparisonStore, StoredComparison } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { ComparisonJob } from './comparison-job.ts';
import type { ExportedCell } from './export-comparison.ts';

/** Who reads, and may see the texts of its own runs, or those of all. */
export type CellCaller = FileReader;

export interface CellQuery {
  readonly offset: number;
  readonly limit: number;
  readonly variant: string | null;
  readonly state: CellState | null;
}

export interface RowQuery {
  readonly offset: number;
  readonly limit: number;
  readonly filter: RowFilter | null;
}

/** Reads cells and rows of comparisons as callers see them: of runs of others, only a caller that may read all sees texts. */
export interface CellReader {
  /** Throws `invalid_request` for an unknown variant. */
  cells(job: ComparisonJob, query: CellQuery, caller: CellCaller): ComparisonCells;
  rows(job: ComparisonJob, query: RowQuery, caller: CellCaller): { data: ComparedRow[]; offset: number; total: number };
  /** Every cell with its row and its whole answer. */
  eachCell(job: ComparisonJob, caller: CellCaller): Generator<ExportedCell>;
  /** The number of a row; null for an unknown one. */
  rowNumberIn(comparison: StoredComparison): (rowId: string) => number | null;
}

const rowsAtOnce = 1000;
/** Of an answer in a table. */
const shownCharacters = 2000;
/** More than any answer has. */
const allCharacters = 2 ** 30;

const hidden = 'Only the caller of the run and keys with the scope `audit` can read this.';

/** Without what quotes the run. Its results and numbers stay. */
function withoutTexts(cell: StoredCell): StoredCell {
  const failure = cell.failure && { ...cell.failure, message: hidden };
  return { ...cell, failure, answerHash: null, checks: cell.checks.map((check) => ({ ...check, reason: hidden })) };
}

/** The numbers of one page. */
function pageOf(total: number, { offset, limit }: { offset: number; limit: number }): number[] {
  return Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, step) => offset + step);
}

/** Reads rows ahead, because cells of a page are usually next to each other. */
function rowIdsIn(
  { datasetId, datasetVersion }: StoredComparison,
  datasets: Pick<DatasetStore, 'rowIds'>,
  ahead: number,
): (row: number) => string {
  const rowIds = new Map<number, string>();
  return (row) => {
    if (!rowIds.has(row)) {
      const ids = datasets.rowIds(datasetId, datasetVersion, { offset: row, limit: ahead });
      for (const [index, { id }] of ids.entries()) rowIds.set(row + index, id);
    }
    return rowIds.get(row) ?? '';
  };
}

/** Reads cells as callers see them. Positions must be ascending. */
function createCellDescriber(store: ComparisonStore, datasets: Pick<DatasetStore, 'rowIds'>) {
  return function describe(
    job: ComparisonJob,
    setup: ComparisonSetup,
    positions: readonly number[],
    { callerId, canReadAll }: CellCaller,
    maxCharacters = shownCharacters,
  ): ComparisonCell[] {
    const [from, to] = [positions[0] ?? 0, (positions.at(-1) ?? -1) + 1];
    const isDense = to - from < 2 * positions.length + 100;
    const { sequence } = job.comparison;
    const range: StoredCell[] = isDense ? store.cells(sequence, { from, to }) : [];
    const found = new Map(range.map((cell) => [cell.position, cell]));
    const rowIdOf = rowIdsIn(job.comparison, datasets, isDense ? 200 : 1);
    return positions.map((position) => {
      const stored = (isDense ? found.get(position) : store.cell(sequence, position)) ?? newCell(position);
      const { runId } = stored;
      const isReadable = canReadAll || runId === null || store.callerOf(runId) === callerId;
      const cell = isReadable ? stored : withoutTexts(stored);
      const { row, variant, repeat } = job.cells.index(position);
      const { position: _position, ...shown } = cell;
      return {
        ...shown,
        checks: [...cell.checks],
        rowId: rowIdOf(row),
        variant: setup.variants[variant]!.name,
        repeat: repeat + 1,
        // A variant can be stopped without a change of its stored cells.
        state: job.cells.get(position),
        answer: isReadable && cell.state === 'Completed' && runId !== null ? store.answer(runId, maxCharacters) : null,
      };
    });
  };
}

/** Finds the number of a row; null for an unknown one. */
function rowNumbersIn(
  { datasetId, datasetVersion, settings }: StoredComparison,
  datasets: Pick<DatasetStore, 'rowIds'>,
): (rowId: string) => number | null {
  return (rowId) => {
    for (let offset = 0; offset < settings.rowCount; offset += rowsAtOnce) {
      const ids = datasets.rowIds(datasetId, datasetVersion, { offset, limit: rowsAtOnce });
      const index = ids.findIndex(({ id }) => id === rowId);
      if (index >= 0) return offset + index;
    }
    return null;
  };
}

export function createCellReader(store: ComparisonStore, datasets: Pick<DatasetStore, 'rows' | 'rowIds'>): CellReader {
  const describe = createCellDescriber(store, datasets);

  return {
    cells(job, { variant, state, ...page }, caller) {
      job.flush();
      const setup = store.setup(job.comparison.sequence);
      const index = variant === null ? null : setup.variants.findIndex(({ name }) => name === variant);
      if (index === -1) throw invalidField('variant', 'is not a variant of the comparison');
      if (index === null && state === null) {
        const { total } = job.cells;
        return { data: describe(job, setup, pageOf(total, page), caller), offset: page.offset, total };
      }
      const matching = [...job.cells.positions(state === null ? cellState.options : [state], index)];
      const positions = matching.slice(page.offset, page.offset + page.limit);
      return { data: describe(job, setup, positions, caller), offset: page.offset, total: matching.length };
    },
    rows(job, { filter, ...page }, caller) {
      job.flush();
      const { sequence, datasetId, datasetVersion, settings } = job.comparison;
      const setup = store.setup(sequence);
      const cellsPerRow = settings.variantCount * settings.repeats;
      const found = filter && store.matchingRows(sequence, { filter, cellsPerRow, ...page });
      const data = (found?.rows ?? pageOf(settings.rowCount, page)).map((position) => {
        const [row] = datasets.rows(datasetId, datasetVersion, { offset: position, limit: 1, maxBytes: Infinity });
        const positions = Array.from({ length: cellsPerRow }, (_, step) => position * cellsPerRow + step);
        return { ...row!, position, cells: describe(job, setup, positions, caller) };
      });
      return { data, offset: page.offset, total: found?.total ?? settings.rowCount };
    },
    *eachCell(job, caller) {
      job.flush();
      const { sequence, datasetId, datasetVersion, settings } = job.comparison;
      const setup = store.setup(sequence);
      const cellsPerRow = settings.variantCount * settings.repeats;
      for (let row = 0; row < settings.rowCount; row += 1) {
        const [found] = datasets.rows(datasetId, datasetVersion, { offset: row, limit: 1, maxBytes: Infinity });
        const positions = pageOf((row + 1) * cellsPerRow, { offset: row * cellsPerRow, limit: cellsPerRow });
        for (const cell of describe(job, setup, positions, caller, allCharacters))
          yield { row, values: found!.values, cell };
      }
    },
    rowNumberIn: (comparison) => rowNumbersIn(comparison, datasets),
  };
}
