import { invalidField } from '../../shared/app-error.ts';
import type { ComparisonEstimate, ComparisonEstimateInput } from '../../shared/contract/comparison-estimates.ts';
import type { ExportFormat } from '../../shared/contract/comparison-results.ts';
import type { RetryInput, StopInput } from '../../shared/contract/comparison-runs.ts';
import type { Comparison, ComparisonInput, ComparisonItem } from '../../shared/contract/comparisons.ts';
import type { CellVote, CellVoteInput, MissingVerdicts } from '../../shared/contract/votes.ts';
import type { Dataset } from '../../shared/contract/datasets.ts';
import type { Completions, RunOrigin } from '../completions/completions.ts';
import type { ComparisonSetup, StoredComparison } from '../storage/comparison-store.ts';
import { type ListPage, type ListQuery } from '../storage/list-page.ts';
import type { CheckRunner } from './checks/create-check-runner.ts';
import type { CellSelection, ComparisonJob, StartOptions } from './comparison-job.ts';
import type { Statistics } from './create-statistics.ts';
import { comparisonItemOf, comparisonOf, withoutPrompts } from './describe-comparison.ts';
import type { Judges } from './judge/create-judges.ts';
import { createPairJudging, type PairJudging, type PairJudgingOptions } from './judge/judged-pairs.ts';
import { createRowFinder } from './order-rows.ts';
import { type ComparisonJobs, type ComparisonJobsOptions, createComparisonJobs } from './open-comparisons.ts';
import { estimateComparison, missingVerdictsOf } from './estimate-comparison.ts';
import { planComparison } from './plan-comparison.ts';
import { exportText } from './export-comparison.ts';
import { pairChoices } from './export-preferences.ts';
import type { ExportSelection } from './export-source.ts';
import { createResultReader, type ResultReader } from './read-results.ts';
import { type EstimateOptions, sampleBytes, sampledRows } from './run-estimates.ts';
import { type CellCaller, type CellQuery, type CellReader, createCellReader } from './read-cells.ts';
import type { RowQuery } from './read-rows.ts';

import { type BlindVotes, type BlindVotesOptions, createBlindVotes } from './votes/create-blind-votes.ts';

interface Cancellable {
  readonly signal: AbortSignal;
}

