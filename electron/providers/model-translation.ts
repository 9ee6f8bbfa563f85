import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import {
  namedParameters,
  type Configuration,
  type FinishReason,
  type UsageDetails,
} from '../../shared/contract/completions.ts';
import {
  textOfMessage,
  type FilePart,
  type Message,
  type MessagePart,
  type ToolCallPart,
} from '../../shared/contract/messages.ts';
import {
  chosenFunction,
  toolFunctionOf,
  toolFunctions,
  toolParameters,
  type ToolFunction,
} from '../../shared/contract/tools.ts';
import { maxTokens, type ModelRequest, type RawUsage, type ReportedUsage, type ToolCallState } from './provider.ts';

type ResponseFormat = NonNullable<Configuration['response_format']>;
type JsonSchema = Extract<NonNullable<LanguageModelV4CallOptions['responseFormat']>, { type: 'json' }>['schema'];

const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
type ReasoningEffort = (typeof reasoningEfforts)[number];

export function isReasoningEffort(value: unknown): value is ReasoningEffort {
  return reasoningEfforts.includes(value as ReasoningEffort);
}

function toPrompt({ systemMessage, messages, files }: ModelRequest): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (systemMessage !== null && systemMessage !== '') prompt.push({ role: 'system', content: systemMessage });
  const toolNames = new Map<string, string>();
  for (const message of messages) prompt.push(toPromptMessage(message, files, toolNames));
  return prompt;
}

/** Adds the names of the tools that a message calls to `toolNames`: providers need them with the results. */
function toPromptMessage(
  message: Message,
  files: ModelRequest['files'],
  toolNames: Map<string, string>,
): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: textOfMessage(message) };
    case 'user':
      return { role: 'user', content: toUserParts(message, files) };
    case 'assistant':
      return { role: 'assistant', content: toAssistantParts(message, toolNames) };
    case 'tool':
      return { role: 'tool', content: toToolResults(message, toolNames) };
  }
}

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];

/** Whether a file is sent as text: few APIs take text files. */
export function isTextFile({ mediaType }: FilePart): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

function toUserPart(part: MessagePart, files: ModelRequest['files']): UserPart {
  if (part.type !== 'file') return toTextPart(part);
  const file = files?.get(part.fileId);
  if (!file) throw new TypeError(`The content of the file ${part.fileId} was not loaded`);
  if (isTextFile(part)) return { type: 'text', text: String(file.data) };
  const { mediaType, name } = part;
  return { type: 'file', data: { type: 'data', data: String(file.data) }, mediaType, filename: name };
}

/** An empty message has an empty text: some APIs reject one without parts. */
function toUserParts({ content }: Message, files: ModelRequest['files']): UserPart[] {
  return content.length === 0 ? [{ type: 'text', text: '' }] : content.map((part) => toUserPart(part, files));
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];
type ProviderOptions = NonNullable<LanguageModelV4ToolCallPart['providerOptions']>;

/** Reasoning comes first: Anthropic rejects calls that precede the reasoning that led to them. */
function toAssistantParts({ content }: Message, toolNames: Map<string, string>): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const texts: AssistantPart[] = [];
  for (const part of content) {
    if (part.type !== 'toolCall') {
      texts.push(toTextPart(part));
      continue;
    }
    toolNames.set(part.id, part.name);
    const { options, reasoning = [] } = (part as ToolCallPart & { providerState?: ToolCallState }).providerState ?? {};
    for (const block of reasoning) {
      parts.push({
        type: 'reasoning',
        text: block.text,
        ...(block.options && { providerOptions: block.options as ProviderOptions }),
      });
    }
    parts.push(...texts.splice(0), {
      type: 'tool-call',
      toolCallId: part.id,
      toolName: part.name,
      input: parsedArguments(part.arguments),
      ...(options && { providerOptions: options as ProviderOptions }),
    });
  }
  return [...parts, ...texts];
}

/** Anthropic, Gemini and Cohere accept only objects. */
function parsedArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && !Array.isArray(value)) return value;
  } catch {
    // The model wrote invalid JSON. It gets its own text back, with the caller's result.
  }
  return { invalidArguments: text };
}

