import type { Agent, AgentInput } from '../../../shared/contract/agents.ts';
import type { Model } from '../../../shared/contract/providers.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';
import type { ParameterTexts } from '../../components/parameters-panel.tsx';
import { readConfiguration, writeParameters } from '../../drafts/parameter-model.ts';
import { lastUsedModel } from '../../stores/playground-drafts.ts';

/** What the form of an agent shows and changes. */
export interface AgentFields extends ParameterTexts {
  name: string;
  prompt: string;
  aiSystem: Agent['aiSystem'];
  model: string;
  dataspaceIds: readonly string[];
  promptId: string | null;
  promptVersionId: string | null;
}

export function newAgentFields(): AgentFields {
  return {
    name: '',
    prompt: '',
    ...lastUsedModel(),
    ...writeParameters(null),
    dataspaceIds: [],
    promptId: null,
    promptVersionId: null,
  };
}

export function readAgentFields(agent: Agent): AgentFields {
  const { name, prompt, aiSystem, model, dataspaceIds, promptId, promptVersionId } = agent;
  return {
    name,
    prompt,
    aiSystem,
    model,
    dataspaceIds: dataspaceIds ?? [],
    promptId,
    promptVersionId,
    ...writeParameters(agent.configuration),
  };
}

type AgentBody = AgentInput & { name: string; prompt: string; model: string; aiSystem: Agent['aiSystem'] };

/** The agent as it is sent to the host, with null for what is removed, or why it can't be saved. */
export function writeAgentFields(fields: AgentFields, model: Model | null): { body: AgentBody } | { problem: string } {
  const name = fields.name.trim();
  if (name === '') return { problem: 'Enter a name' };
  const { configuration, problems } = readConfiguration(fields, model);
  const [problem] = problems;
  if (problem) return { problem: `${problem.name}: ${problem.problem}` };
  const { prompt, aiSystem, model: modelName, promptVersionId } = fields;
  return {
    body: {
      name,
      prompt,
      aiSystem,
      model: modelName,
      configuration: Object.keys(configuration).length === 0 ? null : configuration,
      dataspaceIds: fields.dataspaceIds.length === 0 ? null : [...fields.dataspaceIds],
      promptVersionId,
    },
  };
}

/** Sends an agent again as it was. */
export function restoredAgent(agent: Agent): AgentBody {
  const { name, prompt, aiSystem, model, configuration, dataspaceIds, promptVersionId } = agent;
  return { name, prompt, aiSystem, model, configuration, dataspaceIds, promptVersionId };
}

/** How many parameters and dataspaces an agent sets, for the head of a collapsed section. */
export function countParameters({ parameters, otherParameters }: ParameterTexts): number {
  const named = Object.values(parameters).filter((text) => text !== '').length;
  return named + (otherParameters.trim() === '' ? 0 : 1);
}

/**
 * What an agent takes as its prompt: the system message of a version, or its text where it has none. Variables of the text get their
 * default values; if one has no default, the text stays a template, and the form names what will be sent unchanged.
 */
export function basePromptText({ systemMessage, promptText, variables }: PromptVersion): string {
  if (systemMessage) return systemMessage;
  const template = parseTemplate(promptText);
  const defaults = Object.fromEntries(variables.map(({ name, defaultValue }) => [name, defaultValue]));
  const isComplete = template.variables.every((variable) => typeof defaults[variable.name] === 'string');
  if (template.problems.length > 0 || !isComplete) return promptText;
  return renderTemplate(template, defaults).text;
}

/** Placeholders in an agent's prompt, which is sent unchanged. Empty for a text that is no template. */
export function unreplacedVariables(prompt: string): string[] {
  const template = parseTemplate(prompt);
  return template.problems.length > 0 ? [] : template.variables.map(({ name }) => name);
}
