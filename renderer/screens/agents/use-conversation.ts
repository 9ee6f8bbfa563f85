import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Agent, ThreadRun } from '../../../shared/contract/agents.ts';
import type { Citation, Usage } from '../../../shared/contract/completions.ts';
import { formatPlural } from '../../components/format.ts';
import { type AgentTurn, stopRun, useLiveRuns } from '../../stores/live-runs.ts';
import { isActive, type RunState } from '../../stores/run-stream.ts';
import { useHost } from '../../host/host-context.tsx';
import { useBranchConversation, useRenewTurns, useTurns } from '../../queries/agents.ts';
import { auditKey } from '../../queries/audit.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { agentSlot, draftKey, sendToAgent, useAgentDrafts } from '../../stores/agents.ts';
import { describeError } from '../../components/state-panels.tsx';
import { showToast } from '../../stores/toasts.ts';

/** One message and its answer as the conversation shows it. */
export interface ShownTurn {
  /** Stays the same from the first letter until after a reload. */
  key: string;
  runId: string | null;
  message: string;
  text: string;
  reasoning: string;
  isReasoningLive: boolean;
  citations: readonly Citation[];
  state: RunState;
  finishReason: string | null;
  failure: { code: string; message: string; requestId: string | null } | null;
  aiSystem: ThreadRun['aiSystem'] | null;
  model: string | null;
  createdAt: string;
  totalMs: number | null;
  usage: Usage | null;
  /** US dollars; null when unknown, and until the host has stored the turn. */
  cost: number | null;
  memory: HistoryUse | null;
  /** Where it was said; null while the host has not named it. */
  conversationId: string | null;
  /** Conversations that go different ways from here, the first one first; empty where there is one way only. */
  branches: readonly string[];
}

/** What of the conversation was sent along with a message. */
interface HistoryUse {
  turns: number;
  forgottenTurns: number;
}

const states: Record<ThreadRun['status'], RunState> = {
  Running: 'streaming',
  Completed: 'completed',
  Cancelled: 'stopped',
  Failed: 'failed',
};

/** The counts that the service keeps with each turn; null where it has not. */
export function readHistory(metadata: ThreadRun['metadata']): HistoryUse | null {
  const memory = metadata?.['memory'];
  if (typeof memory !== 'object' || memory === null) return null;
  const { turns, forgottenTurns } = memory as Record<string, unknown>;
  return typeof turns === 'number' && typeof forgottenTurns === 'number' ? { turns, forgottenTurns } : null;
}

/** Null for a first message, which has nothing before it. */
export function historyText({ turns, forgottenTurns }: HistoryUse): string | null {
  if (turns === 0 && forgottenTurns === 0) return null;
  const sent = `${formatPlural(turns, 'earlier turn')} in context`;
  return forgottenTurns === 0 ? sent : `${sent}, ${formatPlural(forgottenTurns, 'turn')} dropped`;
}

function savedTurn(run: ThreadRun): ShownTurn {
  return {
    key: run.conversationRunId,
    runId: run.conversationRunId,
    message: run.input.promptText,
    text: run.output.content,
    reasoning: run.output.reasoning ?? '',
    isReasoningLive: false,
    citations: run.citations,
    state: states[run.status],
    finishReason: run.output.finishReason,
    failure: run.output.error && { ...run.output.error, requestId: null },
    aiSystem: run.aiSystem,
    model: run.model,
    createdAt: run.createdAt,
    totalMs: run.timing.totalMs,
    usage: run.usage,
    cost: run.cost?.amount ?? null,
    memory: readHistory(run.metadata),
    conversationId: run.conversationId,
    branches: run.branches,
  };
}

function liveShown(turn: AgentTurn): ShownTurn {
  return {
    key: turn.runId ?? turn.key,
    runId: turn.runId,
    message: turn.message,
    text: turn.text,
    reasoning: turn.reasoning,
    isReasoningLive: turn.isReasoningLive,
    citations: turn.citations,
    state: turn.state,
    finishReason: turn.finishReason,
    failure: turn.error && {
      code: turn.error.code,
      message: turn.error.message,
      requestId: turn.error.requestId ?? null,
    },
    aiSystem: null,
    model: null,
    createdAt: new Date(turn.sentAt).toISOString(),
    totalMs: turn.endedAt === null ? null : turn.endedAt - turn.startedAt,
    usage: turn.usage,
    cost: null,
    memory: null,
    conversationId: turn.conversationId,
    branches: [],
  };
}

/**
 * The turns of a conversation with the newest one in its place: last until the host has it, afterwards with the text that the
 * window knows better, because the host writes a turn down a moment after its end.
 */
export function shownTurns(kept: readonly ThreadRun[], live: AgentTurn | null): ShownTurn[] {
  const turns = kept.map(savedTurn);
  if (!live) return turns;
  const index = turns.findIndex(({ runId }) => runId !== null && runId === live.runId);
  const known = turns[index];
  if (!known) return [...turns, liveShown(live)];
  if (!isActive(live) && known.state !== 'streaming') return turns;
  const { aiSystem, model, memory, branches } = known;
  return turns.with(index, { ...liveShown(live), aiSystem, model, memory, branches });
}

/** The conversations before and after this way, where it branches; null where it does not. */
export function waysOf({ branches, conversationId }: Pick<ShownTurn, 'branches' | 'conversationId'>) {
  const index = conversationId === null ? -1 : branches.indexOf(conversationId);
  if (index === -1 || branches.length < 2) return null;
  return {
    number: index + 1,
    count: branches.length,
    previous: branches[index - 1] ?? null,
    next: branches[index + 1] ?? null,
  };
}

/** The active turn of this conversation, also while a new conversation has no id yet. */
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

  /** Replaces the message of a turn in a branch; the original conversation stays. */
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
    /** The model's history has no turns without a complete answer, so a retry of one follows it. A retry of a complete turn replaces it in a branch. */
    retry: (turn: ShownTurn) =>
      void (turn.state === 'completed' ? sendInPlace(turn, turn.message) : send(turn.message)),
    sendInPlace: (turn: ShownTurn, text: string) => void sendInPlace(turn, text),
    stop: () => stopRun(slot),
  };
}

export type Conversation = ReturnType<typeof useConversation>;
