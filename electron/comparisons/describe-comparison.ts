import type { Comparison, ComparisonItem } from '../../shared/contract/comparisons.ts';
import type { ComparisonSetup, StoredComparison } from '../storage/comparison-store.ts';

const timeOf = (time: number | null) => (time === null ? null : new Date(time).toISOString());

/** A comparison as lists show it. */
export function comparisonItemOf({ summary, settings, ...comparison }: StoredComparison): ComparisonItem {
  const { variantCount: _, estimate, ...shown } = settings;
  return {
    id: comparison.id,
    name: comparison.name,
    state: comparison.state,
    stopReason: summary.stopReason,
    datasetId: comparison.datasetId,
    datasetVersion: comparison.datasetVersion,
    ...shown,
    cells: summary.counts,
    cost: { spent: summary.spent, runsWithoutCost: summary.runsWithoutCost, estimate },
    createdAt: new Date(comparison.createdAt).toISOString(),
    startedAt: timeOf(summary.startedAt),
    completedAt: timeOf(summary.completedAt),
  };
}

export function comparisonOf(comparison: StoredComparison, setup: ComparisonSetup, warnings: string[]): Comparison {
  const { variants, variables, checks } = setup;
  return { ...comparisonItemOf(comparison), variants: [...variants], variables, checks: [...checks], warnings };
}
