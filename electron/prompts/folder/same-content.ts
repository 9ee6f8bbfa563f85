import { isDeepStrictEqual } from 'node:util';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import type { PromptContent } from '../../../shared/prompt-content.ts';

/** The stored fields of a prompt, with one of its versions. */
export function contentOf(prompt: Prompt, version: PromptVersion): PromptContent {
  const { name, folder, tags, description } = prompt;
  const { promptText, systemMessage, aiSystem, model, configuration, variables, note } = version;
  return {
    name,
    folder,
    tags,
    description,
    promptText,
    systemMessage,
    aiSystem,
    model,
    configuration,
    variables,
    note,
  };
}

/** The settings that are present, sorted by name. */
export function settingsOf({ configuration }: Pick<PromptContent, 'configuration'>): Map<string, unknown> {
  const entries = Object.entries(configuration ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return new Map(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const lines = (text: string | null) => (text ?? '').replaceAll('\r\n', '\n');

function versionParts(content: PromptContent): unknown {
  const variables = content.variables.map(({ name, ...details }) => [name, details] as const);
  return {
    promptText: lines(content.promptText),
    systemMessage: lines(content.systemMessage),
    aiSystem: content.aiSystem,
    model: content.model,
    settings: [...settingsOf(content)],
    variables: new Map(variables.toSorted(([one], [other]) => (one < other ? -1 : 1))),
  };
}

/** Whether the content of two versions is equal, ignoring notes and line endings. */
export function isSameVersion(one: PromptContent, other: PromptContent): boolean {
  return isDeepStrictEqual(versionParts(one), versionParts(other));
}

/** Whether names, tags and descriptions are equal. Files have names without spaces at the ends. Folders aren't compared, because they come from the path of the file. */
export function hasSameDetails(
  one: Pick<PromptContent, 'name' | 'tags' | 'description'>,
  other: Pick<PromptContent, 'name' | 'tags' | 'description'>,
): boolean {
  const parts = ({ name, tags, description }: typeof one) => [name.trim(), tags, lines(description)];
  return isDeepStrictEqual(parts(one), parts(other));
}
