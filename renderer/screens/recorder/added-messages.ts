import type { ConversationRun } from '../../../shared/contract/conversations.ts';
import type { Message } from '../../../shared/contract/messages.ts';

/** What a turn added to its conversation. */
export interface AddedMessages {
  /** Messages of the turn before, with its answer, that this turn sent again. */
  readonly repeated: readonly Message[];
  readonly added: readonly Message[];
  /** Messages of the turn before that this turn left out or changed. */
  readonly dropped: number;
}

/** The answer of a run as the next turn sends it. */
function answerOf({ output }: ConversationRun): Message[] {
  const calls = (output.toolCalls ?? []).map((call) => ({ type: 'toolCall' as const, ...call }));
  const text = output.content === '' ? [] : [{ type: 'text' as const, text: output.content }];
  return text.length + calls.length === 0 ? [] : [{ role: 'assistant', content: [...text, ...calls] }];
}

/** Providers and programs trim texts and format arguments anew. */
function keyOf({ role, content }: Message): string {
  return JSON.stringify([
    role,
    content.map((part) => {
      if (part.type === 'text') return part.text.trim();
      if (part.type === 'toolCall') return [part.id, part.name];
      return part.type === 'toolResult' ? [part.toolCallId, part.content] : [part.fileId];
    }),
  ]);
}

/** Compares the messages of a turn with those of the one before. In the first turn, all are new. */
export function addedMessages(run: ConversationRun, before: ConversationRun | undefined): AddedMessages {
  const { messages, configuration } = run.input;
  if (before === undefined) return { repeated: [], added: messages, dropped: 0 };
  const known = before.input.messages.map(keyOf);
  let shared = 0;
  while (shared < known.length && shared < messages.length && keyOf(messages[shared]!) === known[shared]) shared += 1;
  // The provider has the messages before, so that the program sends only new ones.
  const isContinued = typeof configuration?.['previous_response_id'] === 'string';
  const dropped = isContinued ? 0 : known.length - shared;
  const [answer] = answerOf(before);
  const next = messages[shared];
  const isAnswer = dropped === 0 && answer !== undefined && next?.role === 'assistant' && keyOf(next) === keyOf(answer);
  const end = isAnswer ? shared + 1 : shared;
  return { repeated: messages.slice(0, end), added: messages.slice(end), dropped };
}
