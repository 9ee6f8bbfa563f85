import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type Agent,
  type AgentChange,
  type AgentInput,
  type AgentThread,
  branchConversation,
  createAgent,
  deleteAgent,
  listAgents,
  readAgentThread,
  updateAgent,
} from '../../shared/contract/agents.ts';
import { searchAudit } from '../../shared/contract/audit.ts';

import type { Client } from '../host/client.ts';
import { useHost } from '../host/host-context.tsx';

const agentsKey = ['agents'] as const;
const maxConversations = 200;

async function readAll(client: Client, signal: AbortSignal): Promise<Agent[]> {
  const agents: Agent[] = [];
  let continuationToken: string | null = null;
  do {
    const query: { pageSize: number; continuationToken?: string } = { pageSize: 100 };
    if (continuationToken !== null) query.continuationToken = continuationToken;
    const page: { data: Agent[]; continuationToken: string | null } = await client.call(listAgents, { signal, query });
    agents.push(...page.data);
    continuationToken = page.continuationToken;
  } while (continuationToken !== null);
  return agents;
}

/** Every agent, newest first. */
export function useAgents({ isEnabled = true } = {}) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...agentsKey, 'list'],
    enabled: isEnabled,
    queryFn: ({ signal }) => readAll(client, signal),
  });
}

function useRenewAgents() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: agentsKey });
}

/** The caller shows the error. */
export function useCreateAgent() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: (body: AgentInput) => client.call(createAgent, { body }),
    onSettled: useRenewAgents(),
  });
}

/** The caller shows the error. */
export function useUpdateAgent() {
  const { client } = useHost();
  return useMutation({
    meta: { isFailureShown: true },
    mutationFn: ({ id, ...body }: AgentChange & { id: string }) =>
      client.call(updateAgent, { parameters: { id }, body }),
    onSettled: useRenewAgents(),
  });
}

/** Restores an agent after a change. A failure becomes a toast, because the form is already closed. */
export function useRestoreAgent() {
  const { client } = useHost();
  return useMutation({
    mutationFn: ({ id, ...body }: AgentChange & { id: string }) =>
      client.call(updateAgent, { parameters: { id }, body }),
    onSettled: useRenewAgents(),
  });
}

/** Deletes an agent at once; `deleteWithUndo` waits until Undo is over. */
export function useRemoveAgent(): (agentId: string) => Promise<unknown> {
  const { client } = useHost();
  const renew = useRenewAgents();
  return async (id) => {
    await client.call(deleteAgent, { parameters: { id } });
    await renew();
  };
}

/** The conversations with an agent, from this window and from API clients, newest first. */
export function useAgentConversations(agentId: string) {
  const { client } = useHost();
  return useQuery({
    queryKey: [...agentsKey, 'conversations', agentId],
    queryFn: async ({ signal }) => {
      const body = { filter: { agentId }, limit: maxConversations };
      const { rows } = await client.call(searchAudit, { signal, body });
      return rows;
    },
  });
}

/** How often a conversation is refetched while one of its turns runs elsewhere, in milliseconds. */
const runningInterval = 1_000;

const turnsKey = (conversationId: string | null) => [...agentsKey, 'turns', conversationId] as const;

/** A conversation with its turns, oldest first, those before it branched included. */
export function useTurns(conversationId: string | null) {
  const { client } = useHost();
  return useQuery({
    queryKey: turnsKey(conversationId),
    enabled: conversationId !== null,
    queryFn: ({ signal }) => client.call(readAgentThread, { signal, parameters: { id: conversationId ?? '' } }),
    refetchInterval: ({ state }) =>
      state.data?.runs.some(({ status }) => status === 'Running') ? runningInterval : false,
  });
}

/** Refetches the data that a turn changes. */
export function useRenewTurns(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: [...agentsKey, 'turns'] }),
      queryClient.invalidateQueries({ queryKey: [...agentsKey, 'conversations'] }),
    ]);
  };
}

export interface BranchPoint {
  conversationId: string;
  runId: string;
}

/** Creates a branch that continues from before a run, and returns its id. Earlier turns are shown immediately. */
export function useBranchConversation(): (index: BranchPoint) => Promise<string> {
  const { client } = useHost();
  const queryClient = useQueryClient();
  return async ({ conversationId, runId }) => {
    const branch = await client.call(branchConversation, { parameters: { id: conversationId }, body: { runId } });
    const thread = queryClient.getQueryData<AgentThread>(turnsKey(conversationId));
    const index = thread?.runs.findIndex(({ conversationRunId }) => conversationRunId === runId) ?? -1;
    if (thread && index >= 0) {
      const before = { id: branch.conversationId, isOwn: true, runs: thread.runs.slice(0, index) };
      queryClient.setQueryData<AgentThread>(turnsKey(branch.conversationId), before);
    }
    return branch.conversationId;
  };
}
