import { AppError } from '../../shared/app-error.ts';
import {
  giveFeedback,
  listConversations,
  listFeedback,
  readConversation,
  type ConversationRun,
} from '../../shared/contract/conversations.ts';
import { textMessage, textOfMessages } from '../../shared/contract/messages.ts';
import { reviewCallerOf } from './reviews.ts';
import { LazyList } from '../storage/list-page.ts';
import { stepsIn } from '../storage/stored-messages.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import { implement, type Caller, type Handler } from './api.ts';
import type { Reviewers } from '../reviews/create-reviewers.ts';
import { longJsonResponse } from './json-response.ts';

const defaultPageSize = 20;

/** A key with the scope `audit` sees the conversations of all callers, others only their own. */
const seesAll = (caller: Caller): boolean => caller.scopes.includes('audit');

/**
 * The input that a key without the scope `audit` sees: only what it sent. Stored prompts and agents can have instructions that users of a
 * key must not read (docs/decisions/prompts-and-agents.md).
 */
function withoutStoredText({ input, promptRunId, metadata }: ConversationRun): ConversationRun['input'] {
  if (promptRunId !== null)
    return { ...input, promptText: '', systemMessage: null, renderedPrompt: '', messages: [], configuration: null };
  const isAgentTurn = metadata?.['agentId'] !== undefined;
  if (!isAgentTurn) return input;
  const own = { ...input, systemMessage: null, configuration: null };
  // The agent's template is in the other messages, or around the caller's.
  if (metadata['isTemplate'] !== true) return own;
  const messages = [textMessage('user', input.promptText), ...stepsIn(input.messages)];
  return { ...own, renderedPrompt: textOfMessages(messages), messages };
}

/**
 * The part of a run that a key without the scope `audit` may see. Otherwise the guard's record, or the reasoning, which completions don't
 * return, would reveal a blocked answer.
 */
function forRunKey(run: ConversationRun): ConversationRun {
  const { moderation, cost: _, ...rest } = run;
  return {
    ...rest,
    input: withoutStoredText(run),
    output: { ...run.output, reasoning: null },
    ...(moderation && {
      moderation: { ...moderation, answer: moderation.answer && { ...moderation.answer, withheld: null } },
    }),
  };
}

export function conversationHandlers(audit: AuditStore, reviewers: Reviewers): Handler[] {
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
      if (seesAll(caller)) return longJsonResponse(conversation);
      const runs = function* () {
        for (const run of conversation.runs) yield forRunKey(run);
      };
      return longJsonResponse({ ...conversation, runs: new LazyList(runs) });
    }),
    implement(giveFeedback, (input) => {
      const { parameters, body, caller } = input;
      const reviewer = reviewers.find(reviewCallerOf(input))?.name ?? null;
      return audit.giveFeedback(parameters, body, { reviewerId: caller.callerId, reviewer });
    }),
    implement(listFeedback, ({ parameters }) => audit.listFeedback(parameters)),
  ];
}
