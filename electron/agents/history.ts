import { assumedContextTokens, estimateTokens } from '../common/estimate-tokens.ts';
import { type Message, textMessage, textOfMessage, textOfToolCalls } from '../../shared/contract/messages.ts';
import type { Turn } from '../storage/agents/turn-store.ts';
import { publicMessages } from '../storage/stored-messages.ts';

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
  /** The texts that are about to be sent. */
  readonly message: string;
  /** Whether passages of dataspaces are sent as well. They get half of the context. */
  readonly isGrounded?: boolean;
  /** The model as the `servedBy` of a run, if it has tools: only then it gets the calls and results of earlier turns. */
  readonly toolModel?: string | undefined;
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce(
    (sum, message) =>
      sum + estimateTokens(textOfMessage(message)) + estimateTokens(textOfToolCalls(message)) + tokensPerMessage,
    0,
  );
}

/** What is stored for a provider, such as signed reasoning, only goes back to the model that made it. */
function stepsFor(turn: Turn, servedBy: string): readonly Message[] {
  const steps = turn.steps?.() ?? [];
  return turn.servedBy === servedBy ? steps : publicMessages(steps);
}

/**
 * The newest turns without a gap that fit the model's context beside the new message and room for the answer, as messages, oldest
 * first. If the calls and results of a turn don't fit, that turn and earlier ones are sent without calls and results. `newestFirst` is
 * read only as far as the turns fit.
 */
export function fitHistory(newestFirst: Iterable<Turn>, limits: HistoryLimits): { messages: Message[]; turns: number } {
  const context = limits.contextTokens ?? assumedContextTokens;
  const fixed = estimateTokens(limits.systemMessage ?? '') + estimateTokens(limits.message) + 2 * tokensPerMessage;
  let room = (context * (1 - answerShare) - fixed) * (limits.isGrounded ? 0.5 : 1);
  let { toolModel } = limits;
  const turns: Message[][] = [];
  for (const turn of newestFirst) {
    room -= estimateTokens(turn.question) + estimateTokens(turn.answer) + 2 * tokensPerMessage;
    if (room < 0 || turns.length === maxTurns) break;
    let steps = toolModel ? stepsFor(turn, toolModel) : [];
    const stepTokens = tokensOf(steps);
    if (stepTokens > room) {
      toolModel = undefined;
      steps = [];
    } else room -= stepTokens;
    turns.push([textMessage('user', turn.question), ...steps, textMessage('assistant', turn.answer)]);
  }
  return { messages: turns.toReversed().flat(), turns: turns.length };
}
