import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Agent, AgentChange, AgentInput } from '../../shared/contract/agents.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import { joinMessages, splitMessages } from '../../shared/prompt-messages.ts';
import { isConversationTemplate, renderTurn } from '../completions/render-prompt.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import { literalTemplate } from '../prompts/transfer/templates/template-syntax.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { AgentFields } from '../storage/agents/agent-store.ts';

export interface AgentFieldSources {
  readonly providers: Pick<Providers, 'systemOf'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
  /** Any version of a stored prompt, null for an unknown id. */
  readonly findVersion: (versionId: string) => PromptVersion | null;
}

/** Null for none. Keys without a value are removed. */
function configurationOf(configuration: AgentInput['configuration']): Agent['configuration'] {
  const entries = Object.entries(configuration ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Null for an empty list, with which the prompt would say that no passages were found. */
function dataspacesOf(ids: readonly string[] | null | undefined, { grounding }: AgentFieldSources): string[] | null {
  return ids && ids.length > 0 ? grounding.requireDataspaces(ids) : null;
}

function versionOf(versionId: string | null | undefined, { findVersion }: AgentFieldSources): PromptVersion | null {
  if (!versionId) return null;
  const version = findVersion(versionId);
  if (version === null) throw invalidField('promptVersionId', 'is not a version of a stored prompt');
  return version;
}

/** A version whose template sets roles is used as a whole. From any other, the agent takes the system message. */
function promptOf({ promptText, systemMessage }: PromptVersion): string {
  if (!isConversationTemplate(promptText)) return systemMessage ?? promptText;
  if (systemMessage === null || systemMessage === '') return promptText;
  const blocks = splitMessages(promptText) ?? [{ role: 'user', text: promptText }];
  return joinMessages([{ role: 'system', text: literalTemplate(systemMessage) }, ...blocks]);
}

/** Throws `invalid_request` for a prompt that sets roles and can't be rendered. */
function checkedPrompt(prompt: string): string {
  if (!isConversationTemplate(prompt)) return prompt;
  try {
    renderTurn({ message: 'Hello', history: [], template: prompt });
    return prompt;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.details.map((detail) => ({ ...detail, field: 'prompt' }));
    throw new AppError(error.code, error.message, { details, cause: error });
  }
}

function idsOf(base: PromptVersion | null): Pick<Agent, 'promptId' | 'promptVersionId'> {
  return { promptId: base?.promptId ?? null, promptVersionId: base?.id ?? null };
}

function modelOf(
  { model, aiSystem }: Pick<AgentInput, 'model' | 'aiSystem'>,
  base: PromptVersion | null,
  { providers }: AgentFieldSources,
): Pick<Agent, 'model' | 'aiSystem'> {
  if (model) return { model, aiSystem: providers.systemOf(aiSystem ?? null, model) };
  if (!base?.model) return { model: serviceModels[0], aiSystem: 'ServiceAi' };
  return { model: base.model, aiSystem: providers.systemOf(base.aiSystem, base.model) };
}

/**
 * Fields that the input omits come from its base version, or have defaults. Throws `invalid_request` for an unknown model,
 * dataspace or version.
 */
export function newAgentFields(input: AgentInput, sources: AgentFieldSources): AgentFields {
  const base = versionOf(input.promptVersionId, sources);
  return {
    name: input.name,
    prompt: checkedPrompt(input.prompt ?? (base && promptOf(base)) ?? ''),
    ...modelOf(input, base, sources),
    configuration: configurationOf(input.configuration === undefined ? base?.configuration : input.configuration),
    dataspaceIds: dataspacesOf(input.dataspaceIds, sources),
    ...idsOf(base),
  };
}

/** Throws the same errors as `newAgentFields`, for fields of the change only. */
export function changedAgentFields(agent: Agent, change: AgentChange, sources: AgentFieldSources): AgentFields {
  const { model, configuration, dataspaceIds, promptVersionId } = change;
  return {
    name: change.name ?? agent.name,
    prompt: change.prompt === undefined ? agent.prompt : checkedPrompt(change.prompt),
    ...(model === undefined ? { model: agent.model, aiSystem: agent.aiSystem } : modelOf(change, null, sources)),
    configuration: configuration === undefined ? agent.configuration : configurationOf(configuration),
    dataspaceIds: dataspaceIds === undefined ? agent.dataspaceIds : dataspacesOf(dataspaceIds, sources),
    ...(promptVersionId === undefined
      ? { promptId: agent.promptId, promptVersionId: agent.promptVersionId }
      : idsOf(versionOf(promptVersionId, sources))),
  };
}
