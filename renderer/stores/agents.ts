import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { runAgent } from '../../shared/contract/agents.ts';
import type { Client } from '../host/client.ts';
import { type AgentTurn, type ContinuedTurn, startRun } from './live-runs.ts';
import { shareBetweenWindows } from './share-between-windows.ts';

interface AgentDrafts {
  /** Messages that were written but not sent, by `draftKey`. */
  messages: Readonly<Record<string, string>>;
  write: (key: string, message: string) => void;
}

/** Where a message would go: to a conversation of an agent, or to a new one. */
export function draftKey(agentId: string, conversationId: string | null): string {
  return `${agentId}/${conversationId ?? 'new'}`;
}

/** Written at once, so that it survives a crash as well as a restart. */
export const useAgentDrafts = create<AgentDrafts>()(
  persist(
    (set) => ({
      messages: {},
      write: (key, message) =>
        set(({ messages }) => {
          const { [key]: _before, ...others } = messages;
          return { messages: message === '' ? others : { ...others, [key]: message } };
        }),
    }),
    { name: 'agent-drafts', version: 1 },
  ),
);
shareBetweenWindows(useAgentDrafts);

/** The slot of an agent's newest turn. */
export function agentSlot(agentId: string): `agent/${string}` {
  return `agent/${agentId}`;
}

export interface AgentMessage {
  agentId: string;
  /** Null starts a new conversation. */
  conversationId: string | null;
  message: string;
  /** The results of the calls of that run, which are sent instead of the message. */
  continued?: ContinuedTurn | null;
  /** Called once, when the host has named the run and its conversation. */
  onAccepted: (conversationId: string) => void;
}

/** Sends a message and stops the agent's active turn first. Resolves at the end of the turn: completed, stopped or failed. */
export function sendToAgent(
  client: Client,
  { agentId, conversationId, message, continued = null, onAccepted }: AgentMessage,
): Promise<AgentTurn> {
  const sent = continued ? { continueRunId: continued.runId, toolResults: [...continued.results] } : { message };
  return startRun(client, agentSlot(agentId), {
    details: { message, continued, conversationId },
    source: {
      isStreamed: true,
      hasReasoning: true,
      open: (host, options) =>
        host.stream(runAgent, {
          parameters: { id: agentId },
          body: { ...sent, ...(conversationId !== null && { conversationId }) },
          kind: 'event-stream',
          ...options,
        }),
    },
    onAccepted: (run) => {
      if (run.conversationId !== null) onAccepted(run.conversationId);
    },
  });
}
