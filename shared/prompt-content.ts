import type { Prompt, PromptInput, PromptVariable, PromptVersion, PromptVersionInput } from './contract/prompts.ts';
import type { AiSystem } from './contract/common.ts';
import { serviceModels } from './contract/settings.ts';

/** What a version says, apart from where and when it is kept. */
export type VersionContent = Omit<PromptVersion, 'id' | 'promptId' | 'number' | 'createdAt'>;

/** Name, folder, tags and description of a prompt. */
export type PromptDetails = Pick<Prompt, 'name' | 'folder' | 'tags' | 'description'>;

/** A prompt with one of its versions, in one form wherever it comes from. */
export type PromptContent = PromptDetails & VersionContent;

/** The variables of an input as they are kept: what was left out is null. */
export function completeVariables({ variables }: Pick<PromptVersionInput, 'variables'>): PromptVariable[] {
  return (variables ?? []).map(({ name, description = null, defaultValue = null, sampleValue = null }) => ({
    name,
    description,
    defaultValue,
    sampleValue,
  }));
}

/** The version that an input describes: what was left out is null. */
export function versionContent(input: PromptVersionInput): VersionContent {
  const { promptText, systemMessage = null, aiSystem = null, model = null, configuration = null, note = null } = input;
  return { promptText, systemMessage, aiSystem, model, configuration, variables: completeVariables(input), note };
}

/** The details that an input gives: what was left out is null, and tags are none. */
export function promptDetails({ name, folder, tags, description }: PromptInput): PromptDetails {
  return { name, folder: folder ?? null, tags: tags ?? [], description: description ?? null };
}

export function promptContent(input: PromptInput): PromptContent {
  return { ...promptDetails(input), ...versionContent(input) };
}

/** What a version and a request have in common: everything that decides what a run sends, apart from the values. */
export interface RunSettings {
  readonly promptText: string;
  readonly systemMessage?: string | null | undefined;
  readonly aiSystem?: AiSystem | null | undefined;
  readonly model?: string | null | undefined;
  readonly configuration?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The model that a version runs on: its own, or the service's first one. */
export function modelNameOf({ aiSystem, model }: Pick<RunSettings, 'aiSystem' | 'model'>): {
  aiSystem: AiSystem;
  model: string;
} {
  return aiSystem && model ? { aiSystem, model } : { aiSystem: 'ServiceAi', model: serviceModels[0] };
}

/** The same text for equal settings in any order; null and missing count as equal. */
function canonical(configuration: RunSettings['configuration']): string {
  const given = Object.entries(configuration ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Whether two would send the same for the same values. */
export function runsTheSame(one: RunSettings, other: RunSettings): boolean {
  const [first, second] = [modelNameOf(one), modelNameOf(other)];
  return (
    one.promptText === other.promptText &&
    (one.systemMessage ?? '') === (other.systemMessage ?? '') &&
    first.aiSystem === second.aiSystem &&
    first.model === second.model &&
    canonical(one.configuration) === canonical(other.configuration)
  );
}
