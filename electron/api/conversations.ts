import { AppError } from '../../shared/app-error.ts';
import { giveFeedback, listConversations, readConversation } from '../../shared/contract/conversations.ts';
import type { AuditStore } from '../storage/audit/audit-store.ts';
import type { Caller } from './authentication.ts';
import { implement, type Handler } from './handler.ts';
import { longJsonAnswer } from './long-json-answer.ts';

const defaultPageSize = 20;

/** With the scope `audit` all callers' conversations are seen, otherwise the caller's own. */
const seesAll = (caller: Caller): boolean => caller.scopes.includes('audit');

export function conversationHandlers(audit: AuditStore): Handler[] {
  return [
    implement(listConversations, ({ query, caller, signal }) =>
      audit.list(
        {
          callerId: seesAll(caller) ? null : caller.callerId,
          pageSize: query.pageSize ?? defaultPageSize,
          continuationToken: query.continuationToken ?? null,
        },
        { signal },
      ),
    ),
    implement(readConversation, ({ parameters, caller }) => {
      const conversation = audit.readConversation(parameters.id, { hasFeedback: seesAll(caller) });
      if (conversation === null) throw new AppError('not_found', 'No conversation has this ID.');
      if (!seesAll(caller) && conversation.callerId !== caller.callerId) {
        throw new AppError(
          'forbidden',
          'This conversation belongs to another caller. Use a key with the scope `audit`.',
        );
      }
      return longJsonAnswer(conversation);
    }),
    implement(giveFeedback, ({ parameters, body }) =>
      audit.giveFeedback(parameters.conversationId, parameters.runId, body),
    ),
  ];
}
