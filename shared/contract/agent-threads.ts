import { z } from 'zod';
import { uuid } from './common.ts';
import { conversationRun } from './conversations.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: agents';

/** One turn, wherever along the branches it was said. */
const threadRun = conversationRun.extend({
  /** Where it was said: this conversation, or one that it goes on from. */
  conversationId: uuid,
  /** The conversations that go different ways from here, the first one first; empty where there is one way only. */
  branches: z.array(uuid),
});
export type ThreadRun = z.infer<typeof threadRun>;

/** A conversation with what was said before it branched, oldest first. */
export const agentThread = z.object({
  id: uuid,
  /** Whether the caller may go on with it. */
  isOwn: z.boolean(),
  runs: z.array(threadRun),
});
export type AgentThread = z.infer<typeof agentThread>;

export const readAgentThread = defineEndpoint({
  id: 'readAgentThread',
  method: 'get',
  path: '/window/agents/threads/{id}',
  access: 'window',
  tag,
  summary: 'A conversation with what it goes on from and where it branches',
  parameters: z.object({ id: uuid }),
  response: agentThread,
  errors: [404],
});

export const branchConversation = defineEndpoint({
  id: 'branchConversation',
  method: 'post',
  path: '/window/agents/threads/{id}/branches',
  access: 'window',
  tag,
  summary: 'Begin a conversation that goes on from before a run; the other one stays as it is',
  parameters: z.object({ id: uuid }),
  body: z.strictObject({ runId: uuid }),
  status: 201,
  response: z.object({ conversationId: uuid }),
  errors: [404],
});
