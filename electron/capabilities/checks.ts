import { z } from 'zod';
import type { Capability } from '../../shared/contract/capability-tests.ts';
import type { Configuration } from '../../shared/contract/completions.ts';
import { textMessage, type FilePart, type Message } from '../../shared/contract/messages.ts';
import type { RuleSet } from '../providers/parameter-rules.ts';
import type { ModelAnswer, ModelToolCall } from '../providers/provider.ts';

/** A red square of 64 by 64 pixels, as base64. */
export const redImage =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsIty/dMYyQi+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB' +
  'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywI6LQEAwyG+sAAAAABJRU5ErkJggg==';

/** A PDF of one page that says "The code word is heron.", as base64. */
export const heronPdf =
  'JVBERi0xLjQKMSAwIG9iago8PCAvVHlwZSAvQ2F0YWxvZyAvUGFnZXMgMiAwIFIgPj4KZW5kb2JqCjIgMCBvYmoKPDwgL1R5cGUgL1BhZ2VzIC9LaWRzIFsz' +
  'IDAgUl0gL0NvdW50IDEgPj4KZW5kb2JqCjMgMCBvYmoKPDwgL1R5cGUgL1BhZ2UgL1BhcmVudCAyIDAgUiAvTWVkaWFCb3ggWzAgMCA0MDAgMjAwXSAvQ29u' +
  'dGVudHMgNCAwIFIgL1Jlc291cmNlcyA8PCAvRm9udCA8PCAvRjEgNSAwIFIgPj4gPj4gPj4KZW5kb2JqCjQgMCBvYmoKPDwgL0xlbmd0aCA1NCA+PgpzdHJl' +
  'YW0KQlQgL0YxIDI0IFRmIDQwIDEwMCBUZCAoVGhlIGNvZGUgd29yZCBpcyBoZXJvbi4pIFRqIEVUCmVuZHN0cmVhbQplbmRvYmoKNSAwIG9iago8PCAvVHlw' +
  'ZSAvRm9udCAvU3VidHlwZSAvVHlwZTEgL0Jhc2VGb250IC9IZWx2ZXRpY2EgPj4KZW5kb2JqCnhyZWYKMCA2CjAwMDAwMDAwMDAgNjU1MzUgZiAKMDAwMDAw' +
  'MDAwOSAwMDAwMCBuIAowMDAwMDAwMDU4IDAwMDAwIG4gCjAwMDAwMDAxMTUgMDAwMDAgbiAKMDAwMDAwMDI0MSAwMDAwMCBuIAowMDAwMDAwMzQ1IDAwMDAw' +
  'IG4gCnRyYWlsZXIKPDwgL1NpemUgNiAvUm9vdCAxIDAgUiA+PgpzdGFydHhyZWYKNDE1CiUlRU9GCg==';

/** An answer and, if it was streamed, how its calls came. */
export interface ObservedAnswer extends ModelAnswer {
  readonly callDeltas: number;
}

interface Expectation {
  readonly capability: Capability;
  /** What is missing, as a sentence; null if nothing is. */
  readonly problem: (answer: ObservedAnswer) => string | null;
  /** APIs that don't have it, with the reason. Parameters and files have separate rules. */
  readonly notOffered?: Readonly<Partial<Record<RuleSet, string>>>;
}

/** A request and what its answer shows. */
export interface CapabilityCheck {
  readonly id: string;
  readonly messages: readonly Message[];
  readonly file?: FilePart & { readonly data: string };
  readonly configuration: Configuration;
  readonly isStreamed: boolean;
  readonly expectations: readonly Expectation[];
}

/** Reasoning counts as output, and a model that reasons without being asked needs room for it. */
const maxTokens = 1000;

const citySchema: z.core.JSONSchema.JSONSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, population: { type: 'integer' } },
  required: ['city', 'population'],
  additionalProperties: false,
};
const city = z.fromJSONSchema(citySchema);

function isCity(content: string): boolean {
  try {
    return city.safeParse(JSON.parse(content)).success;
  } catch {
    return false;
  }
}

const weatherTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Returns the weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
} as const;

function callProblem({ toolCalls = [] }: ModelAnswer, count: number): string | null {
  if (toolCalls.length === 0) return 'The model called no tool.';
  if (toolCalls.length < count) return `The model called the tool once, not ${count} times at once.`;
  return toolCalls.every(hasCity) ? null : 'The arguments of the call are not JSON with a city.';
}

function hasCity({ arguments: text }: ModelToolCall): boolean {
  try {
    return typeof (JSON.parse(text) as { city?: unknown } | null)?.city === 'string';
  } catch {
    return false;
  }
}

