import { create } from 'zustand';
import { persist } from 'zustand/middleware';
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
