/** What an address of the agents asks for. */
export type AgentsAddress =
  | { view: 'none' }
  | { view: 'new' }
  /** `conversationId` null is a new conversation. */
  | { view: 'agent'; agentId: string; conversationId: string | null; isEditing: boolean };

export const newAgentAddress = '/agents/new';

/** The form of an agent beside one of its conversations; null is a new one. */
export function editAgentAddress(agentId: string, conversationId: string | null): string {
  return ['/agents', agentId, conversationId, 'edit'].filter((part) => part !== null).join('/');
}

/** Reads `/agents/new`, `/agents/<agent>` and `/agents/<agent>/<conversation>`, the last two also with `/edit` at the end. */
export function readAgentsAddress(location: string): AgentsAddress {
  const [, , agentId, ...rest] = location.split('/');
  if (!agentId) return { view: 'none' };
  if (agentId === 'new') return { view: 'new' };
  const isEditing = rest.at(-1) === 'edit';
  const conversationId = (isEditing ? rest.slice(0, -1) : rest)[0];
  return { view: 'agent', agentId, conversationId: conversationId || null, isEditing };
}
