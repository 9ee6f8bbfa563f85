import type { FinishReason, Usage } from '../../shared/contract/completions.ts';
import type { ModelToolCall, RawUsage } from '../providers/provider.ts';
import { countOf, type Fields, isObject, jsonOf, listOf, objectOf, readObject, textOf } from './fields.ts';
import { geminiUsage, readGemini, readGeminiArray } from './gemini-response.ts';
import { FrameTimes } from './frame-times.ts';
import type { CallApi } from './read-request.ts';
import { Reading } from './reading.ts';
import { TextFrames } from './text-frames.ts';

/** What a provider's response says. */
export interface ReadBody {
  readonly id: string | null;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly finishReason: FinishReason;
  readonly usage: Usage | null;
  readonly rawUsage: RawUsage | null;
  /** What the provider says went wrong; null for a good response. */
  readonly error: string | null;
  /** False for a stream without its last event. */
  readonly isComplete: boolean;
  /** Whether a part could not be read, which a program may read with another parser. */
  readonly isPartial: boolean;
}

function readChatDelta(reading: Reading, delta: Fields): void {
  if (typeof delta['content'] === 'string') reading.texts.push(delta['content']);
  else for (const part of listOf(delta['content'])) reading.texts.push(textOf(objectOf(part)['text']));
  if (typeof delta['refusal'] === 'string') reading.texts.push(delta['refusal']);
  const thought = delta['reasoning_content'] ?? delta['reasoning'];
  if (typeof thought === 'string') reading.reasoning.push(thought);
  for (const [position, value] of listOf(delta['tool_calls']).entries()) {
    const { index, id, function: called, custom } = objectOf(value);
    const { name, arguments: given, input } = objectOf(called ?? custom);
    const call = reading.call(countOf(index) ?? position);
    call.id ||= textOf(id);
    call.name ||= textOf(name);
    call.arguments += textOf(given ?? input);
  }
}

/** A whole chat completion, or one chunk of a streamed one. */
function readChat(reading: Reading, value: Fields): void {
  if (value['error'] !== undefined && value['error'] !== null) reading.noteError(value);
  reading.id ??= textOf(value['id']) || null;
  const choice = objectOf(listOf(value['choices'])[0]);
  readChatDelta(reading, objectOf(choice['message'] ?? choice['delta']));
  if (typeof choice['finish_reason'] === 'string') {
    reading.reason = choice['finish_reason'];
    reading.isComplete = true;
  }
  reading.noteUsage(value['usage']);
}

function readOutputItem(reading: Reading, value: unknown): void {
  const item = objectOf(value);
  if (item['type'] === 'message') {
    for (const part of listOf(item['content'])) {
      const { text, refusal } = objectOf(part);
      reading.texts.push(textOf(text) || textOf(refusal));
    }
  } else if (item['type'] === 'reasoning') {
    for (const part of listOf(item['summary'])) reading.reasoning.push(textOf(objectOf(part)['text']));
  } else if (item['type'] === 'function_call' || item['type'] === 'custom_tool_call') {
    const call = reading.call(reading.calls.size);
    call.id = textOf(item['call_id']);
    call.name = textOf(item['name']);
    call.arguments = jsonOf(item['arguments'] ?? item['input'] ?? '');
  }
}

function readResponseObject(reading: Reading, response: Fields): void {
  reading.id ??= textOf(response['id']) || null;
  if (isObject(response['error'])) reading.noteError(response['error']);
  const reason = objectOf(response['incomplete_details'])['reason'];
  if (typeof reason === 'string') reading.reason = reason;
  reading.noteUsage(response['usage']);
}

function readResponses(reading: Reading, value: Fields): void {
  switch (value['type']) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      reading.texts.push(textOf(value['delta']));
      return;
    case 'response.reasoning_summary_text.delta':
      reading.reasoning.push(textOf(value['delta']));
      return;
    case 'response.output_item.done':
      // Texts and summaries have come as deltas.
      if (textOf(objectOf(value['item'])['type']).endsWith('_call')) readOutputItem(reading, value['item']);
      return;
    case 'response.created':
      reading.id ??= textOf(objectOf(value['response'])['id']) || null;
      return;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      reading.isComplete = true;
      readResponseObject(reading, objectOf(value['response']));
      return;
    case 'error':
      reading.noteError(value);
      return;
    case undefined:
      if (value['error'] !== undefined && value['output'] === undefined) reading.noteError(value);
      for (const item of listOf(value['output'])) readOutputItem(reading, item);
      readResponseObject(reading, value);
      reading.isComplete = true;
      return;
    default:
      return;
  }
}

