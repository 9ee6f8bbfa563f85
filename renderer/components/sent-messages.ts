import { type Message, type MessageRole, textOfMessage, textOfToolCalls } from '../../shared/contract/messages.ts';

export const roleTitles: Readonly<Record<MessageRole, string>> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

/** A message that a run sends to the model. */
export interface SentMessage {
  role: MessageRole;
  text: string;
}

/** The text of a message with the tools that it calls. */
function sentText(message: Message): string {
  const calls = textOfToolCalls(message);
  const text = textOfMessage(message);
  return text !== '' && calls !== '' ? `${text}\n${calls}` : text + calls;
}

/** The messages of a prompt in the order in which a run sends them: the system message first. */
export function sentMessages(systemMessage: string | null, messages: readonly Message[]): SentMessage[] {
  const system: SentMessage[] = systemMessage ? [{ role: 'system', text: systemMessage }] : [];
  return [...system, ...messages.map((message) => ({ role: message.role, text: sentText(message) }))];
}

/** Whether there is more than one message of the user, so that each needs its role. */
export function hasSeveralRoles(messages: readonly Pick<SentMessage, 'role'>[]): boolean {
  return messages.length > 1 || messages[0]?.role !== 'user';
}
