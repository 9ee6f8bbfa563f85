import type { FinishReason, Usage } from '../../shared/contract/completions.ts';
import type { RunAnswer, RunPart } from '../completions/run.ts';
import type { Fields } from '../passthrough/fields.ts';
import type { AnswerEvents, AnswerFailure, AnswerFormat, AnswerHead } from './answer-format.ts';

/** Answers in the format of OpenAI's responses. */

function usageOf(usage: Usage | null): object | null {
  if (usage === null) return null;
  const { prompt_tokens, completion_tokens, total_tokens, details } = usage;
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: details?.cached_tokens ?? 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: details?.reasoning_tokens ?? 0 },
    total_tokens,
  };
}

/** Parameters that a response repeats, with OpenAI's defaults. */
const repeated: Fields = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

interface Ending {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly object[];
  readonly usage: Usage | null;
  readonly error?: object;
  readonly reason?: FinishReason;
}

const incompleteReasons: Partial<Record<FinishReason, string>> = {
  Length: 'max_output_tokens',
  ContentFilter: 'content_filter',
};

function statusOf(reason: FinishReason): 'completed' | 'incomplete' {
  return incompleteReasons[reason] === undefined ? 'completed' : 'incomplete';
}

function responseOf({ runId, created, model, request }: AnswerHead, end: Ending): object {
  const { status, output, usage, error = null, reason } = end;
  const incomplete = reason === undefined ? undefined : incompleteReasons[reason];
  return {
    id: `resp_${runId}`,
    object: 'response',
    created_at: created,
    status,
    error,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model,
    output,
    ...Object.fromEntries(Object.entries(repeated).map(([name, value]) => [name, request[name] ?? value])),
    store: true,
    usage: usageOf(usage),
  };
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

interface Item {
  readonly id: string;
  readonly index: number;
  readonly call: { readonly id: string; readonly name: string } | null;
  /** The text, or the arguments. */
  text: string;
}

function itemOf({ id, call, text }: Item, status: ItemStatus): object {
  if (call) return { id, type: 'function_call', status, call_id: call.id, name: call.name, arguments: text };
  const content = status === 'in_progress' && text === '' ? [] : [textPart(text)];
  return { id, type: 'message', role: 'assistant', status, content };
}

/** The items of an answer in the order in which they began. */
class Output {
  readonly items: Item[] = [];
  readonly #runId: string;
  #message: Item | null = null;
  readonly #calls = new Map<number, Item>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  message(): { item: Item; isNew: boolean } {
    const isNew = this.#message === null;
    this.#message ??= this.#add('msg', null);
    return { item: this.#message, isNew };
  }

  call(index: number, id: string | undefined, name: string | undefined): { item: Item; isNew: boolean } {
    const known = this.#calls.get(index);
    if (known) return { item: known, isNew: false };
    const item = this.#add('fc', { id: id ?? '', name: name ?? '' });
    this.#calls.set(index, item);
    return { item, isNew: true };
  }

  #add(kind: string, call: Item['call']): Item {
    const index = this.items.length;
    const item: Item = { id: `${kind}_${this.#runId}_${index}`, index, call, text: '' };
    this.items.push(item);
    return item;
  }
}

function whole(head: AnswerHead, { content, finishReason, usage, toolCalls = [] }: RunAnswer): object {
  const output = new Output(head.runId);
  if (content !== '' || toolCalls.length === 0) output.message().item.text = content;
  for (const [index, { id, name, arguments: given }] of toolCalls.entries())
    output.call(index, id, name).item.text = given;
  const status = statusOf(finishReason);
  const items = output.items.map((item) => itemOf(item, status));
  return responseOf(head, { status, output: items, usage, reason: finishReason });
}

/** Writes the events of one answer; every one has a number. */
class ResponseEvents implements AnswerEvents {
  readonly #head: AnswerHead;
  readonly #output: Output;
  #next = 0;

  constructor(head: AnswerHead) {
    this.#head = head;
    this.#output = new Output(head.runId);
  }

  start(): string {
    const response = responseOf(this.#head, { status: 'in_progress', output: [], usage: null });
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
  }

  part(part: RunPart): string {
    if (part.type === 'text') return (part.pieces ?? [part.text]).map((text) => this.#text(text)).join('');
    if (part.type === 'toolCall') return this.#call(part.chunk);
    return part.type === 'end' ? this.#end(part.finishReason, part.usage) : '';
  }

  failure({ code, message }: AnswerFailure): string {
    const error = { type: 'server_error', code, message, param: null };
    return this.#event('error', { code, message, param: null, error });
  }

  #text(delta: string): string {
    const { item, isNew } = this.#output.message();
    const opening = isNew ? this.#open(item) : '';
    item.text += delta;
    return opening + this.#event('response.output_text.delta', { ...this.#position(item), delta, logprobs: [] });
  }

  #call({ index, id, name, arguments: delta }: Extract<RunPart, { type: 'toolCall' }>['chunk']): string {
    const { item, isNew } = this.#output.call(index, id, name);
    const opening = isNew ? this.#open(item) : '';
    item.text += delta;
    if (delta === '') return opening;
    return opening + this.#event('response.function_call_arguments.delta', { ...this.#position(item), delta });
  }

  #end(reason: FinishReason, usage: Usage | null): string {
    const status = statusOf(reason);
    const opening = this.#output.items.length === 0 ? this.#open(this.#output.message().item) : '';
    const items = this.#output.items.map((item) => this.#close(item, status)).join('');
    const output = this.#output.items.map((item) => itemOf(item, status));
    const response = responseOf(this.#head, { status, output, usage, reason });
    return opening + items + this.#event(`response.${status}`, { response });
  }

  #open(item: Item): string {
    const added = this.#event('response.output_item.added', {
      output_index: item.index,
      item: itemOf(item, 'in_progress'),
    });
    if (item.call) return added;
    return added + this.#event('response.content_part.added', { ...this.#position(item), part: textPart('') });
  }

  #close(item: Item, status: ItemStatus): string {
    const position = this.#position(item);
    const { text, call } = item;
    const own = call
      ? this.#event('response.function_call_arguments.done', { ...position, name: call.name, arguments: text })
      : this.#event('response.output_text.done', { ...position, text, logprobs: [] }) +
        this.#event('response.content_part.done', { ...position, part: textPart(text) });
    return own + this.#event('response.output_item.done', { output_index: item.index, item: itemOf(item, status) });
  }

  #position({ id, index, call }: Item): object {
    return { item_id: id, output_index: index, ...(call === null && { content_index: 0 }) };
  }

  #event(type: string, data: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#next++, ...data })}\n\n`;
  }
}

export const responsesAnswer: AnswerFormat = { whole, stream: (head) => new ResponseEvents(head) };
