import { z } from 'zod';
import { aiSystem, errorBody, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { limitedSchema } from './limited-schema.ts';
import { maxToolCalls, toolCall, toolCallChunk, toolChoice, toolChoiceIssue, toolResult, tools } from './tools.ts';

/** The parameters that the service interprets. A parameter that a model doesn't support is dropped with a warning. */
export const namedParameters = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
] as const;
export type NamedParameter = (typeof namedParameters)[number];

/** Keys of a provider's body that the service sets. `configuration` must not contain them. */
export const reservedParameters = ['model', 'input', 'messages', 'stream', 'store'] as const;

/** What can be configured of the parameters of a recorded call, in which a program may have set those keys. */
export function withoutReserved(parameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const reserved: readonly string[] = reservedParameters;
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !reserved.includes(name)));
}

const responseFormat = z.union([
  z.object({ type: z.enum(['text', 'json_object']) }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ schema: limitedSchema }),
  }),
]);

/** Unknown keys are passed to the provider unchanged. */
export const configuration = z
  .looseObject({
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(1).nullish(),
    max_tokens: z.int().min(1).max(10_000_000).nullish(),
    stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
    seed: z.int().nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    reasoning_effort: z.string().min(1).max(32).nullish(),
    response_format: responseFormat.nullish(),
    tools: tools.nullish(),
    tool_choice: toolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
  })
  .superRefine((value, context) => {
    const issue = value.tool_choice == null ? null : toolChoiceIssue(value);
    if (issue !== null) context.addIssue({ code: 'custom', path: ['tool_choice'], message: issue });
    for (const key of reservedParameters) {
      if (Object.hasOwn(value, key)) {
        context.addIssue({ code: 'custom', path: [key], message: 'is set by the service and cannot be configured' });
      }
    }
  })
  .meta({ id: 'Configuration' });
export type Configuration = z.infer<typeof configuration>;

const metadata = z.looseObject({ conversationId: uuid.nullish(), workspaceId: uuid.nullish() }).meta({
  id: 'Metadata',
  description: 'Kept with the run. conversationId joins a conversation, workspaceId names its workspace.',
});

export const completionRequest = z.strictObject({
  promptText: z
    .string()
    .min(1, 'must not be empty')
    .describe('Handlebars template; dotprompt roles make it several messages'),
  systemMessage: z.string().nullish(),
  aiSystem,
  model: z.string().min(1, 'must not be empty'),
  configuration: configuration.nullish(),
  replacements: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe(
      'Values of the variables. For `{{media}}`: `{"fileId"}`, `{"sourceId"}` or `{"mediaType", "data"}`, each with an optional `"as"`, which is `file` or `text` and decides what a PDF is sent as',
    ),
  dataspaceIds: z.array(uuid).max(100).nullish(),
  metadata: metadata.nullish(),
});
export type CompletionRequest = z.infer<typeof completionRequest>;

const { promptText, aiSystem: system, model } = completionRequest.shape;
const needsField = (field: 'promptText' | 'aiSystem' | 'model') => ({
  path: [field],
  error: 'is required',
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
});

/** A completion, or the continuation of a run that called tools. */
export const completionBody = z
  .strictObject({
    ...completionRequest.shape,
    promptText: promptText.optional(),
    aiSystem: system.optional(),
    model: model.optional(),
    continueRunId: uuid.optional().describe('A completed run of the caller whose model called tools'),
    toolResults: z.array(toolResult).max(maxToolCalls).optional().describe('One result for each call of that run'),
  })
  .refine((body) => body.continueRunId !== undefined || body.promptText !== undefined, needsField('promptText'))
  .refine((body) => body.continueRunId !== undefined || body.aiSystem !== undefined, needsField('aiSystem'))
  .refine((body) => body.continueRunId !== undefined || body.model !== undefined, needsField('model'))
  .meta({
    id: 'CompletionRequest',
    description:
      '`promptText`, `aiSystem` and `model` are required, or `continueRunId` and `toolResults`. A continuation takes what is absent from that run, and neither `replacements` nor `dataspaceIds`.',
  });
export type CompletionBody = z.infer<typeof completionBody>;

export const finishReason = z.enum(['Stop', 'Length', 'ContentFilter', 'ToolCalls']).meta({ id: 'FinishReason' });
export type FinishReason = z.infer<typeof finishReason>;

const tokenCount = z.int().nullable();
export const usageDetails = z
  .object({
    cached_tokens: tokenCount.describe('Part of `prompt_tokens` that the provider read from its cache'),
    cache_write_tokens: tokenCount.describe('Part of `prompt_tokens` that the provider wrote to its cache'),
    reasoning_tokens: tokenCount.describe('Part of `completion_tokens` that the model used to reason'),
  })
  .describe(
    'Details that the provider reports beside the totals; unreported ones are null. Absent if it reports none of them.',
  )
  .meta({ id: 'UsageDetails' });
