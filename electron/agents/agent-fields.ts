import { invalidField } from '../../shared/app-error.ts';
import type { Agent, AgentChange, AgentInput } from '../../shared/contract/agents.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { AgentFields } from '../storage/agents/agent-store.ts';

export interface AgentFieldSources {
  readonly providers: Pick<Providers, 'systemOf'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
  /** Any version of a stored prompt, null for an unknown id. */
  readonly findVersion: (versionId: string) => PromptVersion | null;
}

/** Null for none. Keys without a value are left out. */
function configurationOf(configuration: AgentInput['configuration']): Agent['configuration'] {
  const entries = Object.entries(configuration ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Null for none: a run with an empty list would be told that no passage was found. */
function dataspacesOf(ids: readonly string[] | null | undefined, { grounding }: AgentFieldSources): string[] | null {
  return ids && ids.length > 0 ? grounding.requireDataspaces(ids) : null;
}

function versionOf(versionId: string | null | undefined, { findVersion }: AgentFieldSources): PromptVersion | null {
  if (!versionId) return null;
  const version = findVersion(versionId);
  if (version === null) throw invalidField('promptVersionId', 'is not a version of a stored prompt');
  return version;
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
 * What the input leaves out comes from its base version, the rest has defaults. Throws `invalid_request` for an unknown model, dataspace
 * or version.
 */
export function newAgentFields(input: AgentInput, sources: AgentFieldSources): AgentFields {
  const base = versionOf(input.promptVersionId, sources);
  return {
    name: input.name,
    prompt: input.prompt ?? base?.systemMessage ?? base?.promptText ?? '',
    ...modelOf(input, base, sources),
    configuration: configurationOf(input.configuration === undefined ? base?.configuration : input.configuration),
    dataspaceIds: dataspacesOf(input.dataspaceIds, sources),
    ...idsOf(base),
  };
}

/** Throws as `newAgentFields` does, only for what the change names. */
export function changedAgentFields(agent: Agent, change: AgentChange, sources: AgentFieldSources): AgentFields {
  const { model, configuration, dataspaceIds, promptVersionId } = change;
  return {
    name: change.name ?? agent.name,
    prompt: change.prompt ?? agent.prompt,
    ...(model === undefined ? { model: agent.model, aiSystem: agent.aiSystem } : modelOf(change, null, sources)),
    configuration: configuration === undefined ? agent.configuration : configurationOf(configuration),
    dataspaceIds: dataspaceIds === undefined ? agent.dataspaceIds : dataspacesOf(dataspaceIds, sources),
    ...(promptVersionId === undefined
      ? { promptId: agent.promptId, promptVersionId: agent.promptVersionId }
      : idsOf(versionOf(promptVersionId, sources))),
  };
}
