import { AppError, invalidField } from '../../shared/app-error.ts';
import type { Agent, AgentChange, AgentInput, AgentRunRequest } from '../../shared/contract/agents.ts';
import { createMutex, type Mutex } from '../common/mutex.ts';
import { checkSchemas } from '../completions/check-schemas.ts';
import type { AcceptedRun, RunOrigin } from '../completions/completions.ts';
import { readContinuable } from '../completions/continue-run.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { SchemaChecker } from '../schemas/create-schema-checker.ts';
import type { AgentStore } from '../storage/agents/agent-store.ts';
import type { TurnStore } from '../storage/agents/turn-store.ts';
import type { RunStore } from '../storage/storage.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';
import { type AgentFieldSources, changedAgentFields, newAgentFields } from './agent-fields.ts';
import { continueTurn, startTurn, type TurnOptions } from './start-turn.ts';

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
   * dataspace or version, and for an invalid schema of a tool.
   */
  create(input: AgentInput, options: { signal: AbortSignal }): Promise<Agent>;
  /** Throws `not_found`, and `invalid_request` for an unknown model, dataspace or version, and for an invalid schema. */
  update(id: string, change: AgentChange, options: { signal: AbortSignal }): Promise<Agent>;
  /**
   * Starts a turn after the active ones of its conversation, or continues the newest one with the results of its tool calls. Throws
   * `not_found` for an unknown agent or continued run, `invalid_request` for an unknown conversation and for results that don't fit,
   * `forbidden` for another caller's conversation, `conflict` when one of its dataspaces was deleted, and the errors of a completion.
   */
  run(id: string, request: AgentRunRequest, origin: RunOrigin, options: { signal: AbortSignal }): Promise<AcceptedRun>;
}

export interface AgentsOptions extends AgentFieldSources, TurnOptions {
  readonly store: AgentStore;
  readonly providers: Pick<Providers, 'systemOf' | 'resolve' | 'applicableConfiguration'>;
  readonly runs: Pick<RunStore, 'readToContinue'>;
  readonly schemas: Pick<SchemaChecker, 'check'>;
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

export function createAgents(options: AgentsOptions): Agents {
  const { store, turns, runs, schemas } = options;
  const conversationTurns = createConversationTurns();

  /** Starts a turn when those before it in its conversation have ended. */
  async function startInOrder(
    id: string,
    conversationId: string,
    signal: AbortSignal,
    start: (agent: Agent) => Promise<AcceptedRun>,
  ): Promise<AcceptedRun> {
    const end = await conversationTurns.take(conversationId, { signal });
    try {
      // The agent may have been changed or deleted while the turn waited.
      const agent = store.read(id);
      const accepted = await start(agent);
      turns.noteAgent(accepted.run.plan.runId, agent.id);
      void accepted.run.recorded.then(end);
      return accepted;
    } catch (error) {
      end();
      throw error;
    }
  }

  return {
    list: store.list,
    read: store.read,
    remove: store.remove,
    async create(input, { signal }) {
      const fields = newAgentFields(input, options);
      await checkSchemas(fields.configuration, schemas, signal);
      return store.create(fields);
    },
    async update(id, change, { signal }) {
      store.read(id);
      await checkSchemas(change.configuration, schemas, signal);
      return store.update(id, changedAgentFields(store.read(id), change, options));
    },
    async run(id, { message, conversationId: given, continueRunId, toolResults }, origin, { signal }) {
      const agent = store.read(id);
      const known = given?.toLowerCase() ?? null;
      if (known !== null) requireConversation(turns, known, origin.callerId);
      if (continueRunId === undefined) {
        const conversationId = known ?? timeOrderedId();
        const start = (current: Agent) => startTurn(current, message!, { conversationId, origin, signal }, options);
        return startInOrder(agent.id, conversationId, signal, start);
      }
      const caller = { callerId: origin.callerId, agentId: agent.id, isWindow: origin.key === null };
      const run = readContinuable(continueRunId, caller, runs);
      const conversationId = known ?? run.conversationId;
      const results = { continueRunId, toolResults: toolResults! };
      const start = (current: Agent) =>
        continueTurn(current, run, results, { conversationId, origin, signal }, options);
      return startInOrder(agent.id, conversationId, signal, start);
    },
  };
}
