import { AppError, invalidField } from '../../shared/app-error.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import type { Agent, AgentChange, AgentInput, AgentRunRequest } from '../../shared/contract/agents.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import type { AcceptedRun, Completions, RunOrigin } from '../completions/completions.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { AgentStore } from '../storage/agents/agent-store.ts';
import type { TurnStore } from '../storage/agents/turn-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { createConversationTurns } from './conversation-turns.ts';
import { recall } from './memory.ts';

/** Agents: a model with a system message, talked to in conversations that it remembers. */
export interface Agents extends Pick<AgentStore, 'list' | 'read' | 'remove'> {
  /**
   * Without a model it gets that of its base version, or else the first ServiceAi model. Throws `invalid_request` for an unknown model,
   * dataspace or version.
   */
  create(input: AgentInput): Agent;
  /** Throws `not_found`, and `invalid_request` for an unknown model, dataspace or version. */
  update(id: string, change: AgentChange): Agent;
  /**
   * Begins a turn, after those that go on in its conversation. Throws `not_found` for an unknown agent, `invalid_request` for an
   * unknown conversation, `forbidden` for another caller's, `conflict` when one of its dataspaces was deleted, and the errors of a
   * completion.
   */
  run(id: string, request: AgentRunRequest, origin: RunOrigin, options: { signal: AbortSignal }): Promise<AcceptedRun>;
}

export interface AgentsOptions {
  readonly store: AgentStore;
  readonly turns: TurnStore;
  readonly providers: Pick<Providers, 'systemOf' | 'resolve'>;
  readonly completions: Pick<Completions, 'start'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
  /** Any version of a stored prompt, null for an unknown id. */
  readonly findVersion: (versionId: string) => PromptVersion | null;
}

/** Null for none. Keys without a value are left out. */
function keptConfiguration(configuration: AgentInput['configuration']): Agent['configuration'] {
  const entries = Object.entries(configuration ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

export function createAgents({ store, turns, providers, completions, grounding, findVersion }: AgentsOptions): Agents {
  const conversationTurns = createConversationTurns();

  function requireConversation(conversationId: string, callerId: string): void {
    const owner = turns.callerOf(conversationId);
    if (owner === null) {
      const message = 'There is no conversation with this id. Leave conversationId out to begin a new one.';
      throw invalidField('conversationId', 'is not a conversation', message);
    }
    if (owner === callerId) return;
    const message = 'This conversation belongs to another caller. Leave conversationId out to begin a new one.';
    throw new AppError('forbidden', message, {
      details: [{ field: 'conversationId', issue: 'belongs to another caller' }],
    });
  }

  function requireVersion(versionId: string | null | undefined): PromptVersion | null {
    if (!versionId) return null;
    const version = findVersion(versionId);
    if (version === null) throw invalidField('promptVersionId', 'is not a version of a stored prompt');
    return version;
  }

  /** Null for none: a run with an empty list would be told that nothing was found. */
  function requireDataspaces(ids: readonly string[] | null | undefined): string[] | null {
    return ids && ids.length > 0 ? grounding.requireDataspaces(ids) : null;
  }

  /** Without this check the caller would read that `dataspaceIds`, a field that it didn't send, is wrong. */
  function requireOwnDataspaces({ name, dataspaceIds }: Agent): void {
    try {
      requireDataspaces(dataspaceIds);
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      const message = `The agent "${name}" uses a dataspace that was deleted. Choose its dataspaces again.`;
      throw new AppError('conflict', message, { cause });
    }
  }

  function modelFor(
    { model, aiSystem }: Pick<AgentInput, 'model' | 'aiSystem'>,
    base: PromptVersion | null,
  ): Pick<Agent, 'model' | 'aiSystem'> {
    if (model) return { model, aiSystem: providers.systemOf(aiSystem ?? null, model) };
    if (!base?.model) return { model: serviceModels[0], aiSystem: 'ServiceAi' };
    return { model: base.model, aiSystem: providers.systemOf(base.aiSystem, base.model) };
  }

  /** What the agent remembers; the counts are kept with the run, so that what was forgotten can be seen. */
  function remember(
    { aiSystem, model, dataspaceIds }: Agent,
    systemMessage: string | null,
    conversationId: string,
    message: string,
  ) {
    const { contextTokens } = providers.resolve(aiSystem, model).facts;
    const { messages, turns: remembered } = recall(turns.newestFirst(conversationId), {
      contextTokens,
      systemMessage,
      message,
      isGrounded: dataspaceIds !== null,
    });
    return { messages, memory: { turns: remembered, forgottenTurns: turns.count(conversationId) - remembered } };
  }

  async function startTurn(
    agent: Agent,
    { message, conversationId }: { message: string; conversationId: string },
    origin: RunOrigin,
    signal: AbortSignal,
  ): Promise<AcceptedRun> {
    requireOwnDataspaces(agent);
    const systemMessage = agent.prompt === '' ? null : agent.prompt;
    const { messages, memory } = remember(agent, systemMessage, conversationId, message);
    const branchOf = turns.branches.find(conversationId)?.origin;
    return completions.start(
      {
        promptText: message,
        systemMessage,
        aiSystem: agent.aiSystem,
        model: agent.model,
        configuration: agent.configuration,
        dataspaceIds: agent.dataspaceIds,
        metadata: { agentId: agent.id, memory, ...(branchOf && { branchOf }) },
      },
      origin,
      { signal, turn: { conversationId, history: messages } },
    );
  }

  return {
    list: store.list,
    read: store.read,
    remove: store.remove,
    create({ name, model, aiSystem, prompt, configuration, dataspaceIds, promptVersionId }) {
      const base = requireVersion(promptVersionId);
      return store.create({
        name,
        prompt: prompt ?? base?.systemMessage ?? base?.promptText ?? '',
        ...modelFor({ model, aiSystem }, base),
        configuration: keptConfiguration(configuration === undefined ? base?.configuration : configuration),
        dataspaceIds: requireDataspaces(dataspaceIds),
        promptVersionId: base?.id ?? null,
      });
    },
    update(id, change) {
      const agent = store.read(id);
      const model = change.model ?? agent.model;
      return store.update(id, {
        name: change.name ?? agent.name,
        model,
        aiSystem:
          change.model === undefined ? agent.aiSystem : providers.systemOf(change.aiSystem ?? null, change.model),
        prompt: change.prompt ?? agent.prompt,
        configuration:
          change.configuration === undefined ? agent.configuration : keptConfiguration(change.configuration),
        dataspaceIds: change.dataspaceIds === undefined ? agent.dataspaceIds : requireDataspaces(change.dataspaceIds),
        promptVersionId:
          change.promptVersionId === undefined
            ? agent.promptVersionId
            : (requireVersion(change.promptVersionId)?.id ?? null),
      });
    },
    async run(id, request, origin, { signal }) {
      const agent = store.read(id);
      const known = request.conversationId?.toLowerCase() ?? null;
      if (known !== null) requireConversation(known, origin.callerId);
      const conversationId = known ?? timeOrderedId();
      const end = await conversationTurns.take(conversationId, { signal });
      try {
        const accepted = await startTurn(agent, { message: request.message, conversationId }, origin, signal);
        turns.noteAgent(accepted.run.plan.runId, agent.id);
        void accepted.run.settled.then(end);
        return accepted;
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}
