import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Agent, AgentChange, AgentInput, AgentRunRequest } from '../../shared/contract/agents.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { joinMessages, splitMessages } from '../../shared/prompt-messages.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import { literalTemplate } from '../prompts/transfer/templates/template-syntax.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { AgentFields, AgentStore } from '../storage/agents/agent-store.ts';
import type { AcceptedRun, Completions, RunOrigin } from '../completions/completions.ts';
import { isConversationTemplate, renderTurn } from '../completions/render-prompt.ts';
import type { TurnStore } from '../storage/agents/turn-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { fitHistory } from './history.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';

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

/** Runs one turn at a time in each conversation, so that every turn includes the previous answer. */
interface ConversationTurns {
  /** Resolves with the function that ends the turn; rejects with the signal's reason. */
  take(conversationId: string, options: { readonly signal: AbortSignal }): Promise<() => void>;
}

export function createConversationTurns(): ConversationTurns {
  const queues = new Map<string, { readonly queue: Mutex; users: number }>();
  return {
    async take(conversationId, { signal }) {
      const entry = queues.get(conversationId) ?? { queue: createMutex(() => undefined), users: 0 };
      queues.set(conversationId, entry);
      entry.users += 1;
      const leave = () => {
        entry.users -= 1;
        if (entry.users === 0) queues.delete(conversationId);
      };
      try {
        const release = await entry.queue.take({ signal });
        return () => {
          release();
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

/** Agents: a model with a system message and a history of each conversation. */
export interface Agents extends Pick<AgentStore, 'list' | 'read' | 'remove'> {
  /**
   * Without a model it gets that of its base version, or else the first ServiceAi model. Throws `invalid_request` for an unknown model,
   * dataspace or version.
   */
  create(input: AgentInput): Agent;
  /** Throws `not_found`, and `invalid_request` for an unknown model, dataspace or version. */
  update(id: string, change: AgentChange): Agent;
  /**
   * Starts a turn after the active ones of its conversation. Throws `not_found` for an unknown agent, `invalid_request` for an
   * unknown conversation, `forbidden` for another caller's, `conflict` when one of its dataspaces was deleted, and the errors of a
   * completion.
   */
  run(id: string, request: AgentRunRequest, origin: RunOrigin, options: { signal: AbortSignal }): Promise<AcceptedRun>;
}

export interface AgentsOptions extends AgentFieldSources {
  readonly store: AgentStore;
  readonly turns: TurnStore;
  readonly providers: Pick<Providers, 'systemOf' | 'resolve'>;
  readonly completions: Pick<Completions, 'start'>;
}

function requireConversation(turns: TurnStore, conversationId: string, callerId: string): void {
  const owner = turns.callerOf(conversationId);
  if (owner === null) {
    const message = 'No conversation has this id. Leave conversationId out to start a new one.';
    throw invalidField('conversationId', 'is not a conversation', message);
  }
  if (owner === callerId) return;
  const message = 'This conversation belongs to another caller. Leave conversationId out to start a new one.';
  throw new AppError('forbidden', message, {
    details: [{ field: 'conversationId', issue: 'belongs to another caller' }],
  });
}

/** Without this check the caller would read that `dataspaceIds`, a field that it didn't send, is wrong. */
function requireOwnDataspaces({ name, dataspaceIds }: Agent, { grounding }: AgentFieldSources): void {
  try {
    grounding.requireDataspaces(dataspaceIds ?? []);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const message = `The agent "${name}" uses a dataspace that was deleted. Choose its dataspaces again.`;
    throw new AppError('conflict', message, { cause });
  }
}

interface NewTurn {
  readonly message: string;
  readonly conversationId: string;
}

/** The turns that fit the context. Their count is stored with the run, so that the window can show what was dropped. */
function historyFor(
  agent: Agent,
  { message, conversationId }: NewTurn,
  { turns, providers }: Pick<AgentsOptions, 'turns' | 'providers'>,
) {
  const { contextTokens } = providers.resolve(agent.aiSystem, agent.model).metadata;
  const { messages, turns: turnCount } = fitHistory(turns.newestFirst(conversationId), {
    contextTokens,
    systemMessage: agent.prompt,
    message,
    isGrounded: agent.dataspaceIds !== null,
  });
  return { messages, memory: { turns: turnCount, forgottenTurns: turns.count(conversationId) - turnCount } };
}

export function createAgents(options: AgentsOptions): Agents {
  const { store, turns, completions } = options;
  const conversationTurns = createConversationTurns();

  async function startTurn(
    agent: Agent,
    { message, conversationId }: NewTurn,
    origin: RunOrigin,
    signal: AbortSignal,
  ): Promise<AcceptedRun> {
    requireOwnDataspaces(agent, options);
    const template = isConversationTemplate(agent.prompt) ? agent.prompt : undefined;
    const { messages, memory } = historyFor(agent, { message, conversationId }, options);
    const systemMessage = agent.prompt === '' || template !== undefined ? null : agent.prompt;
    const branchOf = turns.branches.find(conversationId)?.origin;
    return completions.start(
      {
        promptText: message,
        systemMessage,
        aiSystem: agent.aiSystem,
        model: agent.model,
        configuration: agent.configuration,
        dataspaceIds: agent.dataspaceIds,
        metadata: { agentId: agent.id, memory, ...(template && { isTemplate: true }), ...(branchOf && { branchOf }) },
      },
      origin,
      { signal, turn: { conversationId, history: messages, template } },
    );
  }

  return {
    list: store.list,
    read: store.read,
    remove: store.remove,
    create: (input) => store.create(newAgentFields(input, options)),
    update: (id, change) => store.update(id, changedAgentFields(store.read(id), change, options)),
    async run(id, request, origin, { signal }) {
      const agent = store.read(id);
      const known = request.conversationId?.toLowerCase() ?? null;
      if (known !== null) requireConversation(turns, known, origin.callerId);
      const conversationId = known ?? timeOrderedId();
      const end = await conversationTurns.take(conversationId, { signal });
      try {
        const accepted = await startTurn(agent, { message: request.message, conversationId }, origin, signal);
        turns.noteAgent(accepted.run.plan.runId, agent.id);
        void accepted.run.recorded.then(end);
        return accepted;
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}
