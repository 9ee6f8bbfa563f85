import type { FinishReason, Usage } from '../../shared/contract/completions.ts';
import type { RunAnswer, RunPart } from '../completions/run.ts';
import { type Fields, isObject } from '../passthrough/fields.ts';
import type { AnswerFailure, AnswerFormat, AnswerHead } from './answer-format.ts';

/** Answers in the format of OpenAI's chat completions. */

interface ChatHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

function headOf({ runId, created, model }: AnswerHead): ChatHead {
  return { id: `chatcmpl-${runId}`, created, model };
}

const reasons: Record<FinishReason, string> = {
  Stop: 'stop',
  Length: 'length',
  ContentFilter: 'content_filter',
  ToolCalls: 'tool_calls',
};

function usageOf(usage: Usage | null): object | null {
  if (usage === null) return null;
  const { details, ...totals } = usage;
  if (!details) return totals;
  return {
    ...totals,
    prompt_tokens_details: { cached_tokens: details.cached_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: details.reasoning_tokens ?? 0 },
  };
}

function wholeAnswer(head: ChatHead, { content, finishReason, usage, toolCalls }: RunAnswer): object {
  const calls = (toolCalls ?? []).map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const text = content === '' && calls.length > 0 ? null : content;
  const message = { role: 'assistant', content: text, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
  const choice = { index: 0, message, logprobs: null, finish_reason: reasons[finishReason] };
  return { ...head, object: 'chat.completion', choices: [choice], usage: usageOf(usage) };
}

function chunkOf(head: ChatHead, delta: object, finishReason: FinishReason | null = null): string {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason && reasons[finishReason] };
  return eventOf({ ...head, object: 'chat.completion.chunk', choices: [choice] });
}

function eventOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function deltasOf(part: RunPart): object[] {
  if (part.type === 'text') return (part.pieces ?? [part.text]).map((content) => ({ content }));
  if (part.type !== 'toolCall') return [];
  const { index, id, name, arguments: given } = part.chunk;
  const called = { ...(name !== undefined && { name }), arguments: given };
  return [{ tool_calls: [{ index, ...(id !== undefined && { id, type: 'function' }), function: called }] }];
}

function includesUsage(body: Fields): boolean {
  const options = body['stream_options'];
  return isObject(options) && options['include_usage'] === true;
}

/** The events of one part. */
function eventsOf(head: ChatHead, part: RunPart, hasUsage: boolean): string {
  const text = deltasOf(part).map((delta) => chunkOf(head, delta));
  if (part.type === 'end') {
    text.push(chunkOf(head, {}, part.finishReason));
    const usage = { ...head, object: 'chat.completion.chunk', choices: [], usage: usageOf(part.usage) };
    if (hasUsage) text.push(eventOf(usage));
    text.push('data: [DONE]\n\n');
  }
  return text.join('');
}

export const chatAnswer: AnswerFormat = {
  whole: (head, answer) => wholeAnswer(headOf(head), answer),
  stream(answerHead, body) {
    const head = headOf(answerHead);
    const hasUsage = includesUsage(body);
    return {
      start: () => chunkOf(head, { role: 'assistant', content: '' }),
      part: (part) => eventsOf(head, part, hasUsage),
      failure: ({ message, code }: AnswerFailure) =>
        eventOf({ error: { message, type: 'server_error', param: null, code } }),
    };
  },
};
