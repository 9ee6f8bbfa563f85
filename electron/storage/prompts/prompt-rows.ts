import type { AiSystem } from '../../../shared/contract/common.ts';
import type { Prompt, PromptVariable, PromptVersion } from '../../../shared/contract/prompts.ts';
import type { VersionContent } from '../../../shared/prompt-content.ts';
import type { PromptRow, PromptVersionRow } from '../schema.ts';

/** A version's row with the id of its prompt. */
export type ListedVersionRow = PromptVersionRow & { readonly prompt_id: string };

/** A prompt's row with what lists show of its newest version and its labels. */
export type ListedPromptRow = PromptRow & {
  readonly latest_number: number;
  readonly latest_ai_system: string | null;
  readonly latest_model: string | null;
  readonly labels_json: string;
};

export type NewVersionRow = Omit<PromptVersionRow, 'sequence'>;

export function promptOf(row: ListedPromptRow): Prompt {
  return {
    id: row.id,
    name: row.name,
    folder: row.folder,
    tags: JSON.parse(row.tags_json) as string[],
    description: row.description,
    latestVersionId: row.latest_version_id,
    latestVersion: {
      number: row.latest_number,
      aiSystem: row.latest_ai_system as AiSystem | null,
      model: row.latest_model,
    },
    labels: JSON.parse(row.labels_json) as Prompt['labels'],
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

export function versionOf(row: ListedVersionRow): PromptVersion {
  return {
    id: row.id,
    promptId: row.prompt_id,
    number: row.number,
    promptText: row.prompt_text,
    systemMessage: row.system_message,
    aiSystem: row.ai_system as AiSystem | null,
    model: row.model,
    configuration:
      row.configuration_json === null ? null : (JSON.parse(row.configuration_json) as Record<string, unknown>),
    variables: JSON.parse(row.variables_json) as PromptVariable[],
    note: row.note,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

export function versionRow(
  version: VersionContent,
  place: Pick<PromptVersionRow, 'id' | 'prompt' | 'number' | 'created_at'>,
): NewVersionRow {
  return {
    ...place,
    prompt_text: version.promptText,
    system_message: version.systemMessage,
    ai_system: version.aiSystem,
    model: version.model,
    configuration_json: version.configuration === null ? null : JSON.stringify(version.configuration),
    variables_json: JSON.stringify(version.variables),
    note: version.note,
  };
}
