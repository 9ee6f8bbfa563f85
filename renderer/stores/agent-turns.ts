import { create } from 'zustand';
import { AppError } from '../../shared/app-error.ts';
import { runAgent } from '../../shared/contract/agents.ts';
import type { Citation, CompletionChunk } from '../../shared/contract/completions.ts';
import type { Client } from '../host/client.ts';
import { beginStreamingRun } from './activity.ts';
import { oncePerFrame } from './once-per-frame.ts';
import { readReasoning } from './playground-run.ts';

/** One message to an agent and its answer while it streams. A new object for each state that is drawn. */
export interface LiveTurn {
  key: string;
  agentId: string;
  /** Null until the host has named a new conversation. */
  conversationId: string | null;
  runId: string | null;
  message: string;
  text: string;
  /** What the model thought so far. */
  reasoning: string;
  isReasoningLive: boolean;
  /** Empty until the answer ends, and for an agent without dataspaces. */
  citations: readonly Citation[];
  state: 'connecting' | 'streaming' | 'completed' | 'stopped' | 'failed';
  finishReason: string | null;
  /** Tokens of question and answer together; null until the provider has said. */
  tokens: number | null;
  /** Milliseconds since 1970. */
  sentAt: number;
  /** From the press to the end; null before it. */
  totalMs: number | null;
  error: AppError | null;
}

export interface SentMessage {
  agentId: string;
  /** Null starts a new conversation. */
  conversationId: string | null;
  message: string;
  /** Called once, as soon as the host has named the run and its conversation. */
  onAccepted: (conversationId: string) => void;
}

interface AgentTurnsState {
  /** The newest turn of each agent since the window opened. */
  turns: Readonly<Record<string, LiveTurn>>;
  /** Stops the agent's active turn first. Resolves with the new turn at its end, however it ended. */
  send: (client: Client, sent: SentMessage) => Promise<LiveTurn>;
  stop: (agentId: string) => void;
  /** Removes the turn from the screen, not from the host. */
  dismiss: (agentId: string) => void;
}

export function isAnswering(turn: LiveTurn | undefined | null): boolean {
  return turn?.state === 'connecting' || turn?.state === 'streaming';
}

function asAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('internal', "Couldn't read the answer. Send the message again; the run is in the audit.", {
    cause,
  });
}

function takeChunk(turn: LiveTurn, { choice, runId, usage, citations }: CompletionChunk): void {
  turn.runId = runId;
  turn.text += choice.message.content ?? '';
  turn.finishReason = choice.finish_reason ?? turn.finishReason;
  turn.tokens = usage?.total_tokens ?? turn.tokens;
  turn.citations = citations ?? turn.citations;
}

async function follow(
  client: Client,
  turn: LiveTurn,
  { agentId, conversationId, message, onAccepted }: SentMessage,
  { signal, onChange }: { signal: AbortSignal; onChange: () => void },
): Promise<void> {
  const reasoningEnd = new AbortController();
  let reasoning: Promise<void> = Promise.resolve();
  const onHead = ({ status, headers: head }: { status: number; headers: Headers }): void => {
    turn.runId = head.get('x-run-id');
    turn.conversationId = head.get('x-conversation-id') ?? turn.conversationId;
    if (status === 200) {
      turn.state = 'streaming';
      reasoning = readReasoning(client, turn, AbortSignal.any([signal, reasoningEnd.signal]), onChange);
    }
    onChange();
    if (turn.runId !== null && turn.conversationId !== null) onAccepted(turn.conversationId);
  };
  try {
    const { parts } = await client.stream(runAgent, {
      parameters: { id: agentId },
      body: { message, ...(conversationId !== null && { conversationId }) },
      kind: 'event-stream',
      signal,
      wire: { onHead },
    });
    for await (const chunk of parts) {
      takeChunk(turn, chunk);
      onChange();
    }
    // Some ways to the host end a stopped answer as if it were whole; only a whole one has a reason for its end.
    turn.state = signal.aborted && turn.finishReason === null ? 'stopped' : 'completed';
  } catch (cause) {
    turn.state = signal.aborted ? 'stopped' : 'failed';
    if (!signal.aborted) turn.error = asAppError(cause);
  } finally {
    reasoningEnd.abort();
    await reasoning;
  }
}

const stopSwitches = new Map<string, AbortController>();

export const useAgentTurns = create<AgentTurnsState>()((set, get) => ({
  turns: {},
  send: async (client, sent) => {
    const { agentId, conversationId, message } = sent;
    get().stop(agentId);
    const controller = new AbortController();
    stopSwitches.set(agentId, controller);
    const turn: LiveTurn = {
      key: crypto.randomUUID(),
      agentId,
      conversationId,
      runId: null,
      message,
      text: '',
      reasoning: '',
      isReasoningLive: false,
      citations: [],
      state: 'connecting',
      finishReason: null,
      tokens: null,
      sentAt: Date.now(),
      totalMs: null,
      error: null,
    };
    const show = (shown: LiveTurn): void => {
      const isNewest = stopSwitches.get(agentId) === controller;
      if (isNewest) set(({ turns }) => ({ turns: { ...turns, [agentId]: shown } }));
    };
    const frames = oncePerFrame(show);
    show({ ...turn });
    const end = beginStreamingRun();
    try {
      const { signal } = controller;
      await follow(client, turn, sent, { signal, onChange: () => frames.push({ ...turn }) });
      turn.totalMs = Date.now() - turn.sentAt;
      frames.flush({ ...turn });
      return turn;
    } finally {
      end();
    }
  },
  stop: (agentId) => stopSwitches.get(agentId)?.abort(),
  dismiss: (agentId) => {
    get().stop(agentId);
    stopSwitches.delete(agentId);
    set(({ turns }) => {
      const { [agentId]: _gone, ...others } = turns;
      return { turns: others };
    });
  },
}));
