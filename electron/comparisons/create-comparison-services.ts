import { join } from 'node:path';
import { createDatasetImport, type DatasetImport } from '../datasets/import/create-dataset-import.ts';
import { createDatasets, type Datasets } from '../datasets/create-datasets.ts';
import { createRunDatasets, type RunDatasets } from '../datasets/create-run-datasets.ts';
import type { Storage } from '../storage/storage.ts';
import type { TeamRecords } from '../team/team-records.ts';
import { createCheckRunner } from './checks/create-check-runner.ts';
import { type Comparisons, type ComparisonsOptions, createComparisons } from './create-comparisons.ts';
import { createJudges, type Judges } from './judge/create-judges.ts';
import { createPairJudges } from './judge/pair-judge.ts';
import type { ProviderPauses } from '../providers/provider-pauses.ts';
import { createCallLimits } from './call-limits.ts';
import { createPayingKeys, type PayingKeysOptions } from './paying-keys.ts';
import { createStatistics } from './create-statistics.ts';

type Parts =
  | 'limits'
  | 'store'
  | 'datasets'
  | 'runs'
  | 'findVersion'
  | 'statistics'
  | 'checks'
  | 'earlierRuns'
  | 'findJudge'
  | 'findPairJudge'
  | 'votes'
  | 'judges';

export interface ComparisonServicesOptions extends Omit<ComparisonsOptions, Parts>, PayingKeysOptions {
  readonly dataDirectory: string;
  readonly pauses: ProviderPauses;
  readonly team: { readonly records: TeamRecords };
  readonly files: Parameters<typeof createDatasetImport>[0]['files'];
  readonly storage: Pick<
    Storage,
    | 'audit'
    | 'exportRows'
    | 'comparisons'
    | 'datasets'
    | 'earlierRuns'
    | 'files'
    | 'judges'
    | 'runs'
    | 'prompts'
    | 'votes'
  >;
  readonly schemas: Parameters<typeof createCheckRunner>[0]['schemas'];
  readonly embeddings: Parameters<typeof createCheckRunner>[0]['embeddings'];
  readonly moderation: Parameters<typeof createCheckRunner>[0]['moderation'];
}

/** Datasets, the comparisons that run over them, and the judges of their answers. */
export function createComparisonServices(options: ComparisonServicesOptions): {
  datasets: Datasets;
  datasetImport: DatasetImport;
  runDatasets: RunDatasets;
  comparisons: Comparisons;
  judges: Judges;
} {
  const { dataDirectory, storage, completions, schemas, embeddings, moderation, log } = options;
  const limits = createCallLimits({ payingKeys: createPayingKeys(options), pauses: options.pauses });
  const { providers } = options;
  const judgesOptions = { store: storage.judges, runs: storage.runs, completions, limits, providers };
  const judges = createJudges(judgesOptions);
  const { comparisonWith } = storage.comparisons;
  const datasets = createDatasets({ store: storage.datasets, files: storage.files, comparisonWith, log });
  const runDatasets = createRunDatasets({ ...storage, team: options.team.records, datasets, log });
  const closeDatasets = async () => {
    await runDatasets.close();
    await datasets.close();
  };
  return {
    judges,
    datasets: { ...datasets, close: closeDatasets },
    runDatasets,
    datasetImport: createDatasetImport({
      directory: join(dataDirectory, 'incoming-datasets'),
      datasets,
      files: options.files,
    }),
    comparisons: createComparisons({
      ...options,
      limits,
      judges,
      votes: storage.votes,
      store: storage.comparisons,
      datasets: storage.datasets,
      runs: storage.runs,
      findVersion: storage.prompts.findVersion,
      earlierRuns: storage.earlierRuns,
      findJudge: (id) => (judges.exists(id) ? judges.read(id) : null),
      findPairJudge: createPairJudges(judgesOptions),
      statistics: createStatistics(),
      checks: createCheckRunner({ schemas, embeddings, moderation, judges }),
    }),
  };
}
