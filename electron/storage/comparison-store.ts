import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import { AppError } from '../../shared/app-error.ts';
import type { Check } from '../../shared/contract/checks.ts';
import type { CellCounts, ComparisonState, Variant } from '../../shared/contract/comparisons.ts';
import { type ComparisonCells, createComparisonCells, type StoredCell } from './comparison-cells.ts';
import { type ListPage, type ListQuery, newestList } from './list-page.ts';

/** What a comparison runs, which can have megabytes. It never changes. */
export interface ComparisonSetup {
  readonly variants: readonly Variant[];
  readonly variables: Readonly<Record<string, string>> | null;
  readonly checks: readonly Check[];
}

/** How it runs. It never changes. */
export interface ComparisonSettings {
  readonly variantCount: number;
  readonly baseline: string;
  readonly basedOn: string | null;
  readonly repeats: number;
  readonly concurrency: number;
  readonly maxCost: number | null;
  readonly attempts: number;
  readonly timeLimitSeconds: number;
  readonly seed: number | null;
  /** Absent in comparisons of earlier releases. */
  readonly titleColumn?: string | null;
  readonly rowCount: number;
  readonly estimate: { readonly low: number; readonly high: number } | null;
}

/** What a comparison has done so far. */
export interface ComparisonSummary {
  readonly counts: CellCounts;
  readonly spent: number;
  /** Absent in summaries from before it was counted. */
  readonly spentByJudges?: number;
  readonly runsWithoutCost: number;
  /** Variants whose waiting cells a person stopped. */
  readonly stoppedVariants: readonly number[];
  readonly stopReason: string | null;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
}

export interface StoredComparison {
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly settings: ComparisonSettings;
  readonly state: ComparisonState;
  readonly summary: ComparisonSummary;
  readonly createdAt: number;
}

export interface NewComparison extends Omit<StoredComparison, 'sequence' | 'id' | 'state' | 'createdAt'> {
  readonly setup: ComparisonSetup;
}

export interface ComparisonStore extends ComparisonCells {
  create(comparison: NewComparison): StoredComparison;
  /** Newest first. Throws `invalid_request` for a token of another list. */
  list(query: ListQuery): ListPage<StoredComparison>;
  /** Throws `not_found`. */
  find(id: string): StoredComparison;
  setup(comparison: number): ComparisonSetup;
  /** Comparisons that were running when the last host ended. */
  interrupted(): StoredComparison[];
  /** The name of a comparison over a dataset; null if there is none. */
  comparisonWith(datasetId: string): string | null;
  /** Writes cells and, in the same transaction, the state. */
  write(
    comparison: number,
    change: { cells: readonly StoredCell[]; state: ComparisonState; summary: ComparisonSummary },
  ): void;
  /** Hides a comparison. `removeSome` deletes its cells. Throws `not_found`. */
  remove(id: string): void;
  /** Deletes some cells of removed comparisons. Returns whether there are more. */
  removeSome(): boolean;
}

interface ComparisonRow {
  sequence: number;
  id: string;
  name: string;
  dataset_id: string;
  dataset_version: number;
  settings_json: string;
  created_at: number;
  state: ComparisonState;
  summary_json: string;
}

function comparisonOf(row: ComparisonRow): StoredComparison {
  return {
    sequence: row.sequence,
    id: row.id,
    name: row.name,
    datasetId: row.dataset_id,
    datasetVersion: row.dataset_version,
    settings: JSON.parse(row.settings_json) as ComparisonSettings,
    state: row.state,
    summary: JSON.parse(row.summary_json) as ComparisonSummary,
    createdAt: row.created_at,
  };
}

/** The state of a comparison that was deleted and may still have cells. */
const removed = 'Removed';

const comparisonRows = `SELECT sequence, id, name, dataset_id, dataset_version, settings_json, created_at, state, summary_json
  FROM comparisons JOIN comparison_progress ON comparison = sequence`;

