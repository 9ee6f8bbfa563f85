import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import type {
  ComparedCell,
  ComparedRow,
  ComparisonCell,
  ComparisonCells,
  RowFilter,
  RowSort,
} from '../../shared/contract/comparison-results.ts';
import { type CellState, cellState } from '../../shared/contract/comparisons.ts';
import type { RowValues } from '../../shared/contract/datasets.ts';
import type { CellVote, CellVoteInput } from '../../shared/contract/votes.ts';
import { newCell, type StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonStore, StoredComparison } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { FileReader } from '../storage/file-store.ts';
import { compareFields, expectedFields, maxComparedCharacters } from './compare-fields.ts';
import type { ComparisonJob } from './comparison-job.ts';
import type { ExportSelection, ExportedCell } from './export-source.ts';
import { type CellOpinionsOptions, createCellOpinions, describeVote } from './votes/cell-votes.ts';

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
  readonly filter: RowFilter;
  readonly sort: RowSort;
  /** Of each text. */
  readonly characters: number;
}

export interface RowPage {
  readonly data: ComparedRow[];
  readonly offset: number;
  readonly total: number;
  /** Rows by filter; null until all cells are loaded. */
  readonly counts: Record<RowFilter, number> | null;
}

/** Reads cells and rows of comparisons as callers see them: of runs of others, only a caller that may read all sees texts. */
export interface CellReader {
  /** Throws `invalid_request` for an unknown variant. */
  cells(job: ComparisonJob, query: CellQuery, caller: CellCaller): ComparisonCells;
  /** Fewer rows than asked for if they have many cells. */
  rows(job: ComparisonJob, query: RowQuery, caller: CellCaller): Promise<RowPage>;
  /** Every cell with its row and its whole answer, or those of a variant. */
  eachCell(job: ComparisonJob, caller: CellCaller, selection?: ExportSelection): Generator<ExportedCell>;
  /** Sets or removes the caller's vote on a completed cell. Throws `invalid_request` with the field, and `forbidden`. */
  vote(job: ComparisonJob, position: number, vote: CellVoteInput, caller: CellCaller): CellVote[];
  /** The number of a row; null for an unknown one. */
  rowNumberIn(comparison: StoredComparison): (rowId: string) => number | null;
}

const rowsAtOnce = 1000;
/** Of one page of rows. */
const maxCellsAtOnce = 2000;
/** Rows are read for so long before other work gets its turn. */
const maxTurnMs = 10;
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

/** Values for a table, without what is too long for it. */
function cutValues(values: RowValues, characters: number): RowValues {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value === 'string') return [name, value.slice(0, characters)];
      if (typeof value !== 'object' || value === null) return [name, value];
      const text = JSON.stringify(value);
      return [name, text.length > characters ? text.slice(0, characters) : value];
    }),
  );
}

/** Throws `forbidden` if the caller may not read the run of a cell, because only who reads an answer can vote on it. */
function requireReadable(
  store: Pick<ComparisonStore, 'callerOf'>,
  { runId }: Pick<StoredCell, 'runId'>,
  { callerId, canReadAll }: CellCaller,
): void {
  if (canReadAll || (runId !== null && store.callerOf(runId) === callerId)) return;
  throw new AppError('forbidden', 'Reading the answers of runs of other callers needs the scope `audit`.');
}

/** The numbers of one page. */
function pageOf(total: number, { offset, limit }: { offset: number; limit: number }): number[] {
  return Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, step) => offset + step);
}

/** Reads row ids ahead, because cells are usually read in their order. Keeps only the last ones that it read. */
function rowIdsIn(
  { datasetId, datasetVersion }: StoredComparison,
  datasets: Pick<DatasetStore, 'rowIds'>,
): (row: number, ahead: number) => string {
  let [first, ids]: [number, readonly string[]] = [0, []];
  return (row, ahead) => {
    if (ids[row - first] === undefined) {
      const page = { offset: row, limit: ahead };
      [first, ids] = [row, datasets.rowIds(datasetId, datasetVersion, page).map(({ id }) => id)];
    }
    return ids[row - first] ?? '';
  };
}

