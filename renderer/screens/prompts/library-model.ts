import type { Model } from '../../../shared/contract/providers.ts';
import { modelNameOf, type RunSettings } from '../../../shared/prompt-content.ts';
import type { PromptVersionUsage } from '../../../shared/contract/prompt-library.ts';
import { formatCost, formatCount, formatDuration } from '../../components/format.ts';

/** The details of the model of a version; null for a name outside every list. */
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

/** The average results of a version: latency, cost if it is known and not zero, score if there is one. */
export function averages({ averageMs, averageCost, averageScore }: PromptVersionUsage): string[] {
  return [
    averageMs !== null && `${formatDuration(averageMs)} average`,
    averageCost !== null && averageCost > 0 && formatCost(averageCost),
    averageScore !== null && `score ${averageScore.toFixed(1)}`,
  ].filter((text) => text !== false);
}

/** Parses comma-separated tags; each once, in the order of the text. */
export function readTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags)].filter((tag) => tag !== '');
}
