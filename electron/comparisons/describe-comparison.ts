import type { Comparison, ComparisonItem } from '../../shared/contract/comparisons.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import type { ComparisonSetup, StoredComparison } from '../storage/comparison-store.ts';

const timeOf = (time: number | null) => (time === null ? null : new Date(time).toISOString());

/** With what is only in memory. */
export interface CurrentComparison extends StoredComparison {
  readonly judging?: ComparisonItem['judging'];
}

/** A comparison as lists show it. */
export function comparisonItemOf({
  summary,
  settings,
  judging = null,
  ...comparison
}: CurrentComparison): ComparisonItem {
  const { variantCount: _, estimate, titleColumn = null, ...shown } = settings;
  return {
    id: comparison.id,
    name: comparison.name,
    state: comparison.state,
    stopReason: summary.stopReason,
    datasetId: comparison.datasetId,
    datasetVersion: comparison.datasetVersion,
    ...shown,
    titleColumn,
    cells: summary.counts,
    judging,
    cost: {
      spent: summary.spent,
      spentByJudges: summary.spentByJudges ?? 0,
      runsWithoutCost: summary.runsWithoutCost,
      estimate,
    },
    createdAt: new Date(comparison.createdAt).toISOString(),
    startedAt: timeOf(summary.startedAt),
    completedAt: timeOf(summary.completedAt),
  };
}

interface Described {
  readonly setup: ComparisonSetup;
  readonly warnings: string[];
  readonly findVersion: (versionId: string) => PromptVersion | null;
}

export function comparisonOf(comparison: CurrentComparison, { setup, warnings, findVersion }: Described): Comparison {
  const { variables, checks } = setup;
  const variants = setup.variants.map((variant) => {
    const version = variant.promptVersionId === null ? null : findVersion(variant.promptVersionId);
    return { ...variant, promptId: version?.promptId ?? null, versionNumber: version?.number ?? null };
  });
  const { maxCost, estimate } = comparison.settings;
  // The estimate has no cost for such a model.
  const uncounted =
    maxCost !== null && estimate === null
      ? [`The price of a model is unknown. Its runs don't count for the spend cap of $${maxCost}.`]
      : [];
  return {
    ...comparisonItemOf(comparison),
    variants,
    variables,
    checks: [...checks],
    warnings: [...uncounted, ...warnings],
  };
}

export function withoutPrompts(comparison: Comparison): Comparison {
  const variants = comparison.variants.map((variant) => ({ ...variant, prompt: null, configuration: null }));
  return { ...comparison, variants };
}
