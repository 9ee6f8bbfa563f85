import type { FinishReason, Usage } from '../../shared/contract/completions.ts';
import type { ModelToolCall, RawUsage } from '../providers/provider.ts';
import {
  countOf,
  type Fields,
  hasRepeatedFields,
  isObject,
  jsonOf,
  listOf,
  objectOf,
  parseObject,
  type readObject,
  textOf,
} from './fields.ts';
import { geminiUsage, readGemini } from './gemini-response.ts';
import type { JudgedTexts } from './judged-texts.ts';
import type { CallApi } from './read-request.ts';
import { blockText, isServerCall, providerText } from './provider-items.ts';
import { type Choice, maxChoices, type ReadItem, type Reading } from './reading.ts';
import { readResponses } from './responses-response.ts';

/** What a provider's response says. */
export interface ReadBody {
  readonly id: string | null;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ModelToolCall[];
  /** What later calls may refer to. */
  readonly items: readonly ReadItem[];
  readonly finishReason: FinishReason;
  readonly usage: Usage | null;
  readonly rawUsage: RawUsage | null;
  /** What the provider says went wrong; null for a good response. */
  readonly error: string | null;
  /** False for a stream without its last event. */
  readonly isComplete: boolean;
  /** Whether a part could not be read, which a program may read with another parser. */
  readonly isPartial: boolean;
  /** Everything textual, for the guard; null if it doesn't need it. */
  readonly judged: string | null;
}

function readChatDelta(reading: Choice, delta: Fields): void {
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
  readOtherOutput(reading, delta);
}

/** The number of the only call in the first form of calls. */
const functionCallIndex = -1;

function readOtherOutput(reading: Choice, { function_call: called, audio, images }: Fields): void {
  if (isObject(called)) {
    const call = reading.call(functionCallIndex);
    call.name ||= textOf(called['name']);
    // Its result has the name only.
    call.id = call.name;
    call.arguments += textOf(called['arguments']);
  }
  if (isObject(audio)) reading.texts.push(textOf(audio['transcript']));
  for (const image of listOf(images)) {
    const { image_url: address } = objectOf(image);
    reading.texts.push(providerText('image', objectOf(address)['url'] ?? image));
  }
}

/** A whole chat completion, or one chunk of a streamed one. */
function readChat(reading: Reading, value: Fields): void {
  if (value['error'] !== undefined && value['error'] !== null) reading.noteError(value);
  reading.id ??= textOf(value['id']) || null;
  for (const [position, one] of listOf(value['choices']).entries()) {
    const choice = objectOf(one);
    const index = countOf(choice['index']) ?? position;
    if (index >= maxChoices) continue;
    readChatDelta(reading.choice(index), objectOf(choice['message'] ?? choice['delta']));
    const reason = choice['finish_reason'];
    // Some servers send an empty one with every chunk.
    if (typeof reason !== 'string' || (reason === '' && choice['message'] === undefined)) continue;
    if (index === 0 || reading.reason === null) reading.reason = reason;
    reading.isComplete = true;
  }
  reading.noteUsage(value['usage']);
}

/** `isWhole` is false at the start of a streamed block, whose input comes later. */
function readBlock(reading: Reading, value: unknown, index: number, isWhole: boolean): void {
  const block = objectOf(value);
  const input = objectOf(block['input']);
  if (block['type'] === 'text') reading.texts.push(textOf(block['text']));
  else if (block['type'] === 'thinking') reading.reasoning.push(textOf(block['thinking']));
  else if (block['type'] === 'tool_use') {
    const call = reading.call(index);
    call.id = textOf(block['id']);
    call.name = textOf(block['name']);
    // A stream begins with an empty object and sends the text of the real one.
    if (Object.keys(input).length > 0) call.arguments = jsonOf(input);
  } else if (block['type'] === 'redacted_thinking' || textOf(block['type']) === '') return;
  else if (isWhole || !isServerCall(block)) reading.texts.push(blockText(block));
  else reading.serverCalls.set(index, { id: '', name: textOf(block['name']), arguments: '' });
}

function readAnthropic(reading: Reading, value: Fields): void {
  switch (value['type']) {
    case 'content_block_delta': {
      const delta = objectOf(value['delta']);
      if (delta['type'] === 'text_delta') reading.texts.push(textOf(delta['text']));
      else if (delta['type'] === 'thinking_delta') reading.reasoning.push(textOf(delta['thinking']));
      else if (delta['type'] === 'input_json_delta') {
        const index = countOf(value['index']) ?? 0;
        const call = reading.calls.get(index) ?? reading.serverCalls.get(index);
        if (call) call.arguments += textOf(delta['partial_json']);
      }
      return;
    }
    case 'content_block_start':
      readBlock(reading, value['content_block'], countOf(value['index']) ?? 0, false);
      return;
    case 'content_block_stop': {
      const index = countOf(value['index']) ?? 0;
      const call = reading.serverCalls.get(index);
      if (call) reading.texts.push(providerText(call.name, parseObject(call.arguments) ?? call.arguments));
      reading.serverCalls.delete(index);
      return;
    }
    case 'message_start':
    case 'message': {
      const message = value['type'] === 'message' ? value : objectOf(value['message']);
      reading.id ??= textOf(message['id']) || null;
      for (const [index, block] of listOf(message['content']).entries()) readBlock(reading, block, index, true);
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

export const readers: Record<CallApi, (reading: Reading, value: Fields) => void> = {
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
export function bodyOf(api: CallApi, reading: Reading, isPartial: boolean, judged: JudgedTexts | null): ReadBody {
  const toolCalls = reading.namedCalls;
  const reason = reading.reason === null ? undefined : reasons.get(reading.reason);
  return {
    id: reading.id,
    content: reading.content,
    reasoning: reading.thoughts,
    toolCalls,
    items: reading.items,
    finishReason: reason ?? (toolCalls.length > 0 ? 'ToolCalls' : 'Stop'),
    usage: usageOf(api, reading.rawUsage),
    rawUsage: reading.rawUsage,
    error: reading.error,
    isComplete: reading.isComplete,
    isPartial,
    judged: judged && judged.text,
  };
}

/** Whether programs may read something else than what is read here. */
export const isAmbiguous = (text: string, found: ReturnType<typeof readObject>): boolean =>
  found === null || found.isCut || hasRepeatedFields(text, found.value);
