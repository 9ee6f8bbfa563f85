import { z } from 'zod';

/** The messages of a conversation with a model. */

export const messageRole = z.enum(['system', 'user', 'assistant', 'tool']).meta({ id: 'MessageRole' });
export type MessageRole = z.infer<typeof messageRole>;

const textPart = z.object({ type: z.literal('text'), text: z.string() });

const filePart = z.object({
  type: z.literal('file'),
  fileId: z.string(),
  mediaType: z.string(),
  name: z.string(),
  bytes: z.int(),
});
export type FilePart = z.infer<typeof filePart>;

const toolCallPart = z.object({
  type: z.literal('toolCall'),
  id: z.string(),
  name: z.string(),
  arguments: z.string().describe('JSON text'),
});
export type ToolCallPart = z.infer<typeof toolCallPart>;

const toolResultPart = z.object({
  type: z.literal('toolResult'),
  toolCallId: z.string(),
  content: z.string(),
  isError: z.boolean(),
});

export const messagePart = z
  .discriminatedUnion('type', [textPart, filePart, toolCallPart, toolResultPart])
  .meta({ id: 'MessagePart' });
export type MessagePart = z.infer<typeof messagePart>;

const messageContent: z.ZodType<readonly MessagePart[]> = z.array(messagePart);
export const message = z.object({ role: messageRole, content: messageContent }).meta({ id: 'Message' });
export type Message = Readonly<z.infer<typeof message>>;

export function textMessage(role: MessageRole, text: string): Message {
  return { role, content: [{ type: 'text', text }] };
}

/** The text of a message: its text parts, or the contents of its tool results, separated by an empty line. */
export function textOfMessage({ role, content }: Message): string {
  const [only] = content;
  if (content.length === 1 && only?.type === 'text') return only.text;
  return content
    .map((part) => (part.type === 'text' ? part.text : part.type === 'toolResult' ? part.content : ''))
    .join(role === 'tool' ? '\n\n' : '');
}

/** The texts of messages in order, separated by an empty line; the text of a single message. */
export function textOfMessages(messages: readonly Message[]): string {
  const texts = messages.map(textOfMessage);
  // A message with only tool calls has no text.
  return (texts.length === 1 ? texts : texts.filter((text) => text !== '')).join('\n\n');
}

/** The names and arguments of the tools that a message calls; empty for most messages. */
export function textOfToolCalls({ content }: Message): string {
  return content.flatMap((part) => (part.type === 'toolCall' ? [`${part.name} ${part.arguments}`] : [])).join('\n');
}
