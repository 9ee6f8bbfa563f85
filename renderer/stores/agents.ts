import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import { runAgent } from '../../shared/contract/agents.ts';
import type { Client } from '../host/client.ts';
import { type AgentTurn, type ContinuedTurn, startRun } from './live-runs.ts';
import type { DraftTool } from '../drafts/tool-drafts.ts';
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

/** Puts a message into a draft, before what was written there since. */
export function returnToDraft(key: string, message: string): void {
  const { messages, write } = useAgentDrafts.getState();
  write(key, [message, messages[key]].filter(Boolean).join('\n\n'));
}

/** What was written for a new conversation belongs to the one that it became. */
export function moveNewDraft(agentId: string, conversationId: string): void {
  const { messages, write } = useAgentDrafts.getState();
  const key = draftKey(agentId, null);
  returnToDraft(draftKey(agentId, conversationId), messages[key] ?? '');
  write(key, '');
}

interface AgentMocks {
  /** The functions that have a mock or come from the library, by the agent's id. The host has their definitions. */
  byAgent: Readonly<Record<string, readonly DraftTool[]>>;
}

/** Mocks are a person's, as in a draft: a program that calls the agent answers calls itself. */
export const useAgentMocks = create<AgentMocks>()(
  persist((): AgentMocks => ({ byAgent: {} }), { name: 'agent-mocks', version: 1 }),
);
shareBetweenWindows(useAgentMocks);

/** Characters of all mocks of an agent: they are written at once, and the window's storage is small. */
export const maxAgentMockCharacters = 500_000;

/** Keeps the mocks of an agent's tools. Returns whether there was room for them. */
export function keepAgentMocks(agentId: string, tools: readonly DraftTool[]): boolean {
  const mocked = tools
    .filter((tool) => tool.kind === 'function' && (tool.mock !== null || (tool.source ?? null) !== null))
    .map((tool) => ({ ...tool, description: '', parameters: '{}' }));
  const hasRoom = JSON.stringify(mocked).length <= maxAgentMockCharacters;
  useAgentMocks.setState(({ byAgent }) => {
    const { [agentId]: _before, ...others } = byAgent;
    return { byAgent: mocked.length > 0 && hasRoom ? { ...others, [agentId]: mocked } : others };
  });
  return hasRoom;
}

/** The slot of an agent's newest turn. */
export function agentSlot(agentId: string): `agent/${string}` {
  return `agent/${agentId}`;
}

/** The slot in the queue between two automatic steps, when nothing runs yet. */
export function agentStepsSlot(agentId: string): `agent/${string}` {
  return `agent/${agentId}/steps`;
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