function readBlock(reading: Reading, value: unknown, index: number): void {
  const block = objectOf(value);
  if (block['type'] === 'text') reading.texts.push(textOf(block['text']));
  else if (block['type'] === 'thinking') reading.reasoning.push(textOf(block['thinking']));
  else if (block['type'] === 'tool_use') {
    const call = reading.call(index);
    call.id = textOf(block['id']);
    call.name = textOf(block['name']);
    const input = objectOf(block['input']);
    // A stream begins with an empty object and sends the text of the real one.
    if (Object.keys(input).length > 0) call.arguments = jsonOf(input);
  }
}

function readAnthropic(reading: Reading, value: Fields): void {
  switch (value['type']) {
    case 'content_block_delta': {
      const delta = objectOf(value['delta']);
      if (delta['type'] === 'text_delta') reading.texts.push(textOf(delta['text']));
      else if (delta['type'] === 'thinking_delta') reading.reasoning.push(textOf(delta['thinking']));
      else if (delta['type'] === 'input_json_delta') {
        const call = reading.calls.get(countOf(value['index']) ?? 0);
        if (call) call.arguments += textOf(delta['partial_json']);
      }
      return;
    }
    case 'content_block_start':
      readBlock(reading, value['content_block'], countOf(value['index']) ?? 0);
      return;
    case 'message_start':
    case 'message': {
      const message = value['type'] === 'message' ? value : objectOf(value['message']);
      reading.id ??= textOf(message['id']) || null;
      for (const [index, block] of listOf(message['content']).entries()) readBlock(reading, block, index);
      reading.noteUsage(message['usage']);
      reading.reason = textOf(message['stop_reason']) || null;
      reading.isComplete = value['type'] === 'message';
      return;
    }
    case 'message_delta':
      reading.reason = textOf(objectOf(value['delta'])['stop_reason']) || reading.reason;
      reading.noteUsage(value['usage']);
      return;
    case 'message_stop':
      reading.isComplete = true;
      return;
    case 'error':
      reading.noteError(value);
      return;
    default:
      return;
  }
}

/** Only usage: vectors say nothing to a reader. */
function readEmbeddings(reading: Reading, value: Fields): void {
  if (isObject(value['error'])) reading.noteError(value);
  reading.noteUsage(value['usage']);
  reading.isComplete = true;
}

const readers: Record<CallApi, (reading: Reading, value: Fields) => void> = {
  'openai-chat': readChat,
  'openai-responses': readResponses,
  'openai-embeddings': readEmbeddings,
  'anthropic-messages': readAnthropic,
  'gemini-content': readGemini,
};

const reasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    length: 'Length',
    max_tokens: 'Length',
    max_output_tokens: 'Length',
    model_context_window_exceeded: 'Length',
    content_filter: 'ContentFilter',
    refusal: 'ContentFilter',
    tool_calls: 'ToolCalls',
    function_call: 'ToolCalls',
    tool_use: 'ToolCalls',
  }),
);

