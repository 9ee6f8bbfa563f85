import type { Prompt, PromptVersion } from '../../../../shared/contract/prompts.ts';

/** A prompt with the version that is exported. */
export interface ExportedPrompt {
  readonly prompt: Prompt;
  readonly version: PromptVersion;
}

/** What of a prompt stands in a file. */
export interface WritablePrompt {
  readonly prompt: Pick<Prompt, 'name' | 'folder' | 'tags' | 'description'>;
  readonly version: Omit<PromptVersion, 'id' | 'promptId' | 'number' | 'createdAt'>;
}

/** What a format cannot hold of a prompt. */
export interface ExportNote {
  readonly field: string;
  readonly message: string;
}

/** Content of one file. Throws `Refusal` for a prompt that the format cannot hold. */
export interface Written {
  readonly content: string;
  readonly notes: readonly ExportNote[];
}

/** Own fields with a value, in the order in which they are given. */
export function present(fields: readonly (readonly [string, unknown])[]): Map<string, unknown> {
  const isThere = (value: unknown) =>
    value !== null &&
    value !== undefined &&
    value !== '' &&
    !(Array.isArray(value) && value.length === 0) &&
    !(value instanceof Map && value.size === 0);
  return new Map(fields.filter(([, value]) => isThere(value)));
}

/** Values of variables that have one. */
export function valuesOf(
  { variables }: Pick<PromptVersion, 'variables'>,
  of: 'defaultValue' | 'sampleValue' | 'description',
): Map<string, string> {
  return new Map(
    variables.flatMap((variable) => (variable[of] === null ? [] : [[variable.name, variable[of]] as const])),
  );
}
