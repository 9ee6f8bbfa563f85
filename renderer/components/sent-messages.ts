import {
  type FilePart,
  type Message,
  type MessageRole,
  textOfMessage,
  textOfToolCalls,
} from '../../shared/contract/messages.ts';

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
  /** The files among the text; absent without any. */
  files?: readonly { offset: number; file: FilePart }[];
}

/** The files of a message, each with the offset in its text where it is. */
export function filesIn({ content }: Message): { offset: number; file: FilePart }[] {
  let offset = 0;
  const files: { offset: number; file: FilePart }[] = [];
  for (const part of content) {
    if (part.type === 'file') files.push({ offset, file: part });
    if (part.type === 'text') offset += part.text.length;
  }
  return files;
}

/** The text of a message with the tools that it calls. */
function sentText(message: Message): string {
  const calls = textOfToolCalls(message);
  const text = textOfMessage(message);
  return text !== '' && calls !== '' ? `${text}\n${calls}` : text + calls;
}

function sentMessage(message: Message): SentMessage {
  const files = filesIn(message);
  return { role: message.role, text: sentText(message), ...(files.length > 0 && { files }) };
}

/** The messages of a prompt in the order in which a run sends them: the system message first. */
export function sentMessages(systemMessage: string | null, messages: readonly Message[]): SentMessage[] {
  const system: SentMessage[] = systemMessage ? [{ role: 'system', text: systemMessage }] : [];
  return [...system, ...messages.map(sentMessage)];
}

/** Whether there is more than one message of the user, so that each needs its role. */
export function hasSeveralRoles(messages: readonly Pick<SentMessage, 'role'>[]): boolean {
  return messages.length > 1 || messages[0]?.role !== 'user';
}
