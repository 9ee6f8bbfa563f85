import { AppError, invalidField } from '../../shared/app-error.ts';
import type { ComparisonCell, ComparisonCells } from '../../shared/contract/comparison-results.ts';
import { type CellState, cellState } from '../../shared/contract/comparisons.ts';
import type { CellVote, CellVoteInput } from '../../shared/contract/votes.ts';
import { newCell, type StoredCell } from '../storage/comparison-cells.ts';
import type { ComparisonStore, StoredComparison } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { FileReader } from '../storage/file-store.ts';
import type { Completions } from '../completions/completions.ts';
import type { ComparisonJob } from './comparison-job.ts';
import type { ExportedCell, ExportedPreference, ExportSelection } from './export-source.ts';
import { pageOf, readRows, type RowPage, type RowQuery, type RowReaderOptions } from './read-rows.ts';
import { createTurns } from './turns.ts';
import { type CellOpinionsOptions, createCellOpinions, describeVote } from './votes/cell-votes.ts';

/** Who reads, and may see the texts of its own runs, or those of all. */
export type CellCaller = FileReader;

export interface CellQuery {
  readonly offset: number;
  readonly limit: number;
  readonly variant: string | null;
  readonly state: CellState | null;
}

/** Reads cells and rows of comparisons as callers see them: of runs of others, only a caller that may read all sees texts. */
export interface CellReader {
  /** Throws `invalid_request` for an unknown variant. */
  cells(job: ComparisonJob, query: CellQuery, caller: CellCaller): Promise<ComparisonCells>;
  /** Fewer rows than asked for if they have many cells. */
  rows(job: ComparisonJob, query: RowQuery, caller: CellCaller): Promise<RowPage>;
  /** Every cell with its row, or those of a variant. */
  eachCell(job: ComparisonJob, caller: CellCaller, selection?: ExportSelection): AsyncGenerator<ExportedCell>;
  /** Sets or removes the caller's vote on a completed cell. Throws `invalid_request` with the field, and `forbidden`. */
  vote(job: ComparisonJob, position: number, vote: CellVoteInput, caller: CellCaller): CellVote[];
  /** The number of a row; null for an unknown one. */
  rowNumberIn(comparison: StoredComparison): (rowId: string) => number | null;
}

/** Of an answer in a table. */
const shownCharacters = 2000;
/** More than any answer has. */
const allCharacters = 2 ** 30;
/** SQLite reads a whole answer of megabytes for its beginning, which takes up to a millisecond. */
const cellsAtOnce = 16;

const hidden = 'Only the caller of the run and keys with the scope `audit` can read this.';

