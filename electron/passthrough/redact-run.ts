import type { RedactionRule } from '../../shared/contract/audit-exports.ts';
import type { Message } from '../../shared/contract/messages.ts';
import type { RunOutcome } from '../storage/run-rows.ts';
import {
  type CallingProgram,
  redactedCall,
  redactedMessages,
  redactedProgram,
  redactedRequest,
  redactorOf,
} from './read-call.ts';

/** What a program sends to a model that Touchstone runs itself. */
export interface SentTexts {
  readonly promptText: string;
  readonly systemMessage: string | null;
  readonly messages: readonly Message[];
  readonly configuration: Record<string, unknown>;
  readonly program: CallingProgram;
}

export interface Redacted<Value> {
  readonly value: Value;
  /** How often each rule replaced something that is new. */
  readonly hidden: readonly number[];
}

/** As it is recorded. It can take seconds, so call it in a thread. */
export function redactSentTexts(texts: SentTexts & { readonly rules: readonly RedactionRule[] }): Redacted<SentTexts> {
  const { promptText, messages, systemMessage, configuration, program, rules } = texts;
  const redactor = redactorOf(rules);
  const firstNew = messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  const { hidden, ...request } = redactedRequest({ messages, systemMessage, configuration, firstNew }, redactor);
  return {
    value: { ...request, promptText: redactor.text(promptText), program: redactedProgram(program, redactor) },
    hidden,
  };
}

/** As it is recorded. It can take seconds, so call it in a thread. */
export function redactOutcome({
  outcome,
  rules,
}: {
  readonly outcome: RunOutcome;
  readonly rules: readonly RedactionRule[];
}): Redacted<RunOutcome> {
  const redactor = redactorOf(rules);
  const before = [...redactor.counts];
  const { content, reasoning, toolCalls, error, sentPrompt, sentMessages, citations, moderation } = outcome;
  const answer = {
    content: redactor.text(content),
    reasoning: reasoning === null ? null : redactor.text(reasoning),
    error: error && { ...error, message: redactor.text(error.message) },
    ...(toolCalls && {
      toolCalls: toolCalls.map((call) => redactedCall(call, redactor)),
    }),
  };
  const hidden = redactor.counts.map((count, rule) => count - before[rule]!);
  const value = {
    ...outcome,
    ...answer,
    citations: redactor.value(citations) as RunOutcome['citations'],
    ...(sentPrompt !== undefined && { sentPrompt: redactor.text(sentPrompt) }),
    ...(sentMessages && { sentMessages: redactedMessages(sentMessages, redactor) }),
    ...(moderation && { moderation: redactor.value(moderation) as NonNullable<RunOutcome['moderation']> }),
  };
  return { value, hidden };
}
