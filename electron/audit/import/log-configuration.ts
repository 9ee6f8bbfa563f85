import { isRecord, type LogRecord, numberOf, parsedJson } from './log-call.ts';

const parameterNames: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  stop: 'stop',
  stop_sequences: 'stop',
  seed: 'seed',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  reasoning_effort: 'reasoning_effort',
  response_format: 'response_format',
  tool_choice: 'tool_choice',
  parallel_tool_calls: 'parallel_tool_calls',
};

/** The parameters of a request under our names, with its functions. */
export function readConfiguration(body: LogRecord): Record<string, unknown> | null {
  const read: [string, unknown][] = [];
  for (const [name, own] of Object.entries(parameterNames)) {
    const value = body[name];
    if (value !== undefined && value !== null)
      read.push([own, typeof value === 'string' ? (numberIn(own, value) ?? value) : value]);
  }
  const tools = parsedJson(body['tools']);
  if (Array.isArray(tools) && tools.length > 0) read.push(['tools', tools.slice(0, 128).map(toolOf)]);
  return read.length === 0 ? null : Object.fromEntries(read);
}

const textParameters = new Set(['stop', 'reasoning_effort', 'tool_choice']);

function numberIn(name: string, value: string): number | null {
  return textParameters.has(name) ? null : numberOf(value);
}

/** Anthropic's and OpenTelemetry's definitions of functions in OpenAI's format. */
function toolOf(tool: unknown): unknown {
  if (!isRecord(tool) || isRecord(tool['function'])) return tool;
  const parameters = tool['input_schema'] ?? tool['parameters'];
  const isFunction = typeof tool['name'] === 'string' && (tool['type'] === 'function' || isRecord(parameters));
  if (!isFunction) return tool;
  const { name, description = null } = tool;
  return { type: 'function', function: { name, description, parameters: parameters ?? { type: 'object' } } };
}