/** Runs variants of prompts over the rows of datasets. Methods with an id throw `not_found`. */
export interface Comparisons extends ResultReader {
  readonly blindVotes: BlindVotes;
  /** Throws `invalid_request` with the field. */
  create(input: ComparisonInput, options: Cancellable): Promise<Comparison>;
  /** What a comparison would take. Throws as `create` does. */
  estimate(input: ComparisonEstimateInput, options: Cancellable): Promise<ComparisonEstimate>;
  list(query: ListQuery): ListPage<ComparisonItem>;
  read(id: string): Comparison;
  /** Those that ran since the host's start, newest first. */
  recent: ComparisonJobs['recent'];
  start(id: string, options: StartOptions): Promise<Comparison>;
  /** Stops all, or throws `invalid_request` for an unknown variant or cell. */
  stop(id: string, choice: StopInput): Promise<Comparison>;
  retry(id: string, choice: RetryInput, options: { readonly origin: RunOrigin }): Promise<Comparison>;
  /** Lets judges look again at the cells that have no verdict of them as they are. Throws `conflict` while it runs. */
  judgeAgain(id: string, options: { readonly origin: RunOrigin }): Promise<Comparison>;
  /** What `judgeAgain` would judge, and what it would cost. */
  missingVerdicts(id: string, options: Cancellable): Promise<MissingVerdicts>;
  /** As `PairJudging` says. */
  judgePairs(...call: Parameters<PairJudging['judgePairs']>): Promise<Comparison>;
  readPairs: PairJudging['readPairs'];
  labelFromVotes: PairJudging['labelFromVotes'];
  cells(id: string, query: CellQuery, caller: CellCaller): ReturnType<CellReader['cells']>;
  rows(id: string, query: RowQuery, caller: CellCaller): ReturnType<CellReader['rows']>;
  /** Sets or removes the caller's vote on a cell, and returns all votes on it. Throws `invalid_request` with the field, and `forbidden`. */
  vote(id: string, vote: CellVoteInput, caller: CellCaller): Promise<CellVote[]>;
  /** The text of a file in parts. */
  export(
    id: string,
    format: ExportFormat,
    caller: CellCaller,
    options: Cancellable & { readonly hasPrompts: boolean },
  ): Promise<AsyncGenerator<string>>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface ComparisonsOptions
  extends
    ComparisonJobsOptions,
    Omit<EstimateOptions, 'providers'>,
    Pick<BlindVotesOptions, 'votes' | 'runs'>,
    Pick<PairJudgingOptions, 'findPairJudge'> {
  readonly completions: Pick<Completions, 'start' | 'active'>;
  readonly judges: Judges;
  readonly statistics: Statistics;
  readonly checks: CheckRunner;
}

/** Finds the cells that a request names. */
function selectionOf(
  { variant, cell }: StopInput,
  setup: ComparisonSetup,
  job: ComparisonJob,
  rowNumber: (rowId: string) => number | null,
): CellSelection {
  const indexOf = (name: string, field: string) => {
    const index = setup.variants.findIndex((one) => one.name === name);
    if (index < 0) throw invalidField(field, 'is not a variant of the comparison');
    return index;
  };
  if (!cell) return { variant: variant === undefined ? null : indexOf(variant, 'variant') };
  const row = rowNumber(cell.rowId);
  if (row === null) throw invalidField('cell.rowId', 'is not a row of the comparison');
  if (cell.repeat > job.cells.repeats) throw invalidField('cell.repeat', `must be at most ${job.cells.repeats}`);
  return {
    position: job.cells.position({ row, variant: indexOf(cell.variant, 'cell.variant'), repeat: cell.repeat - 1 }),
  };
}

/** Throws `invalid_request` with the field. */
function datasetOf(
  { datasetId, datasetVersion }: Pick<ComparisonInput, 'datasetId' | 'datasetVersion'>,
  datasets: ComparisonsOptions['datasets'],
): Dataset {
  try {
    return datasets.read(datasetId, datasetVersion ?? null);
  } catch {
    if (datasetVersion === undefined) throw invalidField('datasetId', 'is not a dataset', 'No dataset has this ID.');
    throw invalidField('datasetVersion', 'is not a version of the dataset');
  }
}

/** A comparison that would run, with its estimate. Throws `invalid_request` with the field. */
async function planInput(
  input: ComparisonInput,
  { signal }: Cancellable,
  options: ComparisonsOptions,
  isComparison: (id: string) => boolean,
) {
  const { checks, datasets } = options;
  for (const { aiSystem, model } of input.variants) {
    if (model != null) await options.providers.learnModel(aiSystem ?? null, model);
  }
  await checks.validate(input.checks ?? [], { signal });
  signal.throwIfAborted();
  if (input.basedOn != null && !isComparison(input.basedOn)) throw invalidField('basedOn', 'is not a comparison');
  const dataset = datasetOf(input, datasets);
  const planned = await planComparison(input, dataset, options);
  const page = { offset: 0, limit: sampledRows, maxBytes: sampleBytes };
  const rows = datasets.rows(dataset.id, dataset.version, page);
  const estimate = await estimateComparison({ ...planned, rows }, options);
  signal.throwIfAborted();
  return { ...planned, estimate };
}

export function createComparisons(options: ComparisonsOptions): Comparisons {
  const { store, datasets, statistics, checks } = options;
  const reader = createCellReader({ ...options, rowFinder: createRowFinder(statistics) });
  const jobs = createComparisonJobs(options);
  function described(comparison: StoredComparison): Comparison {
    const setup = store.setup(comparison.sequence);
    const warnings = checks.warnings(setup.checks, setup.variants);
    return comparisonOf(comparison, { setup, warnings, findVersion: options.findVersion });
  }

  const selectionIn = (job: ComparisonJob, choice: StopInput) =>
    selectionOf(choice, store.setup(job.comparison.sequence), job, reader.rowNumberIn(job.comparison));

  function isComparison(id: string): boolean {
    try {
      return store.find(id).id !== '';
    } catch {
      return false;
    }
  }

  const blindVotes = createBlindVotes({ ...options, open: jobs.open, rowNumberIn: reader.rowNumberIn });
  const results = createResultReader({ jobs, store, datasets, statistics, isComparison });

  const pairs = createPairJudging({ ...options, jobs });

  const plan = (input: ComparisonInput, cancellable: Cancellable) =>
    planInput(input, cancellable, options, isComparison);

  return {
    async create(input, cancellable) {
      const { comparison, estimate } = await plan(input, cancellable);
      const { cost } = estimate;
      return described(store.create({ ...comparison, settings: { ...comparison.settings, estimate: cost } }));
    },
    estimate: async (input, cancellable) => (await plan({ name: 'Estimate', ...input }, cancellable)).estimate,
    list(query) {
      const { data, continuationToken } = store.list(query);
      return { data: data.map(({ id }) => comparisonItemOf(jobs.read(id))), continuationToken };
    },
    read: (id) => described(jobs.read(id)),
    recent: jobs.recent,
    async start(id, start) {
      const job = await jobs.openToRun(id);
      job.start(start);
      return described(job.comparison);
    },
    async stop(id, choice) {
      const job = await jobs.open(id);
      const selection = selectionIn(job, choice);
      if ('variant' in selection && selection.variant === null) await job.stop({ isClosing: false });
      else job.stopCells(selection);
      return described(job.comparison);
    },
    async retry(id, choice, { origin }) {
      const job = await jobs.openToRun(id);
      await job.retry(selectionIn(job, choice), { origin, maxRows: null });
      return described(job.comparison);
    },
    missingVerdicts: async (id, cancellable) =>
      missingVerdictsOf(jobs.read(id), await jobs.verdictNeeds(id, cancellable), options),
    judgeAgain: async (id, { origin }) => described((await jobs.judgeAgain(id, origin)).comparison),
    judgePairs: async (...call) => described((await pairs.judgePairs(...call)).comparison),
    readPairs: pairs.readPairs,
    labelFromVotes: pairs.labelFromVotes,
    cells: async (id, query, caller) => reader.cells(await jobs.open(id), query, caller),
    rows: async (id, query, caller) => reader.rows(await jobs.open(id), query, caller),
    async vote(id, vote, caller) {
      const job = await jobs.open(id);
      const selection = selectionIn(job, { cell: vote.cell }) as { readonly position: number };
      return reader.vote(job, selection.position, vote, caller);
    },
    blindVotes,
    ...results,
    async export(id, format, caller, { signal, hasPrompts }) {
      const job = await jobs.open(id);
      const { datasetId, datasetVersion } = job.comparison;
      const columns = datasets.read(datasetId, datasetVersion).columns.map(({ name }) => name);
      const comparison = described(job.comparison);
      const source = {
        comparison: hasPrompts ? comparison : withoutPrompts(comparison),
        columns,
        cells: (selection?: ExportSelection) => reader.eachCell(job, caller, selection),
      };
      const preferences = () => ({
        choices: pairChoices(options.votes, job.comparison.sequence),
        readRun: options.runs.read,
      });
      return exportText({ ...source, report: () => results.report(id, { signal }), preferences }, format);
    },
    remove: jobs.remove,
    async close() {
      await jobs.close();
      await checks.close();
      await statistics.close();
    },
  };
}
