import type { PromptVersionUsage } from '../../../shared/contract/prompt-usage.ts';
import { formatCost, formatCount, formatDuration } from '../../components/format.ts';

/** `1 run`, `1,204 runs`. */
export function runCount({ runs }: Pick<PromptVersionUsage, 'runs'>): string {
  return runs === 1 ? '1 run' : `${formatCount(runs)} runs`;
}

/** How the runs of a version did on average: latency, cost where it is known and not nothing, score where one was given. */
export function averages({ averageMs, averageCost, averageScore }: PromptVersionUsage): string[] {
  return [
    averageMs !== null && `${formatDuration(averageMs)} average`,
    averageCost !== null && averageCost > 0 && formatCost(averageCost),
    averageScore !== null && `score ${averageScore.toFixed(1)}`,
  ].filter((text) => text !== false);
}
