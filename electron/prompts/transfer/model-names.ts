import { keyedProviders, type AiSystem, type KeyedProvider } from '../../../shared/contract/common.ts';
import { detailsOf } from '../../providers/catalogue.ts';
import { AppError } from '../../../shared/app-error.ts';
import type { TransferEntry } from '../../../shared/contract/prompt-transfer.ts';
import type { PromptInput } from '../../../shared/contract/prompts.ts';
import { providerName } from '../../../shared/provider-names.ts';
import type { FinishedPrompt } from './finish-draft.ts';

/** Provider of a model; throws `invalid_request` for an unknown model. */
export type SystemOf = (aiSystem: AiSystem | null, model: string) => AiSystem;

function entryOf(outcome: TransferEntry['outcome'], message: string): TransferEntry {
  return { outcome, field: 'model', message, line: null };
}

/** The prompt with its model, if the model is known here. */
export function withModel(
  { prompt, model: requested, modelEntry, entries }: FinishedPrompt,
  systemOf: SystemOf,
): { prompt: PromptInput; entries: TransferEntry[] } {
  if (requested === null) return { prompt, entries };
  const { model } = requested;
  try {
    const aiSystem = systemOf(requested.aiSystem, model);
    const entry = entryOf('taken', `${model} (${providerName(aiSystem)})`);
    return { prompt: { ...prompt, aiSystem, model }, entries: entries.toSpliced(modelEntry, 0, entry) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const message = `Unknown model ${model.slice(0, 100)}; the default built-in model is used`;
    return { prompt, entries: entries.toSpliced(modelEntry, 0, entryOf('refused', message)) };
  }
}

type ProviderNames = ReadonlyMap<AiSystem, readonly string[]>;

/** The names of all providers in dotprompt files. Files are written with the first one. */
const dotpromptNames: ProviderNames = new Map<AiSystem, readonly string[]>([
  ...keyedProviders.map((name) => [name, detailsOf[name].promptFileNames.dotprompt] as const),
  ['ServiceAi', ['service']],
  ['OpenAiCompatible', ['compatible']],
]);

/** promptfoo's names of the providers that it supports. */
const promptfooNames: ProviderNames = new Map(
  keyedProviders.map((name) => [name, detailsOf[name].promptFileNames.promptfoo]),
);

/** Kinds of calls that promptfoo writes between provider and model. */
const promptfooKinds = new Set(['chat', 'responses', 'messages', 'completion', 'gemini']);

export interface ModelName {
  readonly aiSystem: AiSystem | null;
  readonly model: string;
}

function systemNamed(names: ProviderNames, name: string): AiSystem | null {
  const match = [...names].find(([, known]) => known.includes(name.toLowerCase()));
  return match?.[0] ?? null;
}

/** Parses `googleai/gemini-2.5-flash`. A name without a known provider is the model's own. */
export function readDotpromptModel(name: string): ModelName {
  const slash = name.indexOf('/');
  const aiSystem = slash === -1 ? null : systemNamed(dotpromptNames, name.slice(0, slash));
  return { aiSystem, model: aiSystem === null ? name : name.slice(slash + 1) };
}

export function writeDotpromptModel(aiSystem: AiSystem, model: string): string {
  return `${dotpromptNames.get(aiSystem)![0]}/${model}`;
}

/** Parses `openai:chat:gpt-4.1`; null for other providers. */
export function readPromptfooProvider(id: string): ModelName | null {
  const [name = '', ...rest] = id.split(':');
  const aiSystem = systemNamed(promptfooNames, name);
  const model = (promptfooKinds.has(rest[0] ?? '') && rest.length > 1 ? rest.slice(1) : rest).join(':');
  return aiSystem === null || model === '' ? null : { aiSystem, model };
}

/** Null if promptfoo lacks the provider. */
export function writePromptfooProvider(aiSystem: AiSystem, model: string): string | null {
  const name = promptfooNames.get(aiSystem)?.[0];
  if (name === undefined) return null;
  const { promptfooKind } = detailsOf[aiSystem as KeyedProvider].promptFileNames;
  return [name, ...(promptfooKind === undefined ? [] : [promptfooKind]), model].join(':');
}
