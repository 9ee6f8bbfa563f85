import type { ModelRequest } from '../providers/provider.ts';
import type { Turn } from '../storage/agents/turn-store.ts';

type Message = ModelRequest['messages'][number];

/** Taken for models whose context nobody told us, such as those of many local servers. */
const assumedContextTokens = 4096;

/** The part of the context that is left for the answer when the caller set no limit, and at least. */
const answerShare = 0.25;

/** What a chat template puts around each message. */
const tokensPerMessage = 8;

/** More turns help no model and would be sent, and paid for, each time. */
const mostTurns = 200;

/** What a character adds at most in ordinary text, with the tokenizers that cut finest (those of Llama 2, for one). */
function tokensOf(code: number): number {
  if ((code >= 97 && code <= 122) || code === 32) return 1 / 3;
  if (code >= 65 && code <= 90) return 1 / 2;
  if (code < 0x0900) return 1;
  const isHalfOfPair = code >= 0xd800 && code <= 0xdfff;
  return isHalfOfPair ? 2 : 1.75;
}

/**
 * A high estimate of a text's tokens, whatever the tokenizer: too high only means that a turn less is remembered, too low
 * would fail the run.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += tokensOf(text.charCodeAt(index));
  return Math.ceil(tokens);
}

export interface MemoryLimits {
  /** Null when it is not known. */
  readonly contextTokens: number | null;
  readonly systemMessage: string | null;
  /** The message that is about to be sent. */
  readonly message: string;
  /** Whether passages of dataspaces are sent as well: they get half of the room. */
  readonly isGrounded?: boolean;
}

/**
 * The turns that fit the model's context beside the new message and room for the answer: the newest ones without a gap, as
 * messages, oldest first. `newestFirst` is read only as far as they fit.
 */
export function recall(newestFirst: Iterable<Turn>, limits: MemoryLimits): { messages: Message[]; turns: number } {
  const context = limits.contextTokens ?? assumedContextTokens;
  const fixed = estimateTokens(limits.systemMessage ?? '') + estimateTokens(limits.message) + 2 * tokensPerMessage;
  let room = (context * (1 - answerShare) - fixed) * (limits.isGrounded ? 0.5 : 1);
  const turns: Turn[] = [];
  for (const turn of newestFirst) {
    room -= estimateTokens(turn.question) + estimateTokens(turn.answer) + 2 * tokensPerMessage;
    if (room < 0 || turns.length === mostTurns) break;
    turns.push(turn);
  }
  const messages = turns.toReversed().flatMap(({ question, answer }): Message[] => [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ]);
  return { messages, turns: turns.length };
}
