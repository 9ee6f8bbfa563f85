import { z } from 'zod';
import { timestamp } from './common.ts';
import { type Access, defineEndpoint, type Endpoint } from './endpoint.ts';

/**
 * The APIs of providers, for programs that know only those. A call goes to the provider unchanged, and so does its response to the
 * program; Touchstone records both.
 */

/** Bytes of a request: more than any provider accepts. */
export const maxPassedBodyBytes = 64 * 1_048_576;

/** Whatever the provider takes. Touchstone sends it as it is. */
const anyBody = z.looseObject({}).describe("As in the provider's own documentation; sent to it unchanged");
const anyAnswer = z.looseObject({}).describe("The provider's own response, unchanged");

const tag = 'Recorded calls';
const access: Access = 'run';
const errors = [402, 404, 502, 503, 504];

const endpointParameters = z.object({
  name: z.string().min(1).max(200).meta({ description: 'The name of the compatible endpoint, in Settings' }),
});

/** The format of errors: that of the API, so that its libraries show the message. */
export type PassedErrorFormat = NonNullable<Endpoint['passes']>;

const call = {
  method: 'post',
  access,
  tag,
  body: anyBody,
  response: anyAnswer,
  kinds: ['json', 'event-stream'],
  part: anyAnswer,
  errors,
} as const;
const openAi = { ...call, passes: 'openai' } as const;
const ofEndpoint = { ...openAi, parameters: endpointParameters } as const;
const anthropic = { ...call, passes: 'anthropic' } as const;
const geminiVersion = z.string().meta({ description: "Of Gemini's API: `v1`, `v1beta` or `v1alpha`" });
const gemini = {
  ...call,
  passes: 'gemini',
  parameters: z.object({
    version: geminiVersion,
    model: z.string().min(1).max(500).meta({ description: 'As Google names it' }),
  }),
} as const;

const unchanged = 'The request and the response pass unchanged and are recorded.';

export const passChat = defineEndpoint({
  ...openAi,
  id: 'passChat',
  path: '/openai/v1/chat/completions',
  summary: "Call OpenAI's chat completions",
  description: unchanged,
});

export const passResponses = defineEndpoint({
  ...openAi,
  id: 'passResponses',
  path: '/openai/v1/responses',
  summary: "Call OpenAI's responses",
  description: unchanged,
});

export const passEmbeddings = defineEndpoint({
  ...openAi,
  id: 'passEmbeddings',
  path: '/openai/v1/embeddings',
  summary: "Call OpenAI's embeddings",
  description: `${unchanged} Of the response, only the usage is recorded.`,
  kinds: ['json'],
});

export const passModels = defineEndpoint({
  id: 'passModels',
  method: 'get',
  access,
  tag,
  path: '/openai/v1/models',
  summary: "List OpenAI's models",
  description:
    "The request and the response pass unchanged. Without a key for OpenAI, the list has Touchstone's own models: `service/…`, `on-device/default`, and, with the scope `manage`, the newest 1,000 prompts and agents. Lists are not recorded.",
  response: anyAnswer,
  errors,
  passes: 'openai',
});

const modelParameters = z.object({ model: z.string().min(1).max(500).meta({ description: 'The ID of the model' }) });

export const passModel = defineEndpoint({
  id: 'passModel',
  method: 'get',
  access,
  tag,
  path: '/openai/v1/models/{model}',
  parameters: modelParameters,
  summary: "Read one of OpenAI's models",
  description:
    "The request and the response pass unchanged. One of Touchstone's own models is described by Touchstone. Not recorded.",
  response: anyAnswer,
  errors,
  passes: 'openai',
});

export const passAnthropicModels = defineEndpoint({
  id: 'passAnthropicModels',
  method: 'get',
  access,
  tag,
  path: '/anthropic/v1/models',
  summary: "List Anthropic's models",
  description: 'The request and the response pass unchanged. Lists are not recorded.',
  response: anyAnswer,
  errors,
  passes: 'anthropic',
});

export const passAnthropicModel = defineEndpoint({
  id: 'passAnthropicModel',
  method: 'get',
  access,
  tag,
  path: '/anthropic/v1/models/{model}',
  parameters: modelParameters,
  summary: "Read one of Anthropic's models",
  description: 'The request and the response pass unchanged. Not recorded.',
  response: anyAnswer,
  errors,
  passes: 'anthropic',
});

export const passEndpointChat = defineEndpoint({
  ...ofEndpoint,
  id: 'passEndpointChat',
  path: '/openai/{name}/v1/chat/completions',
  summary: 'Call the chat completions of a compatible endpoint',
  description: unchanged,
});

