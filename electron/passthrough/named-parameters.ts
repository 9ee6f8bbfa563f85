import { namedParameters as completionParameters } from '../../shared/contract/completions.ts';
import { type Fields, isObject, objectOf, textOf } from './fields.ts';
import type { CallApi } from './read-request.ts';

/** Parameters under the names of completions, and those that only the program's own API has. */
export interface NamedParameters {
  readonly named: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>>;
}

type Reader = (value: unknown) => Readonly<Record<string, unknown>>;

const as =
  (name: string): Reader =>
  (value) => ({ [name]: value });

function readers(
  renamed: Readonly<Record<string, Reader>>,
  ...same: readonly string[]
): Readonly<Record<string, Reader>> {
  return { ...Object.fromEntries(same.map((name) => [name, as(name)])), ...renamed };
}

/** The format of an answer, which chat completions nest one level deeper than responses. */
function responseFormat({ format }: Fields): Readonly<Record<string, unknown>> {
  const { type, ...schema } = objectOf(format);
  if (type === 'json_schema') return { response_format: { type, json_schema: schema } };
  return type === 'json_object' ? { response_format: { type } } : {};
}

const anthropicChoices = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

function anthropicChoice(value: unknown): Readonly<Record<string, unknown>> {
  const { type, name, disable_parallel_tool_use: isSerial } = objectOf(value);
  const choice = type === 'tool' ? { type: 'function', function: { name } } : anthropicChoices.get(textOf(type));
  return {
    ...(choice !== undefined && { tool_choice: choice }),
    ...(isSerial === true && { parallel_tool_calls: false }),
  };
}

const sampling = ['temperature', 'top_p', 'tools'] as const;

const parameters: Readonly<Record<CallApi, Readonly<Record<string, Reader>>>> = {
  'openai-chat': readers(
    { max_completion_tokens: as('max_tokens') },
    ...sampling,
    'max_tokens',
    'stop',
    'seed',
    'frequency_penalty',
    'presence_penalty',
    'reasoning_effort',
    'response_format',
    'tool_choice',
    'parallel_tool_calls',
  ),
  'openai-responses': readers(
    {
      max_output_tokens: as('max_tokens'),
      text: (value) => responseFormat(objectOf(value)),
      reasoning: (value) => {
        const { effort } = objectOf(value);
        return effort == null ? {} : { reasoning_effort: effort };
      },
    },
    ...sampling,
    'tool_choice',
    'parallel_tool_calls',
  ),
  'openai-embeddings': {},
  'anthropic-messages': readers(
    { stop_sequences: as('stop'), tool_choice: anthropicChoice },
    ...sampling,
    'top_k',
    'max_tokens',
  ),
  // Recorded under the names of completions.
  'gemini-content': readers({}, ...completionParameters, 'tools', 'tool_choice'),
};

/** Separates the parameters of a program's request that every provider has from those of its API. */
export function namedParameters(api: CallApi, configuration: Fields): NamedParameters {
  const named: Record<string, unknown> = {};
  const other: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(configuration)) {
    const read = Object.hasOwn(parameters[api], name) ? parameters[api][name] : undefined;
    if (!read) other[name] = value;
    else if (value !== null && value !== undefined) Object.assign(named, read(value));
  }
  return { named, other };
}

/** Whether a tool is a function of the program, and not one that a provider runs. */
export function isFunctionTool(tool: unknown): boolean {
  return isObject(tool) && tool['type'] === 'function';
}
