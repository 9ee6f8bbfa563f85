import type {
  ComparedCell,
  ComparedRow,
  ComparisonCell,
  RowFilter,
  RowSort,
} from '../../shared/contract/comparison-results.ts';
import type { RowValues } from '../../shared/contract/datasets.ts';
import type { ComparisonStore } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import type { VoteStore } from '../storage/vote-store.ts';
import { compareFields, expectedFields, maxComparedCharacters } from './compare-fields.ts';
import type { ComparisonJob } from './comparison-job.ts';
import type { RowFinder } from './order-rows.ts';
import { createTurns } from './turns.ts';
import { innerJudges, judgesAmong } from './votes/cell-votes.ts';

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

export interface RowReaderOptions {
  readonly store: Pick<ComparisonStore, 'cells' | 'setup'>;
  readonly datasets: Pick<DatasetStore, 'read' | 'rows'>;
  readonly votes: Pick<VoteStore, 'disagreeingRows'>;
  readonly rowFinder: RowFinder;
}

/** Of one page of rows. */
const maxCellsAtOnce = 2000;

/** The numbers of one page. */
export function pageOf(total: number, { offset, limit }: { offset: number; limit: number }): number[] {
  return Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, step) => offset + step);
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

/** The rows where a judge and a person disagree; none without a judge. */
function disagreeingRows(job: ComparisonJob, { store, votes }: RowReaderOptions): ReadonlySet<number> {
  const { sequence, settings } = job.comparison;
  const { variantCount, repeats } = settings;
  const { checks } = store.setup(sequence);
  if (judgesAmong(checks).length === 0) return new Set();
  const cellsPerRow = variantCount * repeats;
  return new Set(votes.disagreeingRows(sequence, { cellsPerRow, repeats, innerJudges: innerJudges(checks) }));
}

type DescribeCells = (positions: readonly number[], maxCharacters: number) => Promise<ComparisonCell[]>;

/** Reads one row with its cells. */
function rowReader(
  job: ComparisonJob,
  characters: number,
  describe: DescribeCells,
  { datasets }: RowReaderOptions,
): (position: number) => Promise<ComparedRow> {
  const { datasetId, datasetVersion, settings } = job.comparison;
  const { columns } = datasets.read(datasetId, datasetVersion);
  const cellsPerRow = settings.variantCount * settings.repeats;
  // A row can have megabytes.
  const giveTurn = createTurns(() => job.flush());
  return async (position) => {
    await giveTurn();
    const [row] = datasets.rows(datasetId, datasetVersion, { offset: position, limit: 1, maxBytes: Infinity });
    const positions = pageOf(job.cells.total, { offset: position * cellsPerRow, limit: cellsPerRow });
    const expected = expectedFields(row!.values, columns);
    const found = await describe(positions, expected ? maxComparedCharacters : characters);
    const cells: ComparedCell[] = [];
    for (const cell of found) {
      const { answer } = cell;
      const isCompared = expected && answer !== null && cell.state === 'Completed';
      const fields = isCompared ? compareFields(expected, answer) : null;
      cells.push({ ...cell, answer: answer?.slice(0, characters) ?? null, fields });
      await giveTurn();
    }
    return { id: row!.id, values: cutValues(row!.values, characters), position, cells };
  };
}

/** Reads a page of rows with their cells. Other work runs in between. */
export async function readRows(
  job: ComparisonJob,
  { filter, sort, characters, ...page }: RowQuery,
  describe: DescribeCells,
  options: RowReaderOptions,
): Promise<RowPage> {
  const { sequence, settings } = job.comparison;
  const { results } = job.cells;
  const loading = results.load(options.store, sequence);
  // A failure to load is that of the next request.
  loading.catch(() => {});
  const isInOrder = filter === 'all' && sort === 'row';
  await (isInOrder ? null : loading);
  job.flush();
  const disagreeing = disagreeingRows(job, options);
  const matching = isInOrder ? null : await options.rowFinder.find(results, { filter, sort }, disagreeing);
  const total = matching?.length ?? settings.rowCount;
  const limit = Math.max(1, Math.min(page.limit, Math.floor(maxCellsAtOnce / job.cells.cellsPerRow)));
  const read = rowReader(job, characters, describe, options);
  const data: ComparedRow[] = [];
  for (const index of pageOf(total, { offset: page.offset, limit })) data.push(await read(matching?.[index] ?? index));
  const { rowCount: all } = settings;
  const counts = { all, differs: results.count('differs'), fails: results.count('fails'), disagrees: disagreeing.size };
  return { data, offset: page.offset, total, counts: results.isLoaded ? counts : null };
}