export const passEndpointResponses = defineEndpoint({
  ...ofEndpoint,
  id: 'passEndpointResponses',
  path: '/openai/{name}/v1/responses',
  summary: 'Call the responses of a compatible endpoint',
  description: unchanged,
});

export const passEndpointEmbeddings = defineEndpoint({
  ...ofEndpoint,
  id: 'passEndpointEmbeddings',
  path: '/openai/{name}/v1/embeddings',
  summary: 'Call the embeddings of a compatible endpoint',
  description: `${unchanged} Of the response, only the usage is recorded.`,
  kinds: ['json'],
});

export const passEndpointModels = defineEndpoint({
  id: 'passEndpointModels',
  method: 'get',
  access,
  tag,
  path: '/openai/{name}/v1/models',
  parameters: endpointParameters,
  summary: 'List the models of a compatible endpoint',
  description: 'The request and the response pass unchanged. Lists are not recorded.',
  response: anyAnswer,
  errors,
  passes: 'openai',
});

export const passEndpointModel = defineEndpoint({
  id: 'passEndpointModel',
  method: 'get',
  access,
  tag,
  path: '/openai/{name}/v1/models/{model}',
  parameters: endpointParameters.extend(modelParameters.shape),
  summary: 'Read one of the models of a compatible endpoint',
  description: 'The request and the response pass unchanged. Not recorded.',
  response: anyAnswer,
  errors,
  passes: 'openai',
});

export const passMessages = defineEndpoint({
  ...anthropic,
  id: 'passMessages',
  path: '/anthropic/v1/messages',
  summary: "Call Anthropic's messages",
  description: unchanged,
});

export const passTokenCount = defineEndpoint({
  ...anthropic,
  id: 'passTokenCount',
  path: '/anthropic/v1/messages/count_tokens',
  summary: "Count tokens with Anthropic's API",
  description: 'The request and the response pass unchanged. Counts are not recorded.',
  kinds: ['json'],
});

export const passContent = defineEndpoint({
  ...gemini,
  id: 'passContent',
  path: '/gemini/{version}/models/{model}:generateContent',
  summary: "Call Gemini's generateContent",
  description: `${unchanged} The API key may also be in \`x-goog-api-key\` or \`?key=\`.`,
  kinds: ['json'],
});

export const passContentStream = defineEndpoint({
  ...gemini,
  id: 'passContentStream',
  path: '/gemini/{version}/models/{model}:streamGenerateContent',
  summary: "Call Gemini's streamGenerateContent",
  description: `${unchanged} With \`?alt=sse\`, Google streams events, otherwise the elements of a JSON array.`,
  kinds: ['json-array', 'event-stream'],
});

export const passContentCount = defineEndpoint({
  ...gemini,
  id: 'passContentCount',
  path: '/gemini/{version}/models/{model}:countTokens',
  summary: "Count tokens with Gemini's API",
  description: 'The request and the response pass unchanged. Counts are not recorded.',
  kinds: ['json'],
});

export const passGeminiModels = defineEndpoint({
  id: 'passGeminiModels',
  method: 'get',
  access,
  tag,
  path: '/gemini/{version}/models',
  parameters: z.object({ version: geminiVersion }),
  summary: "List Gemini's models",
  description: 'The request and the response pass unchanged. Lists are not recorded.',
  response: anyAnswer,
  errors,
  passes: 'gemini',
});

/** Calls of other programs since the host started. */
export const recorderState = z.object({
  calls: z.int(),
  recorded: z.int(),
  /** Calls that should have been recorded and could not be. */
  failed: z.int(),
  lastFailureAt: timestamp.nullable(),
  /**
   * The last call that Touchstone rejected without a record, such as one with an unknown key; null if there is none. The source is unknown
   * if the call has another Host or Origin: it may be of a web page.
   */
  lastRejection: z
    .object({ at: timestamp, status: z.int(), message: z.string(), source: z.enum(['program', 'unknown']) })
    .nullable(),
  /** How often each rule of redaction replaced something before it was stored, if it did. */
  hidden: z.array(
    z.object({
      kind: z.enum(['secret', 'email', 'phone', 'card', 'account', 'pattern']),
      pattern: z.string().nullable(),
      count: z.int(),
    }),
  ),
});

export const readRecorder = defineEndpoint({
  id: 'readRecorder',
  method: 'get',
  path: '/window/recorder',
  access: 'window',
  tag: 'Window: recorded calls',
  summary: 'How many calls of other programs were recorded',
  response: recorderState,
});
