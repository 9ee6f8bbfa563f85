import { createHash, hash } from 'node:crypto';
import { type Message, textMessage } from '../../shared/contract/messages.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import type { ModelToolCall } from '../providers/provider.ts';
import type { RunTextRow } from './schema.ts';

/** The stored messages of a run, with what providers need to get back. */
export function messagesIn({
  messages_json: json,
  rendered_prompt,
}: Pick<RunTextRow, 'messages_json' | 'rendered_prompt'>): Message[] {
  return json === null ? [textMessage('user', rendered_prompt)] : (JSON.parse(json) as Message[]);
}

/** A key for each message of a conversation: of it and of all before it, as they are stored. */
export function messageKeys(messages: readonly Message[]): string[] {
  const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
  // Half the time, for most calls.
  if (lines.length === 1) return [hash('sha256', lines[0]!, 'base64url')];
  const all = createHash('sha256');
  return lines.map((line) => all.update(line).copy().digest('base64url'));
}

/** A call without its provider's stored data, such as reasoning, which most callers may not see. */
export function publicToolCall<Call extends ToolCall>(call: Call): Omit<Call, 'providerState'> {
  const { providerState: _, ...shown } = call as Call & Pick<ModelToolCall, 'providerState'>;
  return shown;
}

/** Messages without the data that is stored for providers. */
export function publicMessages(messages: readonly Message[]): Message[] {
  return messages.map((message) =>
    message.content.some(({ type }) => type === 'toolCall')
      ? { ...message, content: message.content.map((part) => (part.type === 'toolCall' ? publicToolCall(part) : part)) }
      : message,
  );
}

export function toolCallsIn(json: string): ModelToolCall[] {
  return JSON.parse(json) as ModelToolCall[];
}

/** The messages of a turn from the first that calls tools: the calls and their results, in order; empty for most turns. */
export function stepsIn(messages: readonly Message[]): Message[] {
  const first = messages.findIndex(({ content }) => content.some(({ type }) => type === 'toolCall'));
  return first === -1 ? [] : messages.slice(first);
}
