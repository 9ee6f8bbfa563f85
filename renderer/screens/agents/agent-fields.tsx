import { useQueryClient } from '@tanstack/react-query';
import { RefreshCw, Unlink } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Agent, AgentInput } from '../../../shared/contract/agents.ts';
import type { Model } from '../../../shared/contract/providers.ts';
import type { Prompt, PromptVersion } from '../../../shared/contract/prompts.ts';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';
import type { ParameterTexts } from '../../components/parameters-panel.tsx';
import { readConfiguration, writeConfiguration } from '../../drafts/parameter-model.ts';
import type { DraftTools } from '../../drafts/tool-drafts.ts';
import { lastUsedModel } from '../../stores/playground-drafts.ts';
import { Button } from '../../components/button.tsx';
import { Combobox } from '../../components/combobox.tsx';
import { describeError } from '../../components/state-panels.tsx';
import { useHost } from '../../host/host-context.tsx';
import { promptVersionOptions, usePrompt, usePromptsAtOnce, usePromptVersion } from '../../queries/prompts.ts';
import { promptAddress } from '../../shell/addresses.ts';
import { useAgentMocks } from '../../stores/agents.ts';
import { everyPrompt } from '../../stores/prompts.ts';

/** What the form of an agent shows and changes. */
export interface AgentFields extends ParameterTexts, Required<DraftTools> {
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
    ...writeConfiguration(null),
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
    ...writeConfiguration(agent.configuration, useAgentMocks.getState().byAgent[agent.id]),
  };
}

type AgentBody = AgentInput & { name: string; prompt: string; model: string; aiSystem: Agent['aiSystem'] };

/** The request that saves the agent, with null for removed fields, or why it can't be saved. */
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

/** Restores the previous state of an agent. */
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
 * The prompt that an agent takes from a version: its system message, or its text if there is none. Variables of the text get their
 * default values; if one has no default, the text stays a template, and the form lists the tags that will be sent unchanged.
 */
export function basePromptText({ systemMessage, promptText, variables }: PromptVersion): string {
  if (systemMessage) return systemMessage;
  const template = parseTemplate(promptText);
  const defaults = Object.fromEntries(variables.map(({ name, defaultValue }) => [name, defaultValue]));
  const isComplete = template.variables.every((variable) => typeof defaults[variable.name] === 'string');
  if (template.problems.length > 0 || !isComplete) return promptText;
  return renderTemplate(template, defaults).text;
}

/** Placeholders in an agent's prompt, which is sent unchanged. Empty if the text is not a template. */
export function unreplacedVariables(prompt: string): string[] {
  const template = parseTemplate(prompt);
  return template.problems.length > 0 ? [] : template.variables.map(({ name }) => name);
}

/** More prompts than a person reads through; typing filters them. */
const maxListedPrompts = 1_000;

interface BasePrompt {
  promptId: string | null;
  promptVersionId: string | null;
}

interface BasePromptActionsProps {
  /** Undefined while it loads, and after its deletion. */
  prompt: Prompt | undefined;
  versionId: string | null;
  isEdited: boolean;
  isOutdated: boolean;
  onUpdate: (prompt: Prompt) => void;
  onDetach: () => void;
}

/** The state of the base prompt, and buttons to open, update or detach it. */
function BasePromptActions({ prompt, versionId, isEdited, isOutdated, onUpdate, onDetach }: BasePromptActionsProps) {
  return (
    <div className="row agents__base-actions">
      {isEdited && <span className="caption tertiary">Edited here</span>}
      {prompt && (
        <Link href={promptAddress(prompt.id, versionId ?? undefined)} className="link caption">
          Open prompt
        </Link>
      )}
      <span className="grow" />
      {prompt && isOutdated && (
        <Button size="small" icon={RefreshCw} onClick={() => onUpdate(prompt)}>
          Update to version {prompt.latestVersion.number}
        </Button>
      )}
      <Button size="small" variant="quiet" icon={Unlink} onClick={onDetach}>
        Detach
      </Button>
    </div>
  );
}

interface BasePromptFieldProps {
  base: BasePrompt;
  /** The agent's prompt, which may have been edited since. */
  prompt: string;
  onChoose: (version: PromptVersion) => void;
  onDetach: () => void;
}

/** Chooses a prompt of the library; its newest version fills the form. */
export function BasePromptField({ base, prompt, onChoose, onDetach }: BasePromptFieldProps) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [failure, setFailure] = useState<string | null>(null);
  const prompts = usePromptsAtOnce(everyPrompt, { max: maxListedPrompts, isEnabled: true });
  const based = usePrompt(base.promptId);
  const version = usePromptVersion(base.promptId, base.promptVersionId);
  const choose = async ({ id, latestVersionId }: Prompt): Promise<void> => {
    try {
      onChoose(await queryClient.fetchQuery(promptVersionOptions(client, id, latestVersionId)));
      setFailure(null);
    } catch (cause) {
      setFailure(describeError(cause).message);
    }
  };
  const latest = based.data?.latestVersion.number;
  const number = version.data?.number;
  const isOutdated = latest !== undefined && number !== undefined && latest > number;
  const isEdited = version.data !== undefined && basePromptText(version.data) !== prompt;
  const name = based.data?.name ?? (base.promptId === null ? 'None' : 'Deleted prompt');
  return (
    <div className="agents__base">
      <div className="labelled">
        <span className="label">Based on</span>
        <Combobox
          label="Based on"
          value={base.promptId ?? ''}
          shown={number === undefined ? name : `${name}, version ${number}`}
          placeholder="Search prompts"
          options={(prompts.data ?? []).map((one) => ({
            value: one.id,
            label: one.name,
            group: one.folder ?? 'No folder',
            detail: `version ${one.latestVersion.number}`,
          }))}
          onValueChange={(promptId) => {
            const chosen = prompts.data?.find(({ id }) => id === promptId);
            if (chosen) void choose(chosen);
          }}
        />
      </div>
      {base.promptId !== null && (
        <BasePromptActions
          prompt={based.data}
          versionId={base.promptVersionId}
          isEdited={isEdited}
          isOutdated={isOutdated}
          onUpdate={(updated) => void choose(updated)}
          onDetach={onDetach}
        />
      )}
      {failure !== null && (
        <p className="small negative" role="alert">
          Couldn't read the prompt. {failure}
        </p>
      )}
    </div>
  );
}
