import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Agent } from '../../../shared/contract/agents.ts';
import { useHost } from '../../host/host-context.tsx';
import { useBranchConversation, useRenewTurns, useTurns } from '../../queries/agents.ts';
import { auditKey } from '../../queries/audit.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { agentSlot, draftKey, sendToAgent, useAgentDrafts } from '../../stores/agents.ts';
import { stopRun, useLiveRuns, type AgentTurn } from '../../stores/live-runs.ts';
import { isActive } from '../../stores/run-stream.ts';
import { describeError } from '../../components/state-panels.tsx';
import { showToast } from '../../stores/toasts.ts';
import { shownTurns, type ShownTurn } from './turn-model.ts';

/** The turn that stands in this conversation: the one just sent, also while a new conversation has no id yet. */
function isHere(turn: AgentTurn | undefined, conversationId: string | null): turn is AgentTurn {
  return turn !== undefined && turn.conversationId === conversationId;
}

/** One conversation with an agent: what was said, what is being said, and what can be said next. */
export function useConversation(agent: Agent, conversationId: string | null) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [location, navigate] = useLocation();
  const renewTurns = useRenewTurns();
  const kept = useTurns(conversationId);
  const slot = agentSlot(agent.id);
  const newest = useLiveRuns(({ runs }) => runs[slot]);
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
    if (isActive(useLiveRuns.getState().runs[slot])) return;
    const turn = await sendToAgent(client, {
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
    if (isActive(useLiveRuns.getState().runs[slot])) return;
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
    isAnswering: isActive(newest),
    isAnsweringHere: isActive(live),
    send: () => {
      if (message.trim() === '' || isActive(newest)) return;
      write('');
      void send(message);
    },
    /** A turn without a whole answer is not remembered: it is asked again after it. One with an answer is asked again in its place. */
    retry: (turn: ShownTurn) =>
      void (turn.state === 'completed' ? sendInPlace(turn, turn.message) : send(turn.message)),
    sendInPlace: (turn: ShownTurn, text: string) => void sendInPlace(turn, text),
    stop: () => stopRun(slot),
  };
}

export type Conversation = ReturnType<typeof useConversation>;
