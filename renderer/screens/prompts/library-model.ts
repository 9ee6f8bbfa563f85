import type { Model } from '../../../shared/contract/providers.ts';
import { modelNameOf, type RunSettings } from '../../../shared/prompt-version-match.ts';

/** The facts of the model that a version runs on; null for a name that no list has. */
export function modelOf(version: Pick<RunSettings, 'aiSystem' | 'model'>, models: readonly Model[]): Model | null {
  const { aiSystem, model } = modelNameOf(version);
  return models.find((known) => known.aiSystem === aiSystem && known.name === model) ?? null;
}

/** The last part of a way through folders and how many stand before it: `mail` and 1 of `support/mail`. */
export function folderPlace(folder: string): { name: string; depth: number } {
  const parts = folder.split('/');
  return { name: parts.at(-1) ?? folder, depth: parts.length - 1 };
}