/** Reads cells of a comparison as callers see them. Positions must be ascending. */
function createCellDescriber(
  { store, datasets, ...opinionsOptions }: CellReaderOptions,
  job: ComparisonJob,
  reader: CellCaller,
) {
  const { sequence } = job.comparison;
  const setup = store.setup(sequence);
  const opinions = createCellOpinions(opinionsOptions, setup.checks);
  const rowIdOf = rowIdsIn(job.comparison, datasets);

  function describe(positions: readonly number[], maxCharacters = shownCharacters): ComparisonCell[] {
    const [from, to] = [positions[0] ?? 0, (positions.at(-1) ?? -1) + 1];
    const isDense = to - from < 2 * positions.length + 100;
    const range: StoredCell[] = isDense ? store.cells(sequence, { from, to }) : [];
    const found = new Map(range.map((cell) => [cell.position, cell]));
    const votes = opinions.votesIn(sequence, { from, to });
    return positions.map((position) => {
      const stored = (isDense ? found.get(position) : store.cell(sequence, position)) ?? newCell(position);
      const { runId } = stored;
      const isReadable = reader.canReadAll || runId === null || store.callerOf(runId) === reader.callerId;
      const cell = isReadable ? stored : withoutTexts(stored);
      const { row, variant, repeat } = job.cells.index(position);
      const { position: _position, ...shown } = cell;
      return {
        ...shown,
        checks: [...cell.checks],
        ...opinions.of(cell, votes.get(position) ?? [], { reader, isReadable }),
        rowId: rowIdOf(row, isDense ? 200 : 1),
        variant: setup.variants[variant]!.name,
        repeat: repeat + 1,
        // A variant can be stopped without a change of its stored cells.
        state: job.cells.get(position),
        answer:
          isReadable && cell.state === 'Completed' && runId !== null && maxCharacters > 0
            ? store.answer(runId, maxCharacters)
            : null,
      };
    });
  }

  return { setup, describe };
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

export interface CellReaderOptions extends CellOpinionsOptions {
  readonly store: ComparisonStore;
  readonly datasets: Pick<DatasetStore, 'read' | 'rows' | 'rowIds'>;
}

export function createCellReader(options: CellReaderOptions): CellReader {
  const { store, datasets } = options;

  return {
    cells(job, { variant, state, ...page }, caller) {
      job.flush();
      const { setup, describe } = createCellDescriber(options, job, caller);
      const index = variant === null ? null : setup.variants.findIndex(({ name }) => name === variant);
      if (index === -1) throw invalidField('variant', 'is not a variant of the comparison');
      if (index === null && state === null) {
        const { total } = job.cells;
        return { data: describe(pageOf(total, page)), offset: page.offset, total };
      }
      const matching = [...job.cells.positions(state === null ? cellState.options : [state], index)];
      const positions = matching.slice(page.offset, page.offset + page.limit);
      return { data: describe(positions), offset: page.offset, total: matching.length };
    },
    async rows(job, { filter, sort, characters, ...page }, caller) {
      const { sequence, datasetId, datasetVersion, settings } = job.comparison;
      const loading = job.cells.results.load(store, sequence);
      // A failure to load is that of the next request.
      loading.catch(() => {});
      const isInOrder = filter === 'all' && sort === 'row';
      await (isInOrder ? null : loading);
      job.flush();
      const { columns } = datasets.read(datasetId, datasetVersion);
      const { describe } = createCellDescriber(options, job, caller);
      const cellsPerRow = settings.variantCount * settings.repeats;
      const limit = Math.max(1, Math.min(page.limit, Math.floor(maxCellsAtOnce / cellsPerRow)));
      const { repeats } = settings;
      const disagreeing = new Set(options.votes.disagreeingRows(sequence, { cellsPerRow, repeats }));
      const matching = isInOrder ? null : job.cells.results.rows(filter, sort, disagreeing);
      const total = matching?.length ?? settings.rowCount;
      const data: ComparedRow[] = [];
      let turnEnd = performance.now() + maxTurnMs;
      for (const index of pageOf(total, { offset: page.offset, limit })) {
        const position = matching?.[index] ?? index;
        const [row] = datasets.rows(datasetId, datasetVersion, { offset: position, limit: 1, maxBytes: Infinity });
        const positions = pageOf(job.cells.total, { offset: position * cellsPerRow, limit: cellsPerRow });
        const expected = expectedFields(row!.values, columns);
        const described = describe(positions, expected ? maxComparedCharacters : characters);
        const cells = described.map((cell): ComparedCell => {
          const fields = expected && cell.answer !== null ? compareFields(expected, cell.answer) : null;
          return { ...cell, answer: cell.answer?.slice(0, characters) ?? null, fields };
        });
        data.push({ id: row!.id, values: cutValues(row!.values, characters), position, cells });
        // A row can have megabytes.
        if (performance.now() < turnEnd) continue;
        await nextTurn();
        job.flush();
        turnEnd = performance.now() + maxTurnMs;
      }
      const { isLoaded } = job.cells.results;
      const counts = isLoaded
        ? {
            all: settings.rowCount,
            differs: job.cells.results.count('differs'),
            fails: job.cells.results.count('fails'),
            disagrees: disagreeing.size,
          }
        : null;
      return { data, offset: page.offset, total, counts };
    },
    *eachCell(job, caller, { variant, hasAnswers = true } = {}) {
      job.flush();
      const { datasetId, datasetVersion, settings } = job.comparison;
      const { describe } = createCellDescriber(options, job, caller);
      const cellsPerRow = settings.variantCount * settings.repeats;
      for (let row = 0; row < settings.rowCount; row += 1) {
        const [found] = datasets.rows(datasetId, datasetVersion, { offset: row, limit: 1, maxBytes: Infinity });
        const inRow = pageOf((row + 1) * cellsPerRow, { offset: row * cellsPerRow, limit: cellsPerRow });
        const positions =
          variant === undefined ? inRow : inRow.filter((position) => job.cells.index(position).variant === variant);
        for (const cell of describe(positions, hasAnswers ? allCharacters : 0))
          yield { row, values: found!.values, cell };
      }
    },
    vote(job, position, { vote = null, note = null }, caller) {
      job.flush();
      const { sequence } = job.comparison;
      const cell = store.cell(sequence, position);
      if (cell?.state !== 'Completed') throw invalidField('cell', 'has no answer to vote on');
      requireReadable(store, cell, caller);
      const text = note?.trim() || null;
      const given = vote === null && text === null ? null : { vote, note: text };
      options.votes.setCellVote(sequence, { position, voter: caller.callerId }, given);
      const range = { from: position, to: position + 1 };
      return options.votes.cellVotes(sequence, range).map((stored) => describeVote(stored, caller, true));
    },
    rowNumberIn: (comparison) => rowNumbersIn(comparison, datasets),
  };
}
