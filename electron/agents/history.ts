import { assumedContextTokens, estimateTokens } from '../common/estimate-tokens.ts';
import { type Message, textMessage } from '../../shared/contract/messages.ts';
import type { Turn } from '../storage/agents/turn-store.ts';

/** The part of the context that is reserved for the answer if the caller set no limit, and the minimum. */
const answerShare = 0.25;

/** Tokens that a chat template adds around each message. */
const tokensPerMessage = 8;

/** More turns help no model and would be sent, and paid for, each time. */
const maxTurns = 200;

export interface HistoryLimits {
  /** Null if unknown. */
  readonly contextTokens: number | null;
  readonly systemMessage: string | null;
  /** The message that is about to be sent. */
  readonly message: string;
  /** Whether passages of dataspaces are sent as well. They get half of the context. */
  readonly isGrounded?: boolean;
}

/**
 * The newest turns without a gap that fit the model's context beside the new message and room for the answer, as messages, oldest
 * first. `newestFirst` is read only as far as they fit.
 */
export function fitHistory(newestFirst: Iterable<Turn>, limits: HistoryLimits): { messages: Message[]; turns: number } {
  const context = limits.contextTokens ?? assumedContextTokens;
  const fixed = estimateTokens(limits.systemMessage ?? '') + estimateTokens(limits.message) + 2 * tokensPerMessage;
  let room = (context * (1 - answerShare) - fixed) * (limits.isGrounded ? 0.5 : 1);
  const turns: Turn[] = [];
  for (const turn of newestFirst) {
    room -= estimateTokens(turn.question) + estimateTokens(turn.answer) + 2 * tokensPerMessage;
    if (room < 0 || turns.length === maxTurns) break;
    turns.push(turn);
  }
  const messages = turns
    .toReversed()
    .flatMap(({ question, answer }): Message[] => [textMessage('user', question), textMessage('assistant', answer)]);
  return { messages, turns: turns.length };
}
