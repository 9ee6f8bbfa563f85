import type { Prompt, PromptInput, PromptVariable, PromptVersion, PromptVersionInput } from './contract/prompts.ts';
import type { AiSystem } from './contract/common.ts';
import { serviceModels } from './contract/settings.ts';
import { chosenFunction, toolFunctionOf, toolParameters } from './contract/tools.ts';

/** The content of a version, without its ids and dates. */
export type VersionContent = Omit<PromptVersion, 'id' | 'promptId' | 'number' | 'createdAt'>;

/** Name, folder, tags and description of a prompt. */
export type PromptDetails = Pick<Prompt, 'name' | 'folder' | 'tags' | 'description'>;

/** A prompt with one of its versions, in the same format for every source. */
export type PromptContent = PromptDetails & VersionContent;

/** The variables of an input in stored form: missing fields are null. */
export function completeVariables({ variables }: Pick<PromptVersionInput, 'variables'>): PromptVariable[] {
  return (variables ?? []).map(({ name, description = null, defaultValue = null, sampleValue = null }) => ({
    name,
    description,
    defaultValue,
    sampleValue,
  }));
}

/** The version of an input. Missing fields are null. */
export function versionContent(input: PromptVersionInput): VersionContent {
  const { promptText, systemMessage = null, aiSystem = null, model = null, configuration = null, note = null } = input;
  return { promptText, systemMessage, aiSystem, model, configuration, variables: completeVariables(input), note };
}

/** The details of an input. Missing fields are null, and missing tags are empty. */
export function promptDetails({ name, folder, tags, description }: PromptInput): PromptDetails {
  return { name, folder: folder ?? null, tags: tags ?? [], description: description ?? null };
}

export function promptContent(input: PromptInput): PromptContent {
  return { ...promptDetails(input), ...versionContent(input) };
}

/** The fields that versions and requests share. Together with the values of variables they determine what a run sends. */
export interface RunSettings {
  readonly promptText: string;
  readonly systemMessage?: string | null | undefined;
  readonly aiSystem?: AiSystem | null | undefined;
  readonly model?: string | null | undefined;
  readonly configuration?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The model of a version: its own, or the service's first one. */
export function modelNameOf({ aiSystem, model }: Pick<RunSettings, 'aiSystem' | 'model'>): {
  aiSystem: AiSystem;
  model: string;
} {
  return aiSystem && model ? { aiSystem, model } : { aiSystem: 'ServiceAi', model: serviceModels[0] };
}

/** A value that is the same for stop sequences, tools, and choices of a tool, that mean the same. */
function canonicalValue(key: string, value: unknown): unknown {
  if (key === 'stop') return typeof value === 'string' ? [value] : value;
  if (key === 'tool_choice') return chosenFunction({ tool_choice: value }) ?? value;
  if (key !== 'tools' || !Array.isArray(value)) return value;
  return value.map((tool) => {
    const definition = toolFunctionOf(tool);
    if (definition === null) return tool as unknown;
    const { name, description, parameters, strict } = definition;
    return [name, description ?? '', parameters, strict ?? null];
  });
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const isNothing = (value: unknown) => value === null || value === undefined;

/** The same text for equal settings in any order. Null, missing and empty fields are equal, and choices between no tools are none. */
function canonical(configuration: RunSettings['configuration']): string {
  const { tools, ...rest } = configuration ?? {};
  const hasTools = !isNothing(tools) && !isEmptyList(tools);
  const given = Object.entries({ ...rest, ...(hasTools && { tools }) }).filter(([key, value]) => {
    if (key === 'stop' && isEmptyList(value)) return false;
    return !isNothing(value) && (hasTools || !toolParameters.some((name) => name === key));
  });
  const sorted = given.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(sorted.map(([key, value]) => [key, canonicalValue(key, value)]));
}

/** Whether both send the same for the same values of variables. */
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
