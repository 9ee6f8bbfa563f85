import { AppError } from '../../../shared/app-error.ts';
import type { AiSystem } from '../../../shared/contract/common.ts';
import type { TransferEntry } from '../../../shared/contract/prompt-transfer.ts';
import type { PromptInput } from '../../../shared/contract/prompts.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { FinishedPrompt } from './finish-draft.ts';

/** Provider of a model; throws `invalid_request` for a model that is not known. */
export type SystemOf = (aiSystem: AiSystem | null, model: string) => AiSystem;

function entryOf(outcome: TransferEntry['outcome'], message: string): TransferEntry {
  return { outcome, field: 'model', message, line: null };
}

/** The prompt with its model, where that is known here. */
export function withModel(
  { prompt, model: wanted, modelEntry, entries }: FinishedPrompt,
  systemOf: SystemOf,
): { prompt: PromptInput; entries: TransferEntry[] } {
  if (wanted === null) return { prompt, entries };
  const { model } = wanted;
  try {
    const aiSystem = systemOf(wanted.aiSystem, model);
    const entry = entryOf('taken', `${model} (${providerName(aiSystem)})`);
    return { prompt: { ...prompt, aiSystem, model }, entries: entries.toSpliced(modelEntry, 0, entry) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const message = `Unknown model ${model.slice(0, 100)}; the default built-in model is used`;
    return { prompt, entries: entries.toSpliced(modelEntry, 0, entryOf('refused', message)) };
  }
}
