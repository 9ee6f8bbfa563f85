import { z } from 'zod';
import { uuid } from './common.ts';
import { limitedSchema } from './limited-schema.ts';

/** The parameters about tools. The service interprets them if `tools` has functions. */
export const toolParameters = ['tools', 'tool_choice', 'parallel_tool_calls'] as const;
export type ToolParameter = (typeof toolParameters)[number];

/** More than any provider accepts. */
export const maxTools = 128;

/** Max calls of one answer. */
export const maxToolCalls = 128;

const toolName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores or hyphens')
  .describe('Unique among the tools');

export const toolFunction = z.object({
  name: toolName,
  description: z.string().nullish(),
  parameters: limitedSchema.describe('JSON schema of the arguments'),
  strict: z.boolean().nullish().describe('Whether the arguments must follow the schema exactly'),
});
export type ToolFunction = z.infer<typeof toolFunction>;

const functionTool = z.object({ type: z.literal('function'), function: toolFunction }).meta({ id: 'FunctionTool' });

/** The format of OpenAI's Responses API. */
const flatFunctionTool = toolFunction.extend({ type: z.literal('function') });

const providerTool = z
  .looseObject({})
  .refine(({ type }) => type !== 'function', { error: 'must have a function', abort: true })
  .describe("A provider's own tool, which is sent to it unchanged");

export const tools = z
  // The flat form first: of a tool that fits neither, errors name its own fields.
  .array(z.union([flatFunctionTool, functionTool, providerTool]))
  .max(maxTools)
  .superRefine((list, context) => {
    const first = new Map<string, number>();
    for (const [index, tool] of list.entries()) {
      const name = toolFunctionOf(tool)?.name;
      if (name === undefined) continue;
      const earlier = first.get(name);
      if (earlier === undefined) first.set(name, index);
      else {
        const path = 'function' in tool ? [index, 'function', 'name'] : [index, 'name'];
        context.addIssue({ code: 'custom', path, message: `is the name of tools[${earlier}], too` });
      }
    }
  });

export const toolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    z.object({ type: z.literal('function'), name: z.string() }),
    z.looseObject({}).refine(({ type }) => type !== 'function', 'must have a function with a name'),
  ],
  { error: 'must be `auto`, `none`, `required` or an object that names a function' },
);

/** The function of a tool in either of OpenAI's formats; null for a provider's own tool. */
export function toolFunctionOf(tool: unknown): ToolFunction | null {
  if (!isObject(tool) || tool['type'] !== 'function') return null;
  const definition = isObject(tool['function']) ? tool['function'] : tool;
  return typeof definition['name'] === 'string' ? (definition as ToolFunction) : null;
}

interface ToolConfiguration {
  readonly tools?: unknown;
  readonly tool_choice?: unknown;
}

/** The functions that a configuration offers. */
export function toolFunctions({ tools: list }: ToolConfiguration): ToolFunction[] {
  if (!Array.isArray(list)) return [];
  return list.map(toolFunctionOf).filter((tool) => tool !== null);
}

/** The name of the function that `tool_choice` forces the model to call; null if it names none. */
export function chosenFunction({ tool_choice: choice }: ToolConfiguration): string | null {
  if (!isObject(choice) || choice['type'] !== 'function') return null;
  const definition = isObject(choice['function']) ? choice['function'] : choice;
  return typeof definition['name'] === 'string' ? definition['name'] : null;
}

/** Whether the model must call a tool. */
export function forcesToolCall(configuration: ToolConfiguration): boolean {
  return configuration.tool_choice === 'required' || chosenFunction(configuration) !== null;
}

/** The error of `tool_choice` for these tools, as the end of a sentence; null if it is valid. */
export function toolChoiceIssue(configuration: ToolConfiguration): string | null {
  const list = Array.isArray(configuration.tools) ? (configuration.tools as unknown[]) : [];
  const name = chosenFunction(configuration);
  if (name === null) {
    return configuration.tool_choice === 'required' && list.length === 0 ? 'requires a tool, and there is none' : null;
  }
  // The names of a provider's own tools are unknown.
  const isKnown = list.some((tool) => (toolFunctionOf(tool)?.name ?? name) === name);
  return isKnown ? null : `names the unknown tool "${name.slice(0, 64)}"`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const toolCall = z
  .object({
    id: z.string(),
    name: z.string(),
    arguments: z.string().describe('JSON text, as the model wrote it; `{}` if it wrote none'),
  })
  .meta({ id: 'ToolCall' });
export type ToolCall = z.infer<typeof toolCall>;

/** The model's text and tool calls as one text: for checks and for search. */
export function withCalls(content: string, calls: readonly ToolCall[]): string {
  if (calls.length === 0) return content;
  const texts = calls.map(({ name, arguments: text }) => `${name} ${text}`);
  return (content === '' ? texts : [content, ...texts]).join('\n');
}

export const toolCallChunk = z
  .object({
    index: z.int(),
    id: z.string().optional().describe('Only in the first chunk of a call, as the name'),
    name: z.string().optional(),
    arguments: z.string().describe('The next part of the JSON text'),
  })
  .meta({ id: 'ToolCallChunk' });
export type ToolCallChunk = z.infer<typeof toolCallChunk>;

export const toolResult = z
  .strictObject({
    toolCallId: z.string().min(1, 'must not be empty').max(1000),
    content: z.string().describe('What the tool returned, often JSON'),
    isError: z.boolean().optional().describe('Whether the tool failed'),
  })
  .meta({ id: 'ToolResult' });
export type ToolResult = z.infer<typeof toolResult>;

/** Characters of all results of a mock. */
const maxMockCharacters = 1_048_576;

const mockResultFields = {
  content: z.string().max(maxMockCharacters, 'is longer than 1 MB'),
  isError: z.boolean().default(false),
};

const mockEntry = z.strictObject({
  arguments: z
    .record(z.string(), z.unknown())
    .describe('Matches calls whose arguments contain these. The first match counts'),
  ...mockResultFields,
});
export type MockEntry = z.infer<typeof mockEntry>;

const tableMock = z
  .strictObject({
    kind: z.literal('lookUp'),
    entries: z.array(mockEntry).max(1000),
    otherwise: z.string().max(maxMockCharacters, 'is longer than 1 MB').nullable().default(null),
  })
  .superRefine((mock, context) => {
    if (JSON.stringify(mock).length <= maxMockCharacters) return;
    context.addIssue({ code: 'custom', path: ['entries'], message: 'are longer than 1 MB in all' });
  });

/** What a call of a tool returns if no person enters the result. It is never sent to a provider. */
export const toolMock = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('fixed'), ...mockResultFields }),
    tableMock,
    z.strictObject({ kind: z.literal('recorded'), runId: uuid.describe('A run whose messages have the result') }),
  ])
  .meta({ id: 'ToolMock', description: 'What the playground returns for a call of the tool. Providers never get it.' });
export type ToolMock = z.infer<typeof toolMock>;
