import type { ThreadRun } from '../../../shared/contract/agent-threads.ts';
import type { Citation } from '../../../shared/contract/completions.ts';
import { formatPlural } from '../../components/format.ts';
import type { AgentTurn } from '../../stores/live-runs.ts';
import { isActive, type RunState } from '../../stores/run-stream.ts';

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
  tokens: number | null;
  memory: Memory | null;
  /** Where it was said; null while the host has not named it. */
  conversationId: string | null;
  /** Conversations that go different ways from here, the first one first; empty where there is one way only. */
  branches: readonly string[];
}

/** What of the conversation was sent along with a message. */
export interface Memory {
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
export function readMemory(metadata: ThreadRun['metadata']): Memory | null {
  const memory = metadata?.['memory'];
  if (typeof memory !== 'object' || memory === null) return null;
  const { turns, forgottenTurns } = memory as Record<string, unknown>;
  return typeof turns === 'number' && typeof forgottenTurns === 'number' ? { turns, forgottenTurns } : null;
}

/** Null for a first message, which has nothing before it. */
export function memoryText({ turns, forgottenTurns }: Memory): string | null {
  if (turns === 0 && forgottenTurns === 0) return null;
  const sent = `${formatPlural(turns, 'earlier turn')} in context`;
  return forgottenTurns === 0 ? sent : `${sent}, ${formatPlural(forgottenTurns, 'turn')} dropped`;
}

function keptTurn(run: ThreadRun): ShownTurn {
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
    tokens: run.usage?.total_tokens ?? null,
    memory: readMemory(run.metadata),
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
    tokens: turn.usage?.total_tokens ?? null,
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
  const turns = kept.map(keptTurn);
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
  const place = conversationId === null ? -1 : branches.indexOf(conversationId);
  if (place === -1 || branches.length < 2) return null;
  return {
    number: place + 1,
    count: branches.length,
    previous: branches[place - 1] ?? null,
    next: branches[place + 1] ?? null,
  };
}
