import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { Agent, ThreadRun } from '../../../shared/contract/agents.ts';
import type { Citation, Usage } from '../../../shared/contract/completions.ts';
import type { ToolCall, ToolResult } from '../../../shared/contract/tools.ts';
import { formatPlural } from '../../components/format.ts';
import { type AgentTurn, type ContinuedTurn, queueRun, stopRun, useLiveRuns } from '../../stores/live-runs.ts';
import { isActive, type RunState } from '../../stores/run-stream.ts';
import type { Client } from '../../host/client.ts';
import { useHost } from '../../host/host-context.tsx';
import { useBranchConversation, useRenewTurns, useTurns } from '../../queries/agents.ts';
import { auditKey } from '../../queries/audit.ts';
import { agentAddress } from '../../shell/addresses.ts';
import { automaticResults, type StepUse } from '../../components/tool-calls/automatic-results.ts';
import { usePlaygroundView } from '../../stores/playground-view.ts';
import {
  agentSlot,
  agentStepsSlot,
  draftKey,
  moveNewDraft,
  returnToDraft,
  sendToAgent,
  useAgentDrafts,
  useAgentMocks,
} from '../../stores/agents.ts';
import { describeError } from '../../components/state-panels.tsx';
import { showToast } from '../../stores/toasts.ts';
import { clearResults } from '../../stores/tool-results.ts';
import { readSteps, resultsIn } from '../../stores/tool-steps.ts';

/** One message and its answer as the conversation shows it. */
export interface ShownTurn {
  /** Stays the same from the first letter until after a reload. */
  key: string;
  runId: string | null;
  message: string;
  text: string;
  toolCalls: readonly ToolCall[];
  /** What was sent for the calls; null if nothing was. */
  results: readonly ToolResult[] | null;
  /** The run whose calls it has the results of; null for a message. */
  continued: ContinuedTurn | null;
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
  /** Null until the host has named the conversation. */
  conversationId: string | null;
  /** The conversations that branch here, the oldest first; empty without a branch. */
  branches: readonly string[];
}

/** How much of the conversation was sent along with a message. */
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

/** The counts that the service saves with each turn; null for a turn without them. */
export function readHistory(metadata: ThreadRun['metadata']): HistoryUse | null {
  const memory = metadata?.['memory'];
  if (typeof memory !== 'object' || memory === null) return null;
  const { turns, forgottenTurns } = memory as Record<string, unknown>;
  return typeof turns === 'number' && typeof forgottenTurns === 'number' ? { turns, forgottenTurns } : null;
}

/** Null for a first message. */
export function historyText({ turns, forgottenTurns }: HistoryUse): string | null {
  if (turns === 0 && forgottenTurns === 0) return null;
  const sent = `${formatPlural(turns, 'earlier turn')} in context`;
  return forgottenTurns === 0 ? sent : `${sent}, ${formatPlural(forgottenTurns, 'turn')} dropped`;
}

function continuedTurn({ input, metadata }: ThreadRun): ContinuedTurn | null {
  const runId = readSteps(input.messages, metadata).at(-1)?.runId ?? null;
  return runId === null ? null : { runId, results: resultsIn(input.messages.at(-1)) };
}

