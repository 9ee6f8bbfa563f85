import type { Prompt, PromptInput, PromptVariable, PromptVersion, PromptVersionInput } from './contract/prompts.ts';

/** What a version says, apart from where and when it is kept. */
export type VersionContent = Omit<PromptVersion, 'id' | 'promptId' | 'number' | 'createdAt'>;

/** What a prompt is called and where it stands. */
export type PromptDetails = Pick<Prompt, 'name' | 'folder' | 'tags' | 'description'>;

/** A prompt with one of its versions, in one form wherever it comes from. */
export type PromptContent = PromptDetails & VersionContent;

/** The variables of an input as they are kept: what was left out is null. */
export function keptVariables({ variables }: Pick<PromptVersionInput, 'variables'>): PromptVariable[] {
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
  return { promptText, systemMessage, aiSystem, model, configuration, variables: keptVariables(input), note };
}

/** The details that an input gives: what was left out is null, and tags are none. */
export function promptDetails({ name, folder, tags, description }: PromptInput): PromptDetails {
  return { name, folder: folder ?? null, tags: tags ?? [], description: description ?? null };
}

export function promptContent(input: PromptInput): PromptContent {
  return { ...promptDetails(input), ...versionContent(input) };
}