/** OpenAI's counts include the cache, Anthropic's don't. */
function usageOf(api: CallApi, raw: Fields | null): Usage | null {
  if (raw === null) return null;
  if (api === 'gemini-content') return geminiUsage(raw);
  const isAnthropic = api === 'anthropic-messages';
  const input = countOf(raw['prompt_tokens'] ?? raw['input_tokens']);
  if (input === null) return null;
  const output = countOf(raw['completion_tokens'] ?? raw['output_tokens']) ?? 0;
  const inputDetails = objectOf(raw['prompt_tokens_details'] ?? raw['input_tokens_details']);
  const outputDetails = objectOf(raw['completion_tokens_details'] ?? raw['output_tokens_details']);
  const cached = countOf(isAnthropic ? raw['cache_read_input_tokens'] : inputDetails['cached_tokens']);
  const written = countOf(isAnthropic ? raw['cache_creation_input_tokens'] : inputDetails['cache_write_tokens']);
  const reasoning = countOf(outputDetails['reasoning_tokens']);
  const prompt = isAnthropic ? input + (cached ?? 0) + (written ?? 0) : input;
  const totals = { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
  if (cached === null && written === null && reasoning === null) return totals;
  const details = { cached_tokens: cached, cache_write_tokens: written, reasoning_tokens: reasoning };
  return { ...totals, details };
}

/** What has been read so far. */
function bodyOf(api: CallApi, reading: Reading, isPartial: boolean): ReadBody {
  const toolCalls = [...reading.calls.values()].filter(({ name }) => name !== '');
  const reason = reading.reason === null ? undefined : reasons.get(reading.reason);
  return {
    id: reading.id,
    content: reading.texts.join(''),
    reasoning: reading.reasoning.join(''),
    toolCalls,
    finishReason: reason ?? (toolCalls.length > 0 ? 'ToolCalls' : 'Stop'),
    usage: usageOf(api, reading.rawUsage),
    rawUsage: reading.rawUsage,
    error: reading.error,
    isComplete: reading.isComplete,
    isPartial,
  };
}

const carriageReturn = 13;

/** Reads a stream of events in parts, which may end anywhere. It never fails. */
export class EventReading {
  /** When each event ended. */
  readonly times = new FrameTimes();
  readonly #api: CallApi;
  readonly #reading = new Reading();
  readonly #frames: TextFrames;
  /** The line that isn't complete yet. */
  #line: string[] = [];
  #isInEvent = false;
  #isPartial = false;

  constructor(api: CallApi) {
    this.#api = api;
    this.#frames = new TextFrames(api);
  }

  /** `atMs` is when the part arrived. */
  add(text: string, atMs: number): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (this.#line.length === 0) this.#readLine(text, start, end, atMs);
      else {
        const line = this.#takeOpenLine(text.slice(0, end));
        this.#readLine(line, 0, line.length, atMs);
      }
      start = end + 1;
    }
    if (start < text.length) this.#line.push(text.slice(start));
  }

  /** `text` is the last part. */
  end(text: string): ReadBody {
    this.add(text, 0);
    const line = this.#takeOpenLine('');
    if (line.trimEnd() !== '') this.#readLine(line, 0, line.length, 0);
    return bodyOf(this.#api, this.#reading, this.#isPartial);
  }

  #takeOpenLine(rest: string): string {
    const line = this.#line.join('') + rest;
    this.#line = [];
    return line;
  }

  #readLine(text: string, start: number, end: number, atMs: number): void {
    if (end === start || (end === start + 1 && text.charCodeAt(start) === carriageReturn)) {
      if (this.#isInEvent) this.times.note(atMs);
      this.#isInEvent = false;
      return;
    }
    this.#isInEvent = true;
    if (text.startsWith('data:', start))
      this.#readData(text.slice(start + (text[start + 5] === ' ' ? 6 : 5), end).trimEnd());
  }

  #readData(data: string): void {
    const known = this.#frames.textOf(data);
    if (known !== null) {
      this.#reading.texts.push(known);
      return;
    }
    if (data === '[DONE]') this.#reading.isComplete = true;
    if (!/^\s*\{/.test(data)) return;
    const found = readObject(data);
    if (!found || found.isCut) this.#isPartial = true;
    if (!found) return;
    readers[this.#api](this.#reading, found.value);
    this.#frames.learn(data, found.value);
  }
}

/** Reads a whole response without ever failing. `isStream` is whether the provider sent events. */
export function readResponse(api: CallApi, text: string, { isStream }: { readonly isStream: boolean }): ReadBody {
  if (isStream) return new EventReading(api).end(text);
  const reading = new Reading();
  if (text === '') return bodyOf(api, reading, false);
  if (api === 'gemini-content' && text.startsWith('[')) return bodyOf(api, reading, !readGeminiArray(reading, text));
  const found = readObject(text);
  if (found) readers[api](reading, found.value);
  else reading.error = text.slice(0, 1000);
  return bodyOf(api, reading, !found || found.isCut);
}
