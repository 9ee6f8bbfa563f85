import type { PromptVariable, PromptVersion } from '../../../shared/contract/prompts.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import { readFields } from '../../drafts/variable-model.ts';

/**
 * The variables that a version says something of, then those that its text has besides. What is said of a name stays, also when the
 * text no longer has it.
 */
export function variablesIn({
  promptText,
  variables,
}: Pick<PromptVersion, 'promptText' | 'variables'>): PromptVariable[] {
  const known = new Set(variables.map(({ name }) => name));
  const found = readFields(parseTemplate(promptText).variables, { values: {}, jsonNames: [] });
  const others = found.filter(({ name }) => !known.has(name));
  const nothing = { description: null, defaultValue: null, sampleValue: null };
  return [...variables, ...others.map(({ name }) => ({ name, ...nothing }))];
}