export type UsageDetails = z.infer<typeof usageDetails>;

export const usage = z
  .object({
    prompt_tokens: z.int().describe('Includes cached tokens'),
    completion_tokens: z.int().describe('Includes reasoning tokens'),
    total_tokens: z.int(),
    details: usageDetails.optional(),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usage>;

export const warning = z
  .object({
    code: z.enum(['parameter-dropped', 'variable-unfilled', 'model-ending', 'answer-not-continued']),
    message: z.string(),
    parameter: z.string().optional(),
    variable: z.string().optional(),
  })
  .meta({ id: 'Warning' });
export type Warning = z.infer<typeof warning>;

export const citation = z
  .object({
    index: z.int(),
    sourceId: uuid,
    sourceName: z.string(),
    text: z.string(),
    relevance: z.number(),
    page: z.int().optional(),
    start: z.int(),
    end: z.int(),
  })
  .meta({ id: 'Citation' });
export type Citation = z.infer<typeof citation>;

export const completionAnswer = z
  .object({
    choices: z.array(
      z.object({
        finish_reason: finishReason,
        index: z.int(),
        message: z.object({
          role: z.literal('Assistant'),
          content: z.string(),
          toolCalls: z.array(toolCall).optional().describe('Present if the model called tools'),
        }),
      }),
    ),
    messageId: uuid,
    runId: uuid,
    usage,
    citations: z.array(citation).optional(),
    warnings: z.array(warning).optional(),
  })
  .meta({ id: 'CompletionAnswer' });
export type CompletionAnswer = z.infer<typeof completionAnswer>;

/** One part of a streamed answer. The last one has `finish_reason` and no `content`, or is an error body. */
export const completionChunk = z
  .object({
    choice: z.object({
      index: z.int(),
      finish_reason: finishReason.optional(),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().optional(),
        toolCalls: z.array(toolCallChunk).optional(),
      }),
    }),
    messageId: uuid,
    runId: uuid,
    usage: usage.optional(),
    citations: z.array(citation).optional(),
    warnings: z.array(warning).optional(),
  })
  .meta({ id: 'CompletionChunk' });
export type CompletionChunk = z.infer<typeof completionChunk>;

const completionPart = z.union([completionChunk, errorBody]);
const tag = 'Completions';
const errors = [402, 409, 429, 502, 503, 504] as const;
const access = 'run' as const;

export const createCompletion = defineEndpoint({
  id: 'createCompletion',
  method: 'post',
  path: '/api/completions',
  access,
  tag,
  summary: 'Run a prompt; `stream=true` streams the answer',
  description:
    'Renders the template with the replacements and runs it. With `stream=true` the answer is sent as server-sent events, or as one JSON array if `Accept` prefers `application/json`. The run is recorded before the end of the response.',
  query: z.object({ stream: z.enum(['true', 'false'], { error: 'must be true or false' }).optional() }),
  body: completionBody,
  kinds: ['json', 'event-stream', 'json-array'],
  response: completionAnswer,
  part: completionPart,
  errors,
});

export const createCompletionSync = defineEndpoint({
  id: 'createCompletionSync',
  method: 'post',
  path: '/api/completions/sync',
  access,
  tag,
  summary: 'Run a prompt and return the whole answer',
  description: 'Responds when the answer is complete. `citations` and `warnings` are present if there are any.',
  body: completionBody,
  response: completionAnswer,
  errors,
});

export const createCompletionStream = defineEndpoint({
  id: 'createCompletionStream',
  method: 'post',
  path: '/api/completions/stream',
  access,
  tag,
  summary: 'Run a prompt and stream the answer as one JSON array',
  description:
    'The array grows by one chunk at a time and is valid JSON when the stream ends, also after a failure, which is its last element.',
  body: completionBody,
  kinds: ['json-array'],
  part: completionPart,
  errors,
});

export const countTokens = defineEndpoint({
  id: 'countTokens',
  method: 'post',
  path: '/window/token-count',
  access: 'window',
  tag,
  summary: "Input tokens of a run as its provider counts them; sends the prompt to the provider's counting endpoint",
  description: 'Nothing is run or recorded. 400 for a provider without such an endpoint.',
  body: completionRequest,
  response: z.object({ tokens: z.int() }),
  errors: [429, 502, 503, 504],
});

export const createCompletionEvents = defineEndpoint({
  id: 'createCompletionEvents',
  method: 'post',
  path: '/api/completions/sse',
  access,
  tag,
  summary: 'Run a prompt and stream the answer as server-sent events',
  description:
    'Streams regardless of `Accept`. Each event is one `data:` line with a chunk; the last chunk has `finish_reason` and `usage`. A failure after the first byte is one last event with an error.',
  body: completionBody,
  kinds: ['event-stream'],
  part: completionPart,
  errors,
});
