import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../shared/app-error.ts';
import type { ComparisonItem } from '../../shared/contract/comparisons.ts';
import type { DatasetRow } from '../../shared/contract/datasets.ts';
import { createJobRegistry } from '../common/jobs.ts';
import type { Completions } from '../completions/completions.ts';
import type { Log } from '../log.ts';
import type { ComparisonStore, StoredComparison } from '../storage/comparison-store.ts';
import type { DatasetStore } from '../storage/dataset-store.ts';
import { ComparisonJob } from './comparison-job.ts';
import type { CurrentComparison } from './describe-comparison.ts';
import type { PreparedVariant } from './job-options.ts';
import { createRunJudge, type RunJudge, type RunJudgeOptions } from './judge-run.ts';
import { type PlanOptions, requestsOf } from './plan-comparison.ts';
import type { Judges } from './judge/create-judges.ts';
import { findVerdictNeeds, type VerdictNeeds } from './judge/judge-again.ts';
import type { RunOrigin } from '../completions/completions.ts';
import { providerOf } from '../providers/provider-pauses.ts';
import type { CallLimits } from './call-limits.ts';

export interface ComparisonJobsOptions extends PlanOptions, RunJudgeOptions {
  readonly store: ComparisonStore;
  readonly datasets: DatasetStore;
  readonly completions: Pick<Completions, 'start'>;
  readonly limits: CallLimits;
  readonly judges: Pick<Judges, 'currentOf'>;
  readonly log: Log;
}

/** The comparisons that were opened since the host's start, because they ran or their cells were read. */
export interface ComparisonJobs {
  /** Those that ran, newest first. */
  readonly recent: { list(): ComparisonItem[]; subscribe(listener: (items: ComparisonItem[]) => void): () => void };
  /** The following throw `not_found`. */
  open(id: string): Promise<ComparisonJob>;
  read(id: string): CurrentComparison;
  /** As `read`, when every cell is in the store. */
  readWritten(id: string): StoredComparison;
  /** A comparison that is about to run: it is in `recent` from now on. Waits until those that a crash interrupted are recovered. */
  openToRun(id: string): Promise<ComparisonJob>;
  /** Lets judges look again at the cells that have no verdict of them as they are. Throws `conflict` while the comparison runs. */
  judgeAgain(id: string, origin: RunOrigin): Promise<ComparisonJob>;
  /** What `judgeAgain` would do. */
  verdictNeeds(id: string, options: { readonly signal: AbortSignal }): Promise<VerdictNeeds>;
  remove(id: string): Promise<void>;
  /** Stops all of them. */
  close(): Promise<void>;
}

const rowsAtOnce = 64;
const maxBytesAtOnce = 4 * 1_048_576;
/** Workers of one provider are close to each other; providers are not. */
const maxLoads = 16;

/** Reads rows of one version in small groups, because cells ask for them one after the other. */
function createRowReader(
  store: Pick<DatasetStore, 'rows'>,
  datasetId: string,
  version: number,
): (row: number) => DatasetRow {
  const loads: { offset: number; rows: DatasetRow[] }[] = [];
  return (row) => {
    const found = loads.find(({ offset, rows }) => row >= offset && row < offset + rows.length);
    if (found) return found.rows[row - found.offset]!;
    const rows = store.rows(datasetId, version, { offset: row, limit: rowsAtOnce, maxBytes: maxBytesAtOnce });
    if (rows.length === 0) throw new AppError('not_found', `The dataset has no row ${row + 1}.`);
    loads.push({ offset: row, rows });
    if (loads.length > maxLoads) loads.shift();
    return rows[0]!;
  };
}

async function prepareVariants(
  { datasetId, datasetVersion, sequence }: StoredComparison,
  options: ComparisonJobsOptions,
): Promise<PreparedVariant[]> {
  const dataset = options.datasets.read(datasetId, datasetVersion);
  const { variants, variables } = options.store.setup(sequence);
  const prepared: PreparedVariant[] = [];
  for (const variant of variants) {
    const requests = requestsOf(variant, dataset, variables, options);
    const { servedBy } = options.providers.resolve(variant.aiSystem, variant.model);
    prepared.push({ requests, provider: providerOf(servedBy) });
    // A template of 4 MB takes up to 150 ms.
    await nextTurn();
  }
  return prepared;
}