function toToolResults({ content }: Message, toolNames: ReadonlyMap<string, string>): ToolPart[] {
  return content.map((part) => {
    if (part.type !== 'toolResult') throw new TypeError(`A tool message has a part of type ${part.type}`);
    return {
      type: 'tool-result',
      toolCallId: part.toolCallId,
      toolName: toolNames.get(part.toolCallId) ?? '',
      output: { type: part.isError ? 'error-text' : 'text', value: part.content },
    };
  });
}

function toTextPart(part: MessagePart): { type: 'text'; text: string } {
  if (part.type === 'text') return part;
  throw new TypeError(`Message parts of type ${part.type} have no translation`);
}

function toResponseFormat(format: ResponseFormat): LanguageModelV4CallOptions['responseFormat'] {
  if (format.type !== 'json_schema') return format.type === 'json_object' ? { type: 'json' } : undefined;
  const { schema, name, description } = format.json_schema;
  return {
    type: 'json',
    schema: schema as JsonSchema,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
}

/** Whether the answer must match the schema exactly. Off by default, as in OpenAI's own API. */
export function isStrictSchema(configuration: Configuration): boolean {
  const format = configuration.response_format;
  return format?.type === 'json_schema' && format.json_schema['strict'] === true;
}

function toTool({ name, description, parameters, strict }: ToolFunction) {
  return {
    type: 'function' as const,
    name,
    ...(description == null ? {} : { description }),
    // Versions of prompts from before this check may have a tool without a schema.
    inputSchema: (parameters ?? { type: 'object', properties: {} }) as JsonSchema & object,
    ...(strict == null ? {} : { strict }),
  };
}

/** Null for a provider's own format, which is sent unchanged. */
function toToolChoice(configuration: Configuration): NonNullable<LanguageModelV4CallOptions['toolChoice']> | null {
  const { tool_choice: choice } = configuration;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  const toolName = chosenFunction(configuration);
  return toolName === null ? null : { type: 'tool', toolName };
}

/** Translates the service's request to the AI SDK's options. Unknown keys are in `unnamedParameters`. */
export function toCallOptions(request: ModelRequest): LanguageModelV4CallOptions {
  const { configuration } = request;
  const options: LanguageModelV4CallOptions = { prompt: toPrompt(request) };
  if (configuration.max_tokens != null) options.maxOutputTokens = configuration.max_tokens;
  if (configuration.temperature != null) options.temperature = configuration.temperature;
  if (configuration.top_p != null) options.topP = configuration.top_p;
  if (configuration.top_k != null) options.topK = configuration.top_k;
  if (configuration.seed != null) options.seed = configuration.seed;
  if (configuration.frequency_penalty != null) options.frequencyPenalty = configuration.frequency_penalty;
  if (configuration.presence_penalty != null) options.presencePenalty = configuration.presence_penalty;
  if (configuration.stop != null) {
    options.stopSequences = typeof configuration.stop === 'string' ? [configuration.stop] : configuration.stop;
  }
  if (isReasoningEffort(configuration.reasoning_effort)) options.reasoning = configuration.reasoning_effort;
  const responseFormat = configuration.response_format && toResponseFormat(configuration.response_format);
  if (responseFormat) options.responseFormat = responseFormat;
  if (configuration.tools != null) addTools(options, configuration);
  return options;
}

/** Whether the model may call several functions at once, under the name of the AI SDK's option; null for the provider's default. */
export function parallelCalls(configuration: Configuration): { readonly parallelToolCalls: boolean } | null {
  const { parallel_tool_calls: parallelToolCalls } = configuration;
  return parallelToolCalls == null || toolFunctions(configuration).length === 0 ? null : { parallelToolCalls };
}

function addTools(options: LanguageModelV4CallOptions, configuration: Configuration): void {
  const functions = toolFunctions(configuration);
  if (functions.length === 0) return;
  options.tools = functions.map(toTool);
  const toolChoice = toToolChoice(configuration);
  if (toolChoice) options.toolChoice = toolChoice;
}

const named: ReadonlySet<string> = new Set(namedParameters);
const namedWithTools: ReadonlySet<string> = new Set([...namedParameters, ...toolParameters]);

/**
 * The keys that are passed to the provider unchanged; null if there are none. Beside functions, these are the provider's own tools and
 * its own form of `tool_choice`.
 */
export function unnamedParameters(configuration: Configuration): Record<string, unknown> | null {
  const { tools, tool_choice: choice } = configuration;
  const hasFunctions = tools != null && toolFunctions(configuration).length > 0;
  const translated = hasFunctions ? namedWithTools : named;
  let unnamed: Record<string, unknown> | null = null;
  for (const key in configuration) {
    if (translated.has(key)) continue;
    unnamed ??= {};
    unnamed[key] = configuration[key];
  }
  if (!hasFunctions) return unnamed;
  const own = tools.filter((tool) => toolFunctionOf(tool) === null);
  if (own.length > 0) unnamed = { ...unnamed, tools: own };
  return choice != null && toToolChoice(configuration) === null ? { ...unnamed, tool_choice: choice } : unnamed;
}

/** Null if the provider reports that the answer is broken, which makes the call a failure. */
export function toFinishReason({ unified }: LanguageModelV4FinishReason): FinishReason | null {
  switch (unified) {
    case 'length':
      return 'Length';
    case 'content-filter':
      return 'ContentFilter';
    case 'tool-calls':
      return 'ToolCalls';
    case 'error':
    case 'interrupted':
      return null;
    case 'stop':
    case 'other':
      return 'Stop';
  }
}

function toCount(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 && tokens <= maxTokens ? Math.round(tokens) : 0;
}

/**
 * Fields of usage objects in which providers report these counts: OpenAI and its followers (Chat Completions, Responses), Anthropic,
 * Gemini, DeepSeek, Cohere. The packages turn a count that was not reported into 0; only these fields tell the difference.
 */
const reportedIn: Readonly<Record<keyof UsageDetails, readonly (readonly string[])[]>> = {
  cached_tokens: [
    ['prompt_tokens_details', 'cached_tokens'],
    ['input_tokens_details', 'cached_tokens'],
    ['cache_read_input_tokens'],
    ['cachedContentTokenCount'],
    ['prompt_cache_hit_tokens'],
    ['cached_tokens'],
  ],
  cache_write_tokens: [
    ['prompt_tokens_details', 'cache_write_tokens'],
    ['input_tokens_details', 'cache_write_tokens'],
    ['cache_creation_input_tokens'],
  ],
  reasoning_tokens: [
    ['completion_tokens_details', 'reasoning_tokens'],
    ['output_tokens_details', 'reasoning_tokens'],
    ['output_tokens_details', 'thinking_tokens'],
    ['thoughtsTokenCount'],
  ],
};

function reportedCount(
  raw: RawUsage | undefined,
  name: keyof UsageDetails,
  counted: number | undefined,
): number | null {
  const count = toCount(counted);
  if (count > 0) return count;
  for (const path of reportedIn[name]) {
    let value: unknown = raw;
    for (const key of path) value = isObject(value) ? value[key] : undefined;
    if (typeof value === 'number') return toCount(value);
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Completion tokens include reasoning tokens. A missing or impossible total becomes 0. */
export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): ReportedUsage {
  const prompt = toCount(inputTokens.total);
  const completion = toCount(outputTokens.total);
  const totals = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  if (!isObject(raw)) return { usage: totals };
  const details: UsageDetails = {
    cached_tokens: reportedCount(raw, 'cached_tokens', inputTokens.cacheRead),
    cache_write_tokens: reportedCount(raw, 'cache_write_tokens', inputTokens.cacheWrite),
    reasoning_tokens: reportedCount(raw, 'reasoning_tokens', outputTokens.reasoning),
  };
  const isReported =
    details.cached_tokens !== null || details.cache_write_tokens !== null || details.reasoning_tokens !== null;
  return { usage: isReported ? { ...totals, details } : totals, rawUsage: raw };
}