function fileCheck(
  capability: Capability,
  text: string,
  word: string,
  { mediaType, name, data }: Pick<FilePart, 'mediaType' | 'name'> & { readonly data: string },
): CapabilityCheck {
  const file = { type: 'file' as const, fileId: `sample-${capability}`, mediaType, name, bytes: (data.length / 4) * 3 };
  return {
    id: capability,
    messages: [{ role: 'user', content: [file, { type: 'text', text }] }],
    file: { ...file, data },
    configuration: { max_tokens: maxTokens },
    isStreamed: false,
    expectations: [
      {
        capability,
        problem: ({ content }) =>
          content.toLowerCase().includes(word) ? null : `The answer doesn't name what is in the file ("${word}").`,
      },
    ],
  };
}

const noCitations = "The API doesn't return citations of the caller's texts.";

/** What Touchstone checks of each provider: here for the table in docs/conformance.md, live in Settings. */
export const capabilityChecks: readonly CapabilityCheck[] = [
  {
    id: 'text',
    messages: [textMessage('user', 'Reply with one word: ready')],
    configuration: { max_tokens: maxTokens },
    isStreamed: true,
    expectations: [
      { capability: 'text', problem: ({ content }) => (content.trim() === '' ? 'The answer has no text.' : null) },
      {
        capability: 'usage',
        problem: ({ usage }) =>
          usage.prompt_tokens > 0 && usage.completion_tokens > 0 ? null : 'The stream ended without token counts.',
      },
      {
        capability: 'cache',
        notOffered: { 'on-device': 'Nothing on this device is billed.' },
        problem: ({ usage }) =>
          usage.details?.cached_tokens == null ? "The provider didn't report how many tokens were cached." : null,
      },
      {
        capability: 'citations',
        notOffered: { Groq: noCitations, OpenAiCompatible: noCitations, 'on-device': noCitations },
        problem: (answer) => ('citations' in answer ? null : "Touchstone doesn't return the provider's citations."),
      },
    ],
  },
  {
    id: 'stop',
    messages: [textMessage('user', 'Write the digits from 1 to 9 in order, separated by spaces, and nothing else.')],
    configuration: { max_tokens: maxTokens, stop: ['5'] },
    isStreamed: false,
    expectations: [
      {
        capability: 'stop',
        problem: ({ content, finishReason }) => {
          if (content.includes('5')) return 'The answer contains the stop sequence.';
          return finishReason === 'Stop' ? null : `The answer ended with ${finishReason}, not with Stop.`;
        },
      },
    ],
  },
  {
    id: 'reasoning',
    messages: [textMessage('user', 'How many of the numbers from 1 to 60 are prime? Answer with the number.')],
    configuration: { max_tokens: 2 * maxTokens, reasoning_effort: 'low' },
    isStreamed: false,
    expectations: [
      {
        capability: 'reasoning',
        problem: ({ reasoning, usage }) =>
          reasoning !== null || (usage.details?.reasoning_tokens ?? 0) > 0
            ? null
            : 'The answer has neither reasoning nor reasoning tokens.',
      },
    ],
  },
  {
    id: 'schema',
    messages: [textMessage('user', 'Name a large city and its population.')],
    configuration: {
      max_tokens: maxTokens,
      response_format: { type: 'json_schema', json_schema: { name: 'place', schema: citySchema, strict: true } },
    },
    isStreamed: false,
    expectations: [
      {
        capability: 'schema',
        problem: ({ content }) => (isCity(content) ? null : "The answer doesn't follow the schema."),
      },
    ],
  },
  {
    id: 'tool',
    messages: [textMessage('user', 'What is the weather in Paris? Use the tool.')],
    configuration: { max_tokens: maxTokens, tools: [weatherTool], tool_choice: 'auto' },
    isStreamed: false,
    expectations: [{ capability: 'tool', problem: (answer) => callProblem(answer, 1) }],
  },
  {
    id: 'parallel-tools',
    messages: [textMessage('user', 'What is the weather in Paris and in Rome? Call the tool for both cities at once.')],
    configuration: { max_tokens: maxTokens, tools: [weatherTool], tool_choice: 'auto' },
    isStreamed: false,
    expectations: [{ capability: 'parallel-tools', problem: (answer) => callProblem(answer, 2) }],
  },
  {
    id: 'streamed-tools',
    messages: [textMessage('user', 'What is the weather in Rome? Use the tool.')],
    configuration: { max_tokens: maxTokens, tools: [weatherTool], tool_choice: 'auto' },
    isStreamed: true,
    expectations: [
      {
        capability: 'streamed-tools',
        problem: (answer) =>
          callProblem(answer, 1) ?? (answer.callDeltas > 0 ? null : 'The arguments of the call were not streamed.'),
      },
    ],
  },
  fileCheck('images', 'Which colour fills this image? Answer with one word.', 'red', {
    mediaType: 'image/png',
    name: 'colour.png',
    data: redImage,
  }),
  fileCheck('pdf', 'Which code word is in this file? Answer with one word.', 'heron', {
    mediaType: 'application/pdf',
    name: 'code.pdf',
    data: heronPdf,
  }),
];
