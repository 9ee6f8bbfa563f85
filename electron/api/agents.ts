import {
  branchConversation,
  createAgent,
  createWholeAgent,
  deleteAgent,
  listAgents,
  readAgent,
  readAgentThread,
  runAgent,
  updateAgent,
} from '../../shared/contract/agents.ts';
import type { Agents } from '../agents/create-agents.ts';
import type { Log } from '../log.ts';
import { parseAcceptHeader } from './accept.ts';
import { type Handler, implement } from './api.ts';
import { type LearnedModels, learnModelOf } from './providers.ts';
import { toListQuery } from './validation.ts';
import { originOf, streamedRunResponse, toMessageAnswer, wholeRunResponse } from './run-response.ts';
import type { ConversationThreads } from '../agents/conversation-threads.ts';

/** Whether the caller names the event stream and prefers no other named type. */
function acceptsEvents(accept: string | null): boolean {
  const { namedQuality } = parseAcceptHeader(accept);
  const quality = namedQuality('text/event-stream');
  return quality > 0 && quality >= namedQuality('application/json');
}

function definitionHandlers(agents: Agents, models: LearnedModels, reportFailure: Log): Handler[] {
  return [
    implement(createWholeAgent, async ({ body, signal }) => {
      await learnModelOf(body, models);
      return agents.create(body, { signal });
    }),
    implement(listAgents, ({ query }) => agents.list(toListQuery(query))),
    implement(createAgent, async ({ body, signal }) => {
      await learnModelOf(body, models);
      return agents.create(body, { signal });
    }),
    implement(readAgent, ({ parameters }) => agents.read(parameters.id)),
    implement(updateAgent, async ({ parameters, body, signal }) => {
      await learnModelOf(body, models);
      return agents.update(parameters.id, body, { signal });
    }),
    implement(deleteAgent, ({ parameters }) => agents.remove(parameters.id)),
    implement(runAgent, async (input) => {
      const { parameters, body, signal } = input;
      const accepted = await agents.run(parameters.id, body, originOf(input), { signal });
      if (acceptsEvents(input.headers.get('accept'))) {
        return streamedRunResponse(accepted, input, 'event-stream', reportFailure);
      }
      return wholeRunResponse(accepted, input, toMessageAnswer, reportFailure);
    }),
  ];
}

function threadHandlers(threads: ConversationThreads): Handler[] {
  return [
    implement(readAgentThread, ({ parameters, caller }) => threads.read(parameters.id, caller.callerId)),
    implement(branchConversation, ({ parameters, body, caller }) =>
      threads.branch({ conversationId: parameters.id, runId: body.runId }, caller.callerId),
    ),
  ];
}

export interface AgentHandlerOptions {
  readonly agents: Agents;
  readonly threads: ConversationThreads;
  readonly models: LearnedModels;
  readonly log: Log;
}

/** Agents and their conversations. */
export function agentHandlers({ agents, threads, models, log }: AgentHandlerOptions): Handler[] {
  return [...definitionHandlers(agents, models, log), ...threadHandlers(threads)];
}
