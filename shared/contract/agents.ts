import { z } from 'zod';
import { aiSystem, errorBody, listOf, listQuery, timestamp, uuid } from './common.ts';
import { completionChunk } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { messageAnswer } from './prompt-runs.ts';

const tag = 'Agents';
const notEmpty = 'must not be empty';

const agentName = z.string().min(1, notEmpty).max(300);
const model = z.string().min(1, notEmpty).max(300);
const agentPrompt = z.string().describe('The system message of every turn, sent as it is');

function requireModel(
  agent: { aiSystem?: string | null | undefined; model?: string | null | undefined },
  context: z.RefinementCtx,
): void {
  if (!agent.aiSystem || agent.model) return;
  context.addIssue({ code: 'custom', path: ['model'], message: 'is required when aiSystem is given' });
}

const chosenSystem = aiSystem.nullish().describe('The first provider that has the model, unless given');

export const agentInput = z
  .strictObject({ name: agentName, model: model.nullish(), aiSystem: chosenSystem, prompt: agentPrompt.nullish() })
  .superRefine(requireModel)
  .meta({ id: 'AgentInput', description: 'Without a model it is the first one of ServiceAi, without a prompt none' });
export type AgentInput = z.infer<typeof agentInput>;

export const wholeAgentInput = z
  .strictObject({ name: agentName, model, aiSystem: chosenSystem, prompt: agentPrompt })
  .meta({ id: 'WholeAgentInput' });

export const agentChange = z
  .strictObject({
    name: agentName.optional(),
    model: model.optional(),
    aiSystem: aiSystem.optional(),
    prompt: agentPrompt.optional(),
  })
  .superRefine(requireModel)
  .meta({ id: 'AgentChange', description: 'Absent fields stay as they are' });
export type AgentChange = z.infer<typeof agentChange>;

export const agent = z
  .object({ id: uuid, name: z.string(), aiSystem, model: z.string(), prompt: z.string(), createdAt: timestamp })
  .meta({ id: 'Agent' });
export type Agent = z.infer<typeof agent>;

export const agentRunRequest = z
  .strictObject({
    message: z.string().min(1, notEmpty).describe('Sent as it is: no template'),
    conversationId: uuid.nullish().describe('Goes on with a conversation of the caller; a new one unless given'),
  })
  .meta({ id: 'AgentRunRequest' });
export type AgentRunRequest = z.infer<typeof agentRunRequest>;

export const createWholeAgent = defineEndpoint({
  id: 'createWholeAgent',
  method: 'post',
  path: '/v1/agents',
  access: 'manage',
  tag,
  summary: 'Make an agent from its name, model and prompt',
  body: wholeAgentInput,
  status: 201,
  response: agent,
});

export const listAgents = defineEndpoint({
  id: 'listAgents',
  method: 'get',
  path: '/agents',
  access: 'manage',
  tag,
  summary: 'Agents, newest first',
  query: listQuery,
  response: listOf(agent),
});

export const createAgent = defineEndpoint({
  id: 'createAgent',
  method: 'post',
  path: '/agents',
  access: 'manage',
  tag,
  summary: 'Make an agent; only its name is required',
  body: agentInput,
  status: 201,
  response: agent,
});

export const readAgent = defineEndpoint({
  id: 'readAgent',
  method: 'get',
  path: '/agents/{id}',
  access: 'manage',
  tag,
  summary: 'One agent',
  parameters: z.object({ id: uuid }),
  response: agent,
  errors: [404],
});

export const updateAgent = defineEndpoint({
  id: 'updateAgent',
  method: 'patch',
  path: '/agents/{id}',
  access: 'manage',
  tag,
  summary: 'Change an agent; its conversations go on with what it is now',
  parameters: z.object({ id: uuid }),
  body: agentChange,
  response: agent,
  errors: [404],
});

export const deleteAgent = defineEndpoint({
  id: 'deleteAgent',
  method: 'delete',
  path: '/agents/{id}',
  access: 'manage',
  tag,
  summary: 'Delete an agent; its conversations stay',
  parameters: z.object({ id: uuid }),
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const runAgent = defineEndpoint({
  id: 'runAgent',
  method: 'post',
  path: '/agents/{id}/run',
  access: 'run',
  tag,
  summary: 'Say something to an agent; server-sent events for `Accept: text/event-stream`',
  parameters: z.object({ id: uuid }),
  body: agentRunRequest,
  kinds: ['json', 'event-stream'],
  response: messageAnswer,
  part: z.union([completionChunk, errorBody]),
  errors: [402, 404, 429, 502, 503, 504],
});