/** The jobs of comparisons, by their ids in any case. */
function createJobCache(options: ComparisonJobsOptions, { judge, completedRun }: RunJudge, onChange: () => void) {
  const { store, datasets, completions, limits, log } = options;
  const opened = new Map<string, ComparisonJob>();
  const opening = new Map<string, Promise<ComparisonJob>>();

  async function openJob(comparison: StoredComparison): Promise<ComparisonJob> {
    const { sequence, datasetId, datasetVersion } = comparison;
    const job = await ComparisonJob.open({
      comparison,
      store,
      completions,
      limits,
      readRow: createRowReader(datasets, datasetId, datasetVersion),
      prepare: () => prepareVariants(comparison, options),
      completedRun,
      judge: (run, row, cancellable) => judge(sequence, run, row, cancellable),
      onChange,
      log,
    });
    opened.set(job.id, job);
    return job;
  }

  const find = (id: string) => opened.get(id.toLowerCase());

  /** Reads the cells once, whoever asks meanwhile. */
  async function open(id: string): Promise<ComparisonJob> {
    const job = find(id);
    if (job) return job;
    const comparison = store.find(id);
    const started = opening.get(comparison.id) ?? openJob(comparison);
    opening.set(comparison.id, started);
    try {
      return await started;
    } finally {
      opening.delete(comparison.id);
    }
  }

  return { find, open, delete: (job: ComparisonJob) => opened.delete(job.id) };
}

export function createComparisonJobs(options: ComparisonJobsOptions): ComparisonJobs {
  const { store, log } = options;
  const jobs = createJobRegistry<ComparisonJob>({ notFound: 'No comparison has this ID.' });
  const started = new Set<ComparisonJob>();
  const closing = new AbortController();
  const runJudge = createRunJudge(options, closing.signal);
  const { completedCell } = runJudge;
  const opened = createJobCache(options, runJudge, jobs.changed);
  const { find, open } = opened;

  async function removeDeleted(): Promise<void> {
    while (!closing.signal.aborted && store.removeSome()) await nextTurn();
  }

  async function recover(): Promise<void> {
    const { signal } = closing;
    for (const comparison of store.interrupted()) {
      const job = await open(comparison.id);
      const { concurrency } = comparison.settings;
      const judging = { signal, origin: null, concurrency };
      await job.recover((runId, row) => completedCell(comparison.sequence, runId, row, judging), signal);
      if (signal.aborted) return;
    }
  }

  const recovered = recover().catch((error: unknown) => log('comparisons could not be recovered', error));
  let background = recovered.then(removeDeleted);

  async function openToRun(id: string): Promise<ComparisonJob> {
    await recovered;
    const job = await open(id);
    if (!started.has(job)) jobs.add(job);
    started.add(job);
    return job;
  }

  function needsOf(job: ComparisonJob, signal = closing.signal): Promise<VerdictNeeds> {
    job.flush();
    const { checks } = store.setup(job.comparison.sequence);
    return findVerdictNeeds(job.comparison.sequence, { ...options, checks, total: job.cells.total, signal });
  }

  return {
    recent: { list: jobs.list, subscribe: jobs.subscribe },
    open,
    read: (id) => find(id)?.comparison ?? store.find(id),
    readWritten(id) {
      const job = find(id);
      job?.flush();
      return job?.comparison ?? store.find(id);
    },
    openToRun,
    async judgeAgain(id, origin) {
      const job = await openToRun(id);
      const { sequence, settings } = job.comparison;
      const { positions } = await needsOf(job);
      const { concurrency } = settings;
      job.judgeAgain({
        positions,
        judge: (before, row, signal) => runJudge.judgeAgain(sequence, before, row, { signal, origin, concurrency }),
      });
      return job;
    },
    verdictNeeds: async (id, { signal }) => needsOf(await open(id), signal),
    async remove(id) {
      const job = await open(id);
      await job.stop({ isClosing: false });
      store.remove(job.id);
      opened.delete(job);
      if (started.delete(job)) await jobs.remove(job.id, () => {});
      background = background.then(removeDeleted);
    },
    async close() {
      closing.abort(new DOMException('The host was closed.', 'AbortError'));
      await jobs.close();
      await background;
    },
  };
}
