/** What an address of the agents asks for. */
export type AgentsAddress =
  | { view: 'none' }
  | { view: 'new' }
  | { view: 'edit'; agentId: string }
  /** `conversationId` null is a new conversation. */
  | { view: 'talk'; agentId: string; conversationId: string | null };

export const newAgentAddress = '/agents/new';

export function editAgentAddress(agentId: string): string {
  return `/agents/${agentId}/edit`;
}

/** Reads `/agents/new`, `/agents/<agent>`, `.../edit` and `.../<conversation>`. */
export function readAgentsAddress(location: string): AgentsAddress {
  const [, , agentId, second] = location.split('/');
  if (!agentId) return { view: 'none' };
  if (agentId === 'new') return { view: 'new' };
  if (second === 'edit') return { view: 'edit', agentId };
  return { view: 'talk', agentId, conversationId: second || null };
}
