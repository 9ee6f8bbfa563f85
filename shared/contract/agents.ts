import { z } from 'zod';
import { aiSystem, errorBody, listOf, listQuery, timestamp, uuid } from './common.ts';
import { completionChunk, configuration } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';
import { messageAnswer } from './prompt-library.ts';
import { conversationRun } from './conversations.ts';
import { maxToolCalls, toolResult } from './tools.ts';

const tag = 'Agents';
const notEmpty = 'must not be empty';

const agentName = z.string().min(1, notEmpty).max(300);
const model = z.string().min(1, notEmpty).max(300);
const agentPrompt = z.string().describe('The system message of every turn, sent without replacing anything in it');

function requireModel(
  agent: { aiSystem?: string | null | undefined; model?: string | null | undefined },
  context: z.RefinementCtx,
): void {
  if (!agent.aiSystem || agent.model) return;
  context.addIssue({ code: 'custom', path: ['model'], message: 'is required when aiSystem is given' });
}

const chosenSystem = aiSystem.nullish().describe('Default: the first provider that has the model');

/** The settings of every turn besides the model and the prompt. */
const turnSettings = {
  configuration: configuration.nullish().describe('Parameters and tools of every turn, as in a completion'),
  dataspaceIds: z.array(uuid).max(100).nullish().describe('Every turn is answered from these dataspaces'),
  promptVersionId: uuid
    .nullish()
    .describe(
      'A version of a stored prompt that the agent is based on. A new agent takes its system message (or its text, if it has none) and model where none are given.',
    ),
};

export const agentInput = z
  .strictObject({
    name: agentName,
    model: model.nullish(),
    aiSystem: chosenSystem,
    prompt: agentPrompt.nullish(),
    ...turnSettings,
  })
  .superRefine(requireModel)
  .meta({
    id: 'AgentInput',
    description: 'Without a model, the first ServiceAi model is used; without a prompt, none is sent',
  });
export type AgentInput = z.infer<typeof agentInput>;

export const wholeAgentInput = z
  .strictObject({ name: agentName, model, aiSystem: chosenSystem, prompt: agentPrompt, ...turnSettings })
  .meta({ id: 'WholeAgentInput' });

export const agentChange = z
  .strictObject({
    name: agentName.optional(),
    model: model.optional(),
    aiSystem: aiSystem.optional(),
    prompt: agentPrompt.optional(),
    ...turnSettings,
  })
  .superRefine(requireModel)
  .meta({
    id: 'AgentChange',
    description: 'Absent fields are unchanged; null removes parameters, dataspaces or the base version',
  });
export type AgentChange = z.infer<typeof agentChange>;

export const agent = z
  .object({
    id: uuid,
    name: z.string(),
    aiSystem,
    model: z.string(),
    prompt: z.string(),
    configuration: z.record(z.string(), z.unknown()).nullable(),
    dataspaceIds: z.array(uuid).nullable(),
    promptId: uuid.nullable().describe('The stored prompt that it is based on'),
    promptVersionId: uuid.nullable().describe('The version of that prompt'),
    createdAt: timestamp,
  })
  .meta({ id: 'Agent' });
export type Agent = z.infer<typeof agent>;

/** Reported beside the issues of other fields, too. */
const bodyIssue = (field: 'message' | 'toolResults', error: string) => ({
  path: [field],
  error,
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
});

export const agentRunRequest = z
  .strictObject({
    message: z.string().min(1, notEmpty).optional().describe('Not a template: sent unchanged'),
    conversationId: uuid
      .nullish()
      .describe('Continues a conversation of the caller. Default: a new conversation, or that of the continued run'),
    continueRunId: uuid
      .optional()
      .describe("The newest completed run of the caller's conversation, if its model called tools"),
    toolResults: z.array(toolResult).max(maxToolCalls).optional().describe('One result for each call of that run'),
  })
  .refine((body) => body.continueRunId !== undefined || body.message !== undefined, bodyIssue('message', 'is required'))
  .refine(
    (body) => body.continueRunId === undefined || body.message === undefined,
    bodyIssue('message', "can't be sent with tool results"),
  )
  .refine(
    (body) => body.continueRunId === undefined || body.toolResults !== undefined,
    bodyIssue('toolResults', 'is required'),
  )
  .refine(
    (body) => body.continueRunId !== undefined || body.toolResults === undefined,
    bodyIssue('toolResults', 'needs continueRunId'),
  )
  .meta({
    id: 'AgentRunRequest',
    description: 'Either `message`, or `continueRunId` and `toolResults`, which end a turn whose model called tools',
  });
export type AgentRunRequest = z.infer<typeof agentRunRequest>;

export const createWholeAgent = defineEndpoint({
  id: 'createWholeAgent',
  method: 'post',
  path: '/v1/agents',
  access: 'manage',
  tag,
  summary: 'Create an agent; name, model and prompt are required',
  description: 'Creates the same resource as `POST /agents`.',
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
  summary: 'List agents',
  description: 'Newest first.',
  query: listQuery,
  response: listOf(agent),
});

export const createAgent = defineEndpoint({
  id: 'createAgent',
  method: 'post',
  path: '/agents',
  access: 'manage',
  tag,
  summary: 'Create an agent; only the name is required',
  description: 'Without a model, the agent uses the first ServiceAi model; without a prompt, it has no system message.',
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
  summary: 'Read an agent',
  description: 'Returns the agent with its model, prompt, parameters and dataspaces.',
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
  summary: 'Change an agent',
  description: 'Absent fields are unchanged. Later turns of its conversations use the change.',
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
  summary: 'Delete an agent',
  description: 'Its conversations are kept.',
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
  summary: 'Send a message to an agent, or the results of its tool calls',
  description:
    'Runs one turn of a conversation. Turns of the same conversation run one after the other. If the model called tools, send their results to complete the turn. The answer is streamed as server-sent events if `Accept` prefers `text/event-stream`. The header `x-conversation-id` names the conversation.',
  parameters: z.object({ id: uuid }),
  body: agentRunRequest,
  kinds: ['json', 'event-stream'],
  response: messageAnswer,
  part: z.union([completionChunk, errorBody]),
  errors: [402, 404, 409, 429, 502, 503, 504],
});

const threadsTag = 'Window: agents';

/** One turn on any branch. */
const threadRun = conversationRun.extend({
  /** The conversation of the turn: this one, or one that it continues. */
  conversationId: uuid,
  /** The conversations that branch here, the oldest first; empty without a branch. */
  branches: z.array(uuid),
});
export type ThreadRun = z.infer<typeof threadRun>;

/** A conversation including the turns before it branched, oldest first. */
export const agentThread = z.object({
  id: uuid,
  /** Whether the caller may continue it. */
  isOwn: z.boolean(),
  runs: z.array(threadRun),
});
export type AgentThread = z.infer<typeof agentThread>;

export const readAgentThread = defineEndpoint({
  id: 'readAgentThread',
  method: 'get',
  path: '/window/agents/threads/{id}',
  access: 'window',
  tag: threadsTag,
  summary: 'A conversation with the turns that it continues and its branches',
  parameters: z.object({ id: uuid }),
  response: agentThread,
  errors: [404],
});

export const branchConversation = defineEndpoint({
  id: 'branchConversation',
  method: 'post',
  path: '/window/agents/threads/{id}/branches',
  access: 'window',
  tag: threadsTag,
  summary: 'Branch a conversation before a run; the original stays unchanged',
  parameters: z.object({ id: uuid }),
  body: z.strictObject({ runId: uuid }),
  status: 201,
  response: z.object({ conversationId: uuid }),
  errors: [404],
});
