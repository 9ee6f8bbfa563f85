import type { AiSystem } from '../../shared/contract/common.ts';
import type { Providers } from '../providers/create-providers.ts';

export type LearnedModels = Pick<Providers, 'learnModel'>;

/**
 * Lets a provider say whether it has the model that something new is to be run on, when no list has it: a program has no window
 * that asks for the lists. Never rejects.
 */
export async function learnModelOf(
  { aiSystem, model }: { aiSystem?: AiSystem | null | undefined; model?: string | null | undefined },
  models: LearnedModels,
): Promise<void> {
  if (model) await models.learnModel(aiSystem ?? null, model);
}
