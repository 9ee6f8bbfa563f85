import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Agent, AgentChange, AgentInput, AgentRunRequest } from '../../shared/contract/agents.ts';
import { serviceModels } from '../../shared/contract/settings.ts';
import type { AcceptedRun, Completions, RunOrigin } from '../completions/completions.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { AgentStore } from '../storage/agents/agent-store.ts';
import type { TurnStore } from '../storage/agents/turn-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { createConversationTurns } from './conversation-turns.ts';
import { recall } from './memory.ts';

/** Agents: a model with a system message, talked to in conversations that it remembers. */
export interface Agents extends Pick<AgentStore, 'list' | 'read' | 'remove'> {
  /** Without a model it is the first one of ServiceAi. Throws `invalid_request` for an unknown model. */
  create(input: AgentInput): Agent;
  /** Throws `not_found`, and `invalid_request` for an unknown model. */
  update(id: string, change: AgentChange): Agent;
  /**
   * Begins a turn, after those that go on in its conversation. Throws `not_found` for an unknown agent, `invalid_request` for an
   * unknown conversation, `forbidden` for another caller's, and whatever keeps a completion from being run.
   */
  run(id: string, request: AgentRunRequest, origin: RunOrigin, options: { signal: AbortSignal }): Promise<AcceptedRun>;
}

export interface AgentsOptions {
  readonly store: AgentStore;
  readonly turns: TurnStore;
  readonly providers: Pick<Providers, 'systemOf' | 'resolve'>;
  readonly completions: Pick<Completions, 'start'>;
}

export function createAgents({ store, turns, providers, completions }: AgentsOptions): Agents {
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

  /** What the agent remembers; the counts are kept with the run, so that what was forgotten can be seen. */
  function remember({ aiSystem, model }: Agent, systemMessage: string | null, conversationId: string, message: string) {
    const { contextTokens } = providers.resolve(aiSystem, model).facts;
    const { messages, turns: remembered } = recall(turns.newestFirst(conversationId), {
      contextTokens,
      systemMessage,
      message,
    });
    return { messages, memory: { turns: remembered, forgottenTurns: turns.count(conversationId) - remembered } };
  }

  async function startTurn(
    agent: Agent,
    { message, conversationId }: { message: string; conversationId: string },
    origin: RunOrigin,
    signal: AbortSignal,
  ): Promise<AcceptedRun> {
    const systemMessage = agent.prompt === '' ? null : agent.prompt;
    const { messages, memory } = remember(agent, systemMessage, conversationId, message);
    const branchOf = turns.branches.find(conversationId)?.origin;
    return completions.start(
      {
        promptText: message,
        systemMessage,
        aiSystem: agent.aiSystem,
        model: agent.model,
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
    create({ name, model, aiSystem, prompt }) {
      const fields = { name, prompt: prompt ?? '' };
      if (!model) return store.create({ ...fields, aiSystem: 'ServiceAi', model: serviceModels[0] });
      return store.create({ ...fields, aiSystem: providers.systemOf(aiSystem ?? null, model), model });
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
