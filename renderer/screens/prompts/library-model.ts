import type { Model } from '../../../shared/contract/providers.ts';
import { modelNameOf, type RunSettings } from '../../../shared/prompt-content.ts';
import type { PromptVersionUsage } from '../../../shared/contract/prompt-library.ts';
import { formatCost, formatCount, formatDuration } from '../../components/format.ts';

/** The facts of the model that a version runs on; null for a name that no list has. */
export function modelOf(version: Pick<RunSettings, 'aiSystem' | 'model'>, models: readonly Model[]): Model | null {
  const { aiSystem, model } = modelNameOf(version);
  return models.find((known) => known.aiSystem === aiSystem && known.name === model) ?? null;
}

/** The last segment of a folder path and its depth: `mail` and 1 of `support/mail`. */
export function folderPosition(folder: string): { name: string; depth: number } {
  const parts = folder.split('/');
  return { name: parts.at(-1) ?? folder, depth: parts.length - 1 };
}

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

/** Tags from a field in which commas separate them; each once, in the order in which they were written. */
export function readTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags)].filter((tag) => tag !== '');
}
