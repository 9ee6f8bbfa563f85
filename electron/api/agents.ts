import {
  createAgent,
  createWholeAgent,
  deleteAgent,
  listAgents,
  readAgent,
  runAgent,
  updateAgent,
} from '../../shared/contract/agents.ts';
import type { Agents } from '../agents/create-agents.ts';
import type { Log } from '../log.ts';
import { parseAcceptHeader } from './accept.ts';
import { implement, type Handler } from './handler.ts';
import { learnModelOf, type LearnedModels } from './learned-models.ts';
import { toListQuery } from './list-query.ts';
import { originOf, streamedRunAnswer, toMessageAnswer, wholeRunAnswer } from './run-answer.ts';

/** Only a caller that names the event stream, and prefers no other named type, gets one. */
function acceptsEvents(accept: string | null): boolean {
  const { namedQuality } = parseAcceptHeader(accept);
  const quality = namedQuality('text/event-stream');
  return quality > 0 && quality >= namedQuality('application/json');
}

export function agentHandlers(agents: Agents, models: LearnedModels, reportFailure: Log): Handler[] {
  return [
    implement(createWholeAgent, async ({ body }) => {
      await learnModelOf(body, models);
      return agents.create(body);
    }),
    implement(listAgents, ({ query }) => agents.list(toListQuery(query))),
    implement(createAgent, async ({ body }) => {
      await learnModelOf(body, models);
      return agents.create(body);
    }),
    implement(readAgent, ({ parameters }) => agents.read(parameters.id)),
    implement(updateAgent, async ({ parameters, body }) => {
      await learnModelOf(body, models);
      return agents.update(parameters.id, body);
    }),
    implement(deleteAgent, ({ parameters }) => agents.remove(parameters.id)),
    implement(runAgent, async (input) => {
      const { parameters, body, signal } = input;
      const accepted = await agents.run(parameters.id, body, originOf(input), { signal });
      if (acceptsEvents(input.headers.get('accept'))) {
        return streamedRunAnswer(accepted, input, 'event-stream', reportFailure);
      }
      return wholeRunAnswer(accepted, input, toMessageAnswer, reportFailure);
    }),
  ];
}
