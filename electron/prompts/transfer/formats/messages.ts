import { isMap, listIn, textIn } from '../bounded-values.ts';
import { note, roleOf, type Draft } from '../draft.ts';

/** Text of a message, also where it comes in parts; null when a part is no text. */
function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const parts = content.map((part: unknown) =>
    isMap(part) ? textIn(part, 'text') : typeof part === 'string' ? part : null,
  );
  return parts.includes(null) ? null : parts.join('');
}

/** Takes messages as OpenAI, Anthropic, promptfoo and Langfuse write them. What is no text refuses the prompt. */
export function takeMessages(draft: Draft, messages: readonly unknown[], line: number | null): void {
  for (const message of messages) {
    if (typeof message === 'string') draft.messages.push({ role: 'user', text: message, line });
    else if (!isMap(message)) draft.refusal ??= { message: "A message isn't an object", line };
    else if (textIn(message, 'type') === 'placeholder') {
      note(
        draft,
        'refused',
        'messages',
        `Placeholder ${textIn(message, 'name') ?? ''} for earlier messages is skipped`,
        line,
      );
    } else {
      const text = contentText(message.get('content'));
      const hasTools = (listIn(message, 'tool_calls') ?? []).length > 0;
      if (text === null || hasTools) {
        draft.refusal ??= { message: 'A message contains an image, a file or a tool call', line };
      } else draft.messages.push({ role: roleOf(message.get('role')), text, line });
    }
  }
}
