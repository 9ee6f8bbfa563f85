import { AppError } from '../../shared/app-error.ts';
import type { AgentThread } from '../../shared/contract/agents.ts';
import type { AuditStore } from '../audit/query/audit-store.ts';
import { type BranchOrigin, stretchesOf, type TurnStore } from '../storage/agents/turn-store.ts';
import { timeOrderedId } from '../storage/time-ordered-id.ts';

/** Conversations with their branches, as the window shows them. */
export interface ConversationThreads {
  /** Throws `not_found` for an unknown conversation. */
  read(conversationId: string, callerId: string): AgentThread;
  /**
   * Starts a branch of a conversation before one of its runs. The branch is invisible until its first message. Throws `not_found`,
   * `forbidden` for another caller's conversation, and `invalid_request` for a run that the conversation doesn't have.
   */
  branch(from: { conversationId: string; runId: string }, callerId: string): { conversationId: string };
}

export interface ConversationThreadsOptions {
  readonly turns: TurnStore;
  readonly audit: Pick<AuditStore, 'readConversation'>;
}

/** The caller that started a conversation. Throws `not_found`. */
function ownerOf(turns: TurnStore, conversationId: string): string {
  const owner = turns.callerOf(conversationId);
  if (owner === null) throw new AppError('not_found', 'There is no conversation with this id.');
  return owner;
}

export function createConversationThreads({ turns, audit }: ConversationThreadsOptions): ConversationThreads {
  const { branches } = turns;

  function runsOf({ conversationId, runId }: { conversationId: string; runId: string | null }) {
    const runs = [...(audit.readConversation(conversationId, { hasFeedback: false })?.runs ?? [])];
    if (runId === null) return runs;
    const end = runs.findIndex(({ conversationRunId }) => conversationRunId === runId);
    // Retention takes the oldest first: without the run there is nothing left before it.
    return runs.slice(0, Math.max(0, end));
  }

  /** The first message of a branch replaces the message that it branches off from. */
  function originOf(runId: string): BranchOrigin | null {
    const position = branches.positionOf(runId);
    if (position === null) return null;
    const branch = position.isFirst ? branches.find(position.conversationId) : null;
    return branch?.origin ?? { conversationId: position.conversationId, runId };
  }

  return {
    read(conversationId, callerId) {
      const isOwn = ownerOf(turns, conversationId) === callerId;
      const stretches = [...stretchesOf(branches, conversationId)].toReversed();
      const thread = stretches.flatMap((stretch) =>
        runsOf(stretch).map((run) => ({ ...run, conversationId: stretch.conversationId })),
      );
      const runs = thread.map((run) => {
        const origin = originOf(run.conversationRunId);
        const others = origin === null ? [] : branches.from(origin);
        return { ...run, branches: origin === null || others.length === 0 ? [] : [origin.conversationId, ...others] };
      });
      return { id: conversationId.toLowerCase(), isOwn, runs };
    },
    branch(from, callerId) {
      if (ownerOf(turns, from.conversationId) !== callerId)
        throw new AppError('forbidden', 'This conversation belongs to another caller.');
      const runId = from.runId.toLowerCase();
      const position = branches.positionOf(runId);
      const isInThread = [...stretchesOf(branches, from.conversationId)].some(
        ({ conversationId }) => conversationId === position?.conversationId,
      );
      const origin = isInThread ? originOf(runId) : null;
      if (origin === null) {
        throw new AppError('invalid_request', 'This conversation has no such run.', {
          details: [{ field: 'runId', issue: 'is not a run of this conversation' }],
        });
      }
      const conversationId = timeOrderedId();
      branches.add({ conversationId, callerId, origin });
      return { conversationId };
    },
  };
}
