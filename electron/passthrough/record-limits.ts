import { type Message, type MessagePart, textMessage } from '../../shared/contract/messages.ts';
import type { ToolCall } from '../../shared/contract/tools.ts';
import { startOfText } from '../common/start-of-text.ts';
import type { Fields } from './fields.ts';

/**
 * What one call may put on record: more than programs send. Without limits, one body of a few megabytes with a million small values
 * would stop the host for seconds when it is copied from its thread and written.
 */
interface RecordLimits {
  /** Of all messages, and calls of tools. */
  readonly parts: number;
  readonly characters: number;
  /** A conversation is cut at a multiple of this many messages, so that most of its calls still share their messages. */
  readonly cutMessages: number;
}

const recordLimits: RecordLimits = { parts: 8192, characters: 8 * 1_048_576, cutMessages: 512 };
const maxValues = 50_000;

function textIn(part: MessagePart): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'toolResult') return part.content;
  return part.type === 'toolCall' ? part.arguments : '';
}

/** The start of a text, with the number of characters that are missing. */
export function limitText(text: string, characters = recordLimits.characters): string {
  if (text.length <= characters) return text;
  const start = startOfText(text, characters);
  return `${start} [${text.length - start.length} more characters are not recorded]`;
}

function limitPart(part: MessagePart, { characters }: RecordLimits): MessagePart {
  if (part.type === 'text') return { ...part, text: limitText(part.text, characters) };
  if (part.type === 'toolResult') return { ...part, content: limitText(part.content, characters) };
  return part.type === 'toolCall' ? { ...part, arguments: limitText(part.arguments, characters) } : part;
}

function limitMessage({ role, content }: Message, limits: RecordLimits): Message {
  const parts = content.slice(0, limits.parts).map((part) => limitPart(part, limits));
  const missing = content.length - parts.length;
  if (missing === 0) return { role, content: parts };
  return { role, content: [...parts, { type: 'text', text: `[${missing} more parts are not recorded]` }] };
}

/** The newest messages of a request. `firstNew` is where those begin that the request adds. */
export function limitMessages(
  messages: readonly Message[],
  firstNew: number,
  limits = recordLimits,
): { readonly messages: readonly Message[]; readonly firstNew: number } {
  let parts = 0;
  let characters = 0;
  let start = messages.length;
  for (; start > 0; start -= 1) {
    const { content } = messages[start - 1]!;
    parts += content.length + 1;
    for (const part of content) characters += textIn(part).length;
    if (parts > limits.parts || characters > limits.characters) break;
  }
  if (start === 0) return { messages, firstNew };
  const cut = Math.min(Math.ceil(start / limits.cutMessages) * limits.cutMessages, messages.length - 1);
  const mark = cut === 0 ? [] : [textMessage('user', `[${cut} earlier messages are not recorded]`)];
  const recorded = [...mark, ...messages.slice(cut).map((message) => limitMessage(message, limits))];
  return { messages: recorded, firstNew: Math.max(0, firstNew - cut) + mark.length };
}

/** The number of values in a JSON value, itself included; any number over `max` if there are more. */
function countValues(root: unknown, max: number): number {
  const open = [root];
  let count = 0;
  while (open.length > 0 && count + open.length <= max) {
    const value = open.pop();
    count += 1;
    if (typeof value !== 'object' || value === null) continue;
    for (const child of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) open.push(child);
  }
  return count + open.length;
}

/** The fields of a JSON object as far as they have room; large ones are left out. The same object if all have. */
export function limitFields(fields: Fields, max = maxValues): Record<string, unknown> {
  const recorded: [string, unknown][] = [];
  let left = max;
  let omitted = 0;
  for (const [name, value] of Object.entries(fields)) {
    const count = countValues(value, left);
    if (count > left) omitted += 1;
    else {
      left -= count;
      recorded.push([name, value]);
    }
  }
  if (omitted === 0) return fields;
  recorded.push(['not_recorded', `${omitted} fields with too many values`]);
  return Object.fromEntries(recorded);
}

/** The first calls of tools. */
export function limitCalls<Call extends ToolCall>(calls: readonly Call[], limits = recordLimits): Call[] {
  const first = calls.slice(0, limits.parts);
  return first.map((call) => ({ ...call, arguments: limitText(call.arguments, limits.characters) }));
}

interface Answer {
  readonly content: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly ToolCall[];
}

/** What a model answered, with the first calls of tools. */
export function limitAnswer<Response extends Answer>(answer: Response): Response {
  const { content, reasoning, toolCalls } = answer;
  return {
    ...answer,
    content: limitText(content),
    reasoning: reasoning === null ? null : limitText(reasoning),
    toolCalls: limitCalls(toolCalls),
  };
}
