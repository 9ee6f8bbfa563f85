import type { MissingVerdicts } from '../../../shared/contract/votes.ts';
import type { StoredComparison } from '../../storage/comparison-store.ts';
import type { DatasetStore } from '../../storage/dataset-store.ts';
import { estimateJudge, guessedAnswer } from '../estimate-comparison.ts';
import { type EstimateOptions, sampleBytes, sampledRows, sumOf } from '../run-estimates.ts';
import type { VerdictNeeds } from './judge-again.ts';

interface MissingVerdictsOptions extends EstimateOptions {
  readonly datasets: Pick<DatasetStore, 'rows'>;
}

/** What judging again would do, and what it would cost. */
export async function missingVerdictsOf(
  { datasetId, datasetVersion, settings }: StoredComparison,
  { judges, positions }: VerdictNeeds,
  options: MissingVerdictsOptions,
): Promise<MissingVerdicts> {
  const page = { offset: 0, limit: sampledRows, maxBytes: sampleBytes };
  const rows = positions.length === 0 ? [] : options.datasets.rows(datasetId, datasetVersion, page);
  const described: MissingVerdicts['judges'] = [];
  for (const { judgeId, counts, tokens } of judges) {
    const judge = options.findJudge(judgeId);
    if (!judge) continue;
    const runs = counts.missing + counts.stale;
    const mean = tokens.sum / tokens.answers;
    const answer = tokens.answers === 0 ? guessedAnswer : { low: mean, high: mean };
    const sample = { rows, rowCount: settings.rowCount };
    const cost = runs === 0 ? { low: 0, high: 0 } : (await estimateJudge(judge, runs, answer, sample, options)).cost;
    described.push({ judgeId, name: judge.name, ...counts, cost });
  }
  return { cells: positions.length, judges: described, cost: sumOf(described.map(({ cost }) => cost)) };
}
