import type { PromptVersion, PromptVersionInput } from '../../shared/contract/prompts.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import { parseTemplate } from '../../shared/prompt-template.ts';
import { runsTheSame } from '../../shared/prompt-content.ts';
import type { Draft, DraftChange } from '../stores/playground-drafts.ts';
import { readConfiguration, writeConfiguration } from './parameter-model.ts';
import { readFields } from './variable-model.ts';

export type SaveRequest = { version: PromptVersionInput } | { problem: string };

/**
 * Variables with the texts of their fields as samples. Descriptions and defaults come from the previous version, and so do variables
 * that have no field: a conversation's history, and those that the text no longer uses.
 */
function variablesOf(draft: Draft, before: PromptVersion | null): NonNullable<PromptVersionInput['variables']> {
  const known = new Map(before?.variables.map((variable) => [variable.name, variable]));
  const fields = readFields(parseTemplate(draft.promptText).variables, draft);
  const names = new Set(fields.map(({ name }) => name));
  const filled = fields.map(({ name, text, isFilled }) => ({
    name,
    description: known.get(name)?.description ?? null,
    defaultValue: known.get(name)?.defaultValue ?? null,
    sampleValue: isFilled ? text : (known.get(name)?.sampleValue ?? null),
  }));
  return [...filled, ...[...known.values()].filter(({ name }) => !names.has(name))];
}

/** A draft as a version, or why it can't be one. Includes parameters that the selected model doesn't support. */
export function readVersion(draft: Draft, before: PromptVersion | null): SaveRequest {
  const [mistake] = parseTemplate(draft.promptText).problems;
  if (draft.promptText.trim() === '') return { problem: 'Write a prompt first' };
  if (mistake) return { problem: `Line ${mistake.line}, column ${mistake.column}: ${mistake.issue}` };
  const { configuration, problems } = readConfiguration(draft, null);
  const [problem] = problems;
  if (problem) return { problem: `${problem.name}: ${problem.problem}` };
  return {
    version: {
      promptText: draft.promptText,
      systemMessage: draft.systemMessage === '' ? null : draft.systemMessage,
      aiSystem: draft.aiSystem,
      model: draft.model,
      configuration: Object.keys(configuration).length === 0 ? null : configuration,
      variables: variablesOf(draft, before),
    },
  };
}

/** Whether a run of the draft would differ from a run of the version that it came from. */
export function isEdited(draft: Draft, version: PromptVersion): boolean {
  const { configuration, problems } = readConfiguration(draft, null);
  return problems.length > 0 || !runsTheSame({ ...draft, configuration }, version);
}

/**
 * The change that opens a version in a draft. A filled-in value stays if the version has no sample, and so do the mocks
 * of its tools.
 */
export function versionChange(
  version: PromptVersion,
  { values, tools }: Pick<Draft, 'values' | 'tools'> = { values: {} },
): DraftChange {
  const samples = version.variables.flatMap(({ name, sampleValue, defaultValue }): [string, string][] => {
    const text = sampleValue ?? (values[name] ? null : defaultValue);
    return text === null ? [] : [[name, text]];
  });
  return {
    promptText: version.promptText,
    systemMessage: version.systemMessage ?? '',
    aiSystem: version.model === null ? 'ServiceAi' : (version.aiSystem ?? 'ServiceAi'),
    model: version.model ?? serviceModels[0],
    values: { ...values, ...Object.fromEntries(samples) },
    ...writeConfiguration(version.configuration, tools),
    source: { promptId: version.promptId, versionId: version.id },
  };
}