/** Without what quotes the run. Its results and numbers stay. */
function withoutTexts(cell: StoredCell): StoredCell {
  const failure = cell.failure && { ...cell.failure, message: hidden };
  return { ...cell, failure, answerHash: null, checks: cell.checks.map((check) => ({ ...check, reason: hidden })) };
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

/** Describes cells in small groups, between which other work gets its turn. */
async function describeInTurns(
  positions: readonly number[],
  job: ComparisonJob,
  describeSome: (some: readonly number[]) => readonly ComparisonCell[],
): Promise<ComparisonCell[]> {
  const cells: ComparisonCell[] = [];
  const giveTurn = createTurns(() => job.flush());
  for (let start = 0; start < positions.length; start += cellsAtOnce) {
    await giveTurn();
    cells.push(...describeSome(positions.slice(start, start + cellsAtOnce)));
  }
  return cells;
}

/** Reads cells of a comparison as callers see them. Positions must be ascending. */
function createCellDescriber(
  { store, datasets, completions, ...opinionsOptions }: CellReaderOptions,
  job: ComparisonJob,
  reader: CellCaller,
) {
  const { sequence } = job.comparison;
  const setup = store.setup(sequence);
  const opinions = createCellOpinions(opinionsOptions, setup.checks);
  const rowIdOf = rowIdsIn(job.comparison, datasets);

  const isReadable = ({ runId }: Pick<StoredCell, 'runId'>) =>
    reader.canReadAll || runId === null || store.callerOf(runId) === reader.callerId;

  /** The answer, or what has arrived of it; null for who may not read it. */
  function answerOf({ state, runId }: Pick<StoredCell, 'state' | 'runId'>, maxCharacters: number): string | null {
    if (runId === null || !isReadable({ runId })) return null;
    if (state === 'Completed') return store.answer(runId, maxCharacters);
    return (state === 'Running' && completions.active(runId)?.content.slice(0, maxCharacters)) || null;
  }

  function describeSome(positions: readonly number[], maxCharacters: number): ComparisonCell[] {
    const [from, to] = [positions[0] ?? 0, (positions.at(-1) ?? -1) + 1];
    const isDense = to - from < 2 * positions.length + 100;
    const range: StoredCell[] = isDense ? store.cells(sequence, { from, to }) : [];
    const found = new Map(range.map((cell) => [cell.position, cell]));
    const votes = opinions.votesIn(sequence, { from, to });
    return positions.map((position) => {
      const stored = (isDense ? found.get(position) : store.cell(sequence, position)) ?? newCell(position);
      const canRead = isReadable(stored);
      const cell = canRead ? stored : withoutTexts(stored);
      const { row, variant, repeat } = job.cells.index(position);
      const { position: _position, ...shown } = cell;
      return {
        ...shown,
        checks: [...cell.checks],
        ...opinions.of(cell, votes.get(position) ?? [], { reader, isReadable: canRead }),
        rowId: rowIdOf(row, isDense ? 200 : 1),
        variant: setup.variants[variant]!.name,
        repeat: repeat + 1,
        // A variant can be stopped without a change of its stored cells.
        state: job.cells.get(position),
        answer: maxCharacters > 0 ? answerOf(cell, maxCharacters) : null,
      };
    });
  }

  const describe = (positions: readonly number[], maxCharacters = shownCharacters): Promise<ComparisonCell[]> =>
    describeInTurns(positions, job, (some) => describeSome(some, maxCharacters));

  return { setup, describe, answerOf };
}

/** What judges said of an answer and the others of its row. */
function preferencesAmong(
  cells: readonly ComparisonCell[],
  { runId }: Pick<ComparisonCell, 'runId'>,
  preferencesOf: ReturnType<CellReaderOptions['judges']['readPreferences']>,
): ExportedPreference[] {
  if (runId === null) return [];
  return preferencesOf(runId).flatMap(({ otherRunId, ...preference }) => {
    const other = cells.find((cell) => cell.runId === otherRunId);
    return other ? [{ ...preference, otherVariant: other.variant, otherRepeat: other.repeat }] : [];
  });
}

export interface CellReaderOptions extends CellOpinionsOptions, Pick<RowReaderOptions, 'rowFinder'> {
  readonly store: ComparisonStore;
  readonly datasets: Pick<DatasetStore, 'read' | 'rows' | 'rowIds' | 'rowNumber'>;
  readonly completions: Pick<Completions, 'active'>;
}

/** Every cell with its row, or those of a variant. */
async function* exportedCells(
  options: CellReaderOptions,
  job: ComparisonJob,
  caller: CellCaller,
  { variant }: ExportSelection = {},
): AsyncGenerator<ExportedCell> {
  job.flush();
  const { datasetId, datasetVersion, settings } = job.comparison;
  const { describe, answerOf } = createCellDescriber(options, job, caller);
  const preferencesOf = options.judges.readPreferences();
  const cellsPerRow = settings.variantCount * settings.repeats;
  for (let row = 0; row < settings.rowCount; row += 1) {
    const [found] = options.datasets.rows(datasetId, datasetVersion, { offset: row, limit: 1, maxBytes: Infinity });
    const inRow = pageOf((row + 1) * cellsPerRow, { offset: row * cellsPerRow, limit: cellsPerRow });
    const positions =
      variant === undefined ? inRow : inRow.filter((position) => job.cells.index(position).variant === variant);
    const cells = await describe(positions, 0);
    for (const { answer: _answer, ...cell } of cells) {
      const preferences = preferencesAmong(cells, cell, preferencesOf);
      const readAnswer = () => answerOf(cell, allCharacters);
      yield { row, values: found!.values, cell, readAnswer, preferences };
    }
  }
}

export function createCellReader(options: CellReaderOptions): CellReader {
  const { store, datasets } = options;

  return {
    async cells(job, { variant, state, ...page }, caller) {
      job.flush();
      const { setup, describe } = createCellDescriber(options, job, caller);
      const index = variant === null ? null : setup.variants.findIndex(({ name }) => name === variant);
      if (index === -1) throw invalidField('variant', 'is not a variant of the comparison');
      if (index === null && state === null) {
        const { total } = job.cells;
        return { data: await describe(pageOf(total, page)), offset: page.offset, total };
      }
      const requested = state === null ? cellState.options : [state];
      const { positions, total } = job.cells.page(requested, index, page);
      return { data: await describe(positions), offset: page.offset, total };
    },
    rows: (job, query, caller) => readRows(job, query, createCellDescriber(options, job, caller).describe, options),
    eachCell: (job, caller, selection) => exportedCells(options, job, caller, selection),
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
    rowNumberIn:
      ({ datasetId, datasetVersion }) =>
      (rowId) =>
        datasets.rowNumber(datasetId, datasetVersion, rowId),
  };
}
