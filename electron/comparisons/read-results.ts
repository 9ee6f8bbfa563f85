import { invalidField } from '../../shared/app-error.ts';
import type { ComparisonFields, ComparisonReport, ComparisonTrend } from '../../shared/contract/comparison-results.ts';
import type { ComparisonStore } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import { fieldsOf } from './compare-fields.ts';
import type { ComparisonJob } from './comparison-job.ts';
import type { Statistics } from './create-statistics.ts';
import { reportOf } from './report.ts';
import { type ReadComparison, trendOf } from './trend.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

/** What the cells of a comparison say together. Methods throw `not_found`. */
export interface ResultReader {
  /** Compares with another variant than the baseline if one is given. Throws `invalid_request` for an unknown one. */
  report(id: string, options: Cancellable & { readonly baseline?: string | undefined }): Promise<ComparisonReport>;
  /** The differences to the comparison that this one repeats. */
  trend(id: string, options: Cancellable): Promise<ComparisonTrend>;
  fields(id: string, options: Cancellable): Promise<ComparisonFields>;
}

export interface ResultReaderOptions {
  readonly jobs: { open(id: string): Promise<ComparisonJob> };
  readonly store: ComparisonStore;
  readonly datasets: DatasetStore;
  readonly statistics: Statistics;
  readonly isComparison: (id: string) => boolean;
}

export function createResultReader(options: ResultReaderOptions): ResultReader {
  const { jobs, store, datasets, statistics, isComparison } = options;

  async function read(job: ComparisonJob): Promise<ReadComparison> {
    const { sequence } = job.comparison;
    await job.cells.results.load(store, sequence);
    return { comparison: job.comparison, setup: store.setup(sequence), results: job.cells.results };
  }

  return {
    async report(id, { signal, baseline }) {
      const job = await jobs.open(id);
      const { comparison, setup } = await read(job);
      if (baseline !== undefined && !setup.variants.some(({ name }) => name === baseline))
        throw invalidField('baseline', 'is not a variant of the comparison');
      const compared = { baseline: baseline ?? comparison.settings.baseline, statistics, signal };
      return reportOf(comparison, setup.variants, job.cells, compared);
    },
    async trend(id, { signal }) {
      const now = await read(await jobs.open(id));
      const { basedOn } = now.comparison.settings;
      if (basedOn === null || !isComparison(basedOn)) return { earlier: null, sharedRows: 0, variants: [] };
      return trendOf(now, await read(await jobs.open(basedOn)), datasets, { statistics, signal });
    },
    async fields(id, { signal }) {
      const job = await jobs.open(id);
      job.flush();
      const { comparison } = job;
      const size = comparison.settings.variantCount * comparison.settings.repeats;
      const runIds = (row: number) => {
        const found = Array.from({ length: size }, (): string | null => null);
        for (const cell of store.cells(comparison.sequence, { from: row * size, to: (row + 1) * size }))
          if (cell.state === 'Completed') found[cell.position - row * size] = cell.runId;
        return found;
      };
      const setup = store.setup(comparison.sequence);
      return fieldsOf({ comparison, setup }, datasets, { runIds, answer: store.answer }, signal);
    },
  };
}
