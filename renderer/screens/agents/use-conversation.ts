import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { useHost } from '../../host/host-context.tsx';
import { useBranchConversation, useRenewTurns, useTurns } from '../../queries/agents.ts';
import { auditKey } from '../../queries/audit.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { draftKey, useAgentDrafts } from '../../stores/agent-drafts.ts';
import { isAnswering, useAgentTurns, type LiveTurn } from '../../stores/agent-turns.ts';
import { describeError } from '../../components/state-panels.tsx';
import { showToast } from '../../stores/toasts.ts';
import { shownTurns, type ShownTurn } from './turn-model.ts';

/** The turn that stands in this conversation: the one just sent, also while a new conversation has no id yet. */
function isHere(turn: LiveTurn | undefined, conversationId: string | null): turn is LiveTurn {
  return turn !== undefined && turn.conversationId === conversationId;
}

/** One conversation with an agent: what was said, what is being said, and what can be said next. */
export function useConversation(agent: Agent, conversationId: string | null) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [location, navigate] = useLocation();
  const renewTurns = useRenewTurns();
  const kept = useTurns(conversationId);
  const newest = useAgentTurns(({ turns }) => turns[agent.id]);
  const live = isHere(newest, conversationId) ? newest : null;
  const turns = useMemo(() => shownTurns(kept.data?.runs ?? [], live), [kept.data, live]);
  const key = draftKey(agent.id, conversationId);
  const message = useAgentDrafts(({ messages }) => messages[key] ?? '');
  const write = (text: string): void => useAgentDrafts.getState().write(key, text);

  const branch = useBranchConversation();

  /** Leads on from here, unless the person has gone elsewhere while the host took its time. */
  const goOn = (target: string, options?: { replace: boolean }): void => {
    if (window.location.hash.endsWith(location)) navigate(agentAddress(agent.id, target), options);
  };

  const send = async (text: string, target = conversationId): Promise<void> => {
    if (isAnswering(useAgentTurns.getState().turns[agent.id])) return;
    const turn = await useAgentTurns.getState().send(client, {
      agentId: agent.id,
      conversationId: target,
      message: text,
      onAccepted: (id) => {
        if (target === null) goOn(id, { replace: true });
        void renewTurns();
      },
    });
    // A message that never became a turn would be lost with the window.
    if (turn.runId === null && turn.state === 'failed')
      useAgentDrafts.getState().write(draftKey(agent.id, target), text);
    await renewTurns();
    await queryClient.invalidateQueries({ queryKey: auditKey });
  };

  /** Says something else in the place of a turn, in a conversation of its own; the one before stays. */
  const sendInPlace = async (turn: ShownTurn, text: string): Promise<void> => {
    if (conversationId === null || turn.runId === null) return;
    if (isAnswering(useAgentTurns.getState().turns[agent.id])) return;
    try {
      const target = await branch({ conversationId, runId: turn.runId });
      goOn(target);
      await send(text, target);
    } catch (cause) {
      const { message: reason, requestId } = describeError(cause);
      showToast({ tone: 'negative', text: reason, requestId });
    }
  };

  return {
    kept,
    isOwn: kept.data?.isOwn ?? true,
    turns,
    message,
    write,
    isAnswering: isAnswering(newest),
    isAnsweringHere: isAnswering(live),
    send: () => {
      if (message.trim() === '' || isAnswering(newest)) return;
      write('');
      void send(message);
    },
    /** A turn without a whole answer is not remembered: it is asked again after it. One with an answer is asked again in its place. */
    retry: (turn: ShownTurn) =>
      void (turn.state === 'completed' ? sendInPlace(turn, turn.message) : send(turn.message)),
    sendInPlace: (turn: ShownTurn, text: string) => void sendInPlace(turn, text),
    stop: () => useAgentTurns.getState().stop(agent.id),
  };
}

export type Conversation = ReturnType<typeof useConversation>;
