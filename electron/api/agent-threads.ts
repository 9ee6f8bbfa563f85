import { branchConversation, readAgentThread } from '../../shared/contract/agent-threads.ts';
import type { ConversationThreads } from '../agents/conversation-threads.ts';
import { implement, type Handler } from './handler.ts';

export function agentThreadHandlers(threads: ConversationThreads): Handler[] {
  return [
    implement(readAgentThread, ({ parameters, caller }) => threads.read(parameters.id, caller.callerId)),
    implement(branchConversation, ({ parameters, body, caller }) =>
      threads.branch({ conversationId: parameters.id, runId: body.runId }, caller.callerId),
    ),
  ];
}