function savedTurn(run: ThreadRun): ShownTurn {
  return {
    key: run.conversationRunId,
    runId: run.conversationRunId,
    message: run.input.promptText,
    text: run.output.content,
    toolCalls: run.output.toolCalls ?? [],
    results: null,
    continued: continuedTurn(run),
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
    toolCalls: turn.toolCalls,
    results: null,
    continued: turn.continued,
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
 * The turns of a conversation, including the newest one. Until the host returns that one it comes last. Afterwards its text still
 * comes from the window, because the host saves a turn a moment after its end.
 */
export function shownTurns(saved: readonly ThreadRun[], live: AgentTurn | null): ShownTurn[] {
  return withResults(withLive(saved.map(savedTurn), live));
}

function withLive(turns: ShownTurn[], live: AgentTurn | null): ShownTurn[] {
  if (!live) return turns;
  const index = turns.findIndex(({ runId }) => runId !== null && runId === live.runId);
  const known = turns[index];
  if (!known) return [...turns, liveShown(live)];
  if (!isActive(live) && known.state !== 'streaming') return turns;
  const { aiSystem, model, memory, branches } = known;
  return turns.with(index, { ...liveShown(live), aiSystem, model, memory, branches });
}

/** Each turn that called tools has the results that were sent last. */
function withResults(turns: readonly ShownTurn[]): ShownTurn[] {
  const sent = new Map(turns.flatMap(({ continued }) => (continued ? [[continued.runId, continued.results]] : [])));
  return turns.map((turn) => {
    const results = turn.runId === null ? undefined : sent.get(turn.runId);
    return results ? { ...turn, results } : turn;
  });
}

/** A turn whose calls can be given results. */
export interface OpenCalls {
  /** The completed turn that had other results; a branch begins before it. Null for the newest turn, which is continued itself. */
  answered: ShownTurn | null;
}

/** Null for a turn without calls, one that was cut off, and one that the conversation has left without results. */
export function openCallsOf(turns: readonly ShownTurn[], turn: ShownTurn): OpenCalls | null {
  if (turn.runId === null || turn.toolCalls.length === 0 || turn.finishReason !== 'ToolCalls') return null;
  const next = turns.slice(turns.indexOf(turn) + 1).find(({ state }) => state === 'completed');
  if (!next) return { answered: null };
  return next.continued?.runId === turn.runId ? { answered: next } : null;
}

/** The previous and the next branch of this turn; null where the conversation has only one. */
export function branchesOf({ branches, conversationId }: Pick<ShownTurn, 'branches' | 'conversationId'>) {
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

/** A message, or the results of the calls that it led to. */
type Sent = Pick<ShownTurn, 'message' | 'continued'>;

interface MockedBy {
  agentId: string;
  /** Aborts when the person stops the steps. */
  signal: AbortSignal;
  client: Client;
  queryClient: QueryClient;
}

/** The results of a turn's calls that the agent's mocks give; none once another turn has begun. */
function mockedResults(turn: AgentTurn, use: StepUse, { agentId, signal, ...clients }: MockedBy) {
  const isNewest = () => !signal.aborted && useLiveRuns.getState().runs[agentSlot(agentId)]?.key === turn.key;
  const tools = useAgentMocks.getState().byAgent[agentId];
  return automaticResults(turn, use, { ...clients, tools, isNewest });
}

function showFailure(cause: unknown): void {
  const { message: text, requestId } = describeError(cause);
  showToast({ tone: 'negative', text, requestId });
}

/** Sends messages to an agent, in this conversation or in a branch of it. */
function useSend(agentId: string, conversationId: string | null) {
  const { client } = useHost();
  const queryClient = useQueryClient();
  const [location, navigate] = useLocation();
  const refetchTurns = useRenewTurns();
  const branch = useBranchConversation();
  const [slot, betweenSteps] = [agentSlot(agentId), agentStepsSlot(agentId)];

  /** The person may have opened another page while the host was busy. */
  const isStillHere = (): boolean => window.location.hash.endsWith(location);

  const send = async (
    { message, continued }: Sent,
    target = conversationId,
    use: StepUse = { steps: 0, cost: 0 },
  ): Promise<void> => {
    if (isActive(useLiveRuns.getState().runs[slot])) return;
    const turn = await sendToAgent(client, {
      agentId,
      conversationId: target,
      message,
      continued,
      onAccepted: (id) => {
        if (continued) clearResults(continued.runId);
        if (target === null && isStillHere()) {
          moveNewDraft(agentId, id);
          navigate(agentAddress(agentId, id), { replace: true });
        }
        void refetchTurns();
      },
    });
    // A message that never became a turn would be lost with the window.
    if (turn.runId === null && turn.state === 'failed' && !continued) returnToDraft(draftKey(agentId, target), message);
    // A switch that is turned on later, beside the finished answer, is for the next one.
    const mayContinue = usePlaygroundView.getState().continuesAutomatically && turn.finishReason === 'ToolCalls';
    const signal = mayContinue ? queueRun(betweenSteps) : null;
    let results: readonly ToolResult[] | null = null;
    try {
      await refetchTurns();
      await queryClient.invalidateQueries({ queryKey: auditKey });
      if (signal) results = await mockedResults(turn, use, { agentId, signal, client, queryClient });
    } finally {
      // A later turn has a separate signal.
      if (signal?.aborted === false) stopRun(betweenSteps);
    }
    if (turn.runId === null || results === null) return;
    await send({ message, continued: { runId: turn.runId, results } }, turn.conversationId ?? target, use);
  };

  /** Sends another message instead of a turn's own. This creates a branch; the original conversation stays. */
  const sendInBranch = async (turn: ShownTurn, sent: Sent): Promise<void> => {
    if (conversationId === null || turn.runId === null) return;
    if (isActive(useLiveRuns.getState().runs[slot])) return;
    let target: string;
    try {
      target = await branch({ conversationId, runId: turn.runId });
    } catch (cause) {
      // The field of an edited message is closed already.
      if (sent.message !== turn.message) returnToDraft(draftKey(agentId, conversationId), sent.message);
      return showFailure(cause);
    }
    if (isStillHere()) navigate(agentAddress(agentId, target));
    await send(sent, target).catch(showFailure);
  };

  return { send, sendInBranch };
}

/** One conversation with an agent: its turns, the running turn and the next message. */
export function useConversation(agent: Agent, conversationId: string | null) {
  const saved = useTurns(conversationId);
  const slot = agentSlot(agent.id);
  const newest = useLiveRuns(({ runs }) => runs[slot]);
  const isBetweenSteps = useLiveRuns(({ queued }) => queued.has(agentStepsSlot(agent.id)));
  const live = isHere(newest, conversationId) ? newest : null;
  const turns = useMemo(() => shownTurns(saved.data?.runs ?? [], live), [saved.data, live]);
  const key = draftKey(agent.id, conversationId);
  const message = useAgentDrafts(({ messages }) => messages[key] ?? '');
  const write = (text: string): void => useAgentDrafts.getState().write(key, text);
  const { send, sendInBranch } = useSend(agent.id, conversationId);

  return {
    saved,
    isOwn: saved.data?.isOwn ?? true,
    turns,
    message,
    write,
    isAnswering: isActive(newest) || isBetweenSteps,
    isAnsweringHere: isActive(live),
    send: () => {
      if (message.trim() === '' || isActive(newest)) return;
      write('');
      void send({ message, continued: null });
    },
    /** The model's history leaves out turns without a complete answer, so a retry of one follows it. A retry of a complete turn replaces it in a branch. */
    retry: (turn: ShownTurn) => void (turn.state === 'completed' ? sendInBranch(turn, turn) : send(turn)),
    sendInBranch: (turn: ShownTurn, text: string) => void sendInBranch(turn, { message: text, continued: null }),
    /** Continues a turn with these results, in a branch if it has been continued with others. */
    sendResults: (turn: ShownTurn, { answered }: OpenCalls, results: readonly ToolResult[]) => {
      if (turn.runId === null) return;
      const sent = { message: turn.message, continued: { runId: turn.runId, results } };
      void (answered ? sendInBranch(answered, sent) : send(sent));
    },
    stop: () => {
      stopRun(slot);
      stopRun(agentStepsSlot(agent.id));
    },
  };
}

export type Conversation = ReturnType<typeof useConversation>;
