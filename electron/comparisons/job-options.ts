import type { DatasetRow } from '../../shared/contract/datasets.ts';
import type { Completions } from '../completions/completions.ts';
import type { Log } from '../log.ts';
import type { ComparisonStore, StoredComparison } from '../storage/comparison-store.ts';
import type { CallLimits } from './call-limits.ts';
import type { VariantRequests } from './cell-request.ts';
import type { JudgedRun } from './checks/service-checks.ts';
import type { CompletedRun, JudgedCell, RunJudge } from './judge-run.ts';

export interface ComparisonJobOptions {
  readonly comparison: StoredComparison;
  readonly store: ComparisonStore;
  readonly completions: Pick<Completions, 'start'>;
  readonly limits: CallLimits;
  /** Of the version that the comparison runs over. */
  readonly readRow: (row: number) => DatasetRow;
  readonly prepare: () => Promise<PreparedVariant[]>;
  readonly completedRun: RunJudge['completedRun'];
  /** What a completed run says about its cell; null if the comparison stopped before its checks had ended. Never rejects. */
  readonly judge: (
    run: CompletedRun,
    row: DatasetRow,
    options: { readonly signal: AbortSignal; readonly judged: JudgedRun },
  ) => Promise<JudgedCell | null>;
  readonly onChange: () => void;
  readonly log: Log;
}

/** A variant that can run, and the provider whose limits it shares with others. */
export interface PreparedVariant {
  readonly requests: VariantRequests;
  readonly provider: string;
}