function comparisonStatements(database: Database.Database) {
  return {
    insert: database
      .prepare<[Omit<ComparisonRow, 'sequence' | 'state' | 'summary_json'> & { setup_json: string }], number>(
        `INSERT INTO comparisons (id, name, dataset_id, dataset_version, settings_json, setup_json, created_at)
         VALUES (@id, @name, @dataset_id, @dataset_version, @settings_json, @setup_json, @created_at) RETURNING sequence`,
      )
      .pluck(),
    insertProgress: database.prepare<[number, string]>(
      "INSERT INTO comparison_progress (comparison, state, summary_json) VALUES (?, 'Ready', ?)",
    ),
    page: database.prepare<{ before: number; limit: number }, ComparisonRow>(
      `${comparisonRows} WHERE sequence < @before AND state <> '${removed}' ORDER BY sequence DESC LIMIT @limit`,
    ),
    find: database.prepare<[string], ComparisonRow>(`${comparisonRows} WHERE id = ? AND state <> '${removed}'`),
    setup: database.prepare<[number], string>('SELECT setup_json FROM comparisons WHERE sequence = ?').pluck(),
    interrupted: database.prepare<[], ComparisonRow>(`${comparisonRows} WHERE state = 'Running'`),
    withDataset: database
      .prepare<[string], string>(
        `SELECT name FROM comparisons JOIN comparison_progress ON comparison = sequence
         WHERE dataset_id = ? AND state <> '${removed}' ORDER BY sequence DESC LIMIT 1`,
      )
      .pluck(),
    update: database.prepare<[string, string, number]>(
      `UPDATE comparison_progress SET state = ?, summary_json = ? WHERE comparison = ? AND state <> '${removed}'`,
    ),
    hide: database.prepare<[number]>(`UPDATE comparison_progress SET state = '${removed}' WHERE comparison = ?`),
    removed: database
      .prepare<[], number>(`SELECT comparison FROM comparison_progress WHERE state = '${removed}' LIMIT 1`)
      .pluck(),
    remove: database.prepare<[number]>('DELETE FROM comparisons WHERE sequence = ?'),
  };
}

export function createComparisonStore(database: Database.Database, tokenSecret: string): ComparisonStore {
  const comparisons = comparisonStatements(database);
  const cells = createComparisonCells(database);

  function find(id: string): StoredComparison {
    const row = comparisons.find.get(id.toLowerCase());
    if (!row) throw new AppError('not_found', 'No comparison has this ID.');
    return comparisonOf(row);
  }

  const write = database.transaction<ComparisonStore['write']>((comparison, { cells: changed, state, summary }) => {
    cells.write(comparison, changed);
    comparisons.update.run(state, JSON.stringify(summary), comparison);
  });

  const create = database.transaction((comparison: NewComparison): string => {
    const id = randomUUID();
    const sequence = comparisons.insert.get({
      id,
      name: comparison.name,
      dataset_id: comparison.datasetId,
      dataset_version: comparison.datasetVersion,
      settings_json: JSON.stringify(comparison.settings),
      setup_json: JSON.stringify(comparison.setup),
      created_at: Date.now(),
    })!;
    comparisons.insertProgress.run(sequence, JSON.stringify(comparison.summary));
    return id;
  });

  const removeSome = database.transaction((): boolean => {
    const comparison = comparisons.removed.get();
    if (comparison === undefined) return false;
    if (!cells.removeSome(comparison)) comparisons.remove.run(comparison);
    return true;
  });

  return {
    create: (comparison) => find(create.immediate(comparison)),
    list: newestList({
      tokenSecret,
      name: 'comparisons',
      rows: (page) => comparisons.page.all(page),
      toItem: comparisonOf,
    }),
    find,
    setup: (comparison) => JSON.parse(comparisons.setup.get(comparison)!) as ComparisonSetup,
    interrupted: () => comparisons.interrupted.all().map(comparisonOf),
    comparisonWith: (datasetId) => comparisons.withDataset.get(datasetId) ?? null,
    write: (comparison, change) => write.immediate(comparison, change),
    ...cells.reading,
    remove: (id) => void comparisons.hide.run(find(id).sequence),
    removeSome: () => removeSome.immediate(),
  };
}
