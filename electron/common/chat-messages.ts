import { type Message, textMessage, textOfMessage } from '../../shared/contract/messages.ts';
import type { RunDetail } from '../../shared/contract/runs.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';

/** Messages in the format of OpenAI's chat completions, which trainers read. */

const calledTool = ({ id, name, arguments: given }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});

export function assistantMessage(content: string, calls: readonly ToolCall[]): object {
  if (calls.length === 0) return { role: 'assistant', content };
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls.map(calledTool) };
}

/** Each result of a tool is a message. */
function chatMessages(message: Message): object[] {
  const { role, content } = message;
  if (role === 'tool')
    return content.flatMap((part) =>
      part.type === 'toolResult' ? [{ role, tool_call_id: part.toolCallId, content: part.content }] : [],
    );
  if (role !== 'assistant') return [{ role, content: textOfMessage(message) }];
  return [assistantMessage(textOfMessage(message), content.filter(({ type }) => type === 'toolCall') as ToolCall[])];
}

/** A system message and the messages after it; null if one has a file, which is no text. */
export function sentChatMessages(
  systemMessage: RunDetail['input']['systemMessage'],
  messages: readonly Message[],
): object[] | null {
  if (messages.some(({ content }) => content.some(({ type }) => type === 'file'))) return null;
  const system = systemMessage ? [textMessage('system', systemMessage)] : [];
  return [...system, ...messages].flatMap(chatMessages);
}
