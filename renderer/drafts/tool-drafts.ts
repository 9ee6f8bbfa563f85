import {
  chosenFunction,
  maxTools,
  tools as toolList,
  type ToolMock,
  toolChoice,
  toolChoiceIssue,
  toolFunctionOf,
} from '../../shared/contract/tools.ts';
import { describeMistake, parseJson } from './json-text.ts';

/** A function that a draft offers to its model. Fields contain the text as typed, valid or not. */
export interface FunctionTool {
  kind: 'function';
  id: string;
  name: string;
  description: string;
  /** JSON text of the schema. */
  parameters: string;
  /** Null if the request doesn't say. */
  strict: boolean | null;
  /** What a call returns; null where a person enters it. Never sent. */
  mock: ToolMock | null;
  /** The version of the library's tool that it was copied from or saved as. */
  source?: { toolId: string; versionId: string } | null;
}

/** A provider's own tool, such as its web search. */
export interface ProviderTool {
  kind: 'provider';
  id: string;
  /** JSON text, which is sent unchanged. */
  json: string;
}

export type DraftTool = FunctionTool | ProviderTool;

/** The tools of a draft. Absent in drafts of earlier releases. */
export interface DraftTools {
  tools?: readonly DraftTool[];
  /** As in a configuration; null for the provider's default. */
  toolChoice?: unknown;
  /** Null for the provider's default. */
  parallelToolCalls?: boolean | null;
}

export interface ToolProblem {
  toolId: string | null;
  problem: string;
}

/** The problems of tools have this name among those of parameters. */
export const toolsField = 'Tools';

export function newTool(change: Partial<Omit<FunctionTool, 'kind'>> = {}): FunctionTool {
  return {
    kind: 'function',
    id: crypto.randomUUID(),
    name: '',
    description: '',
    parameters: '{\n  "type": "object",\n  "properties": {},\n  "additionalProperties": false\n}',
    strict: null,
    mock: null,
    ...change,
  };
}

/** The name on a chip or in a list. */
export function toolTitle(tool: DraftTool): string {
  if (tool.kind === 'function') return tool.name === '' ? 'Unnamed tool' : tool.name;
  const parsed = parseJson(tool.json);
  const value = 'value' in parsed ? (parsed.value as { type?: unknown } | null) : null;
  return typeof value?.type === 'string' ? value.type : 'Provider tool';
}

/** A tool as a request sends it, or what is wrong with its JSON. */
function readTool(tool: DraftTool): ReadTool {
  const parsed = parseJson(tool.kind === 'function' ? tool.parameters : tool.json);
  if ('mistake' in parsed) return { problem: describeMistake(parsed.mistake) };
  if (tool.kind === 'provider') return parsed;
  const { name, description, strict } = tool;
  return {
    value: {
      type: 'function',
      function: {
        name,
        ...(description !== '' && { description }),
        parameters: parsed.value,
        ...(strict !== null && { strict }),
      },
    },
  };
}

/** What the contract rejects in one tool; null if nothing. */
function issueOf(tool: DraftTool, value: unknown): string | null {
  if (tool.kind === 'provider' && toolFunctionOf(value) !== null) return 'Add a function with its own fields instead';
  if (tool.kind === 'function' && tool.name === '') return 'Enter a name';
  const issues = toolList.element.safeParse(value).error?.issues ?? [];
  const [issue] = issues.flatMap((one) =>
    one.code === 'invalid_union' ? (one.errors[tool.kind === 'function' ? 1 : 2] ?? []) : [one],
  );
  if (!issue) return null;
  const field = { name: 'The name', parameters: 'The schema' }[String(issue.path[1] ?? '')] ?? 'The tool';
  return `${field} ${issue.code === 'invalid_type' ? 'must be a JSON object' : issue.message}`;
}

type ReadTool = { value: unknown } | { problem: string };

/** Tools never change, and a schema of 100 KB takes longer to check than a key press. */
const checked = new WeakMap<DraftTool, ReadTool>();

function checkTool(tool: DraftTool): ReadTool {
  let result = checked.get(tool);
  if (!result) {
    result = readTool(tool);
    const problem = 'value' in result ? issueOf(tool, result.value) : null;
    if (problem !== null) result = { problem };
    checked.set(tool, result);
  }
  return result;
}

/** The tools as a request sends them, and the problems of those that it can't. */
function checkTools(list: readonly DraftTool[]): { values: unknown[]; problems: ToolProblem[] } {
  const names = new Set<string>();
  const values: unknown[] = [];
  const problems: ToolProblem[] = [];
  for (const tool of list) {
    const result = checkTool(tool);
    const name = tool.kind === 'function' ? tool.name : null;
    if ('problem' in result) problems.push({ toolId: tool.id, problem: result.problem });
    else if (name !== null && names.has(name))
      problems.push({ toolId: tool.id, problem: 'Another tool has this name' });
    else values.push(result.value);
    if (name !== null) names.add(name);
  }
  if (list.length > maxTools) problems.push({ toolId: null, problem: `At most ${maxTools} tools` });
  return { values, problems };
}

interface ToolConfiguration {
  tools?: unknown[];
  tool_choice?: unknown;
  parallel_tool_calls?: boolean;
}

/** The part of the `configuration` that a draft's tools make. Tools with problems are left out. */
export function readTools({ tools: list = [], toolChoice: choice = null, parallelToolCalls = null }: DraftTools): {
  configuration: ToolConfiguration;
  problems: ToolProblem[];
} {
  if (list.length === 0) return { configuration: {}, problems: [] };
  const { values, problems } = checkTools(list);
  const configuration: ToolConfiguration = {
    tools: values,
    ...(parallelToolCalls !== null && { parallel_tool_calls: parallelToolCalls }),
  };
  if (choice === null) return { configuration, problems };
  const withChoice = { ...configuration, tool_choice: choice };
  const issue = toolChoice.safeParse(choice).success ? toolChoiceIssue(withChoice) : 'is invalid';
  if (issue === null) return { configuration: withChoice, problems };
  // A tool with a problem explains why its name is unknown.
  return {
    configuration,
    problems: problems.length > 0 ? problems : [{ toolId: null, problem: `tool_choice ${issue}` }],
  };
}

function writeTool(value: unknown): DraftTool {
  const definition = toolFunctionOf(value);
  if (definition === null) return { kind: 'provider', id: crypto.randomUUID(), json: JSON.stringify(value, null, 2) };
  const { name, description, parameters, strict } = definition;
  return newTool({
    name,
    description: description ?? '',
    parameters: JSON.stringify(parameters ?? {}, null, 2),
    strict: strict ?? null,
  });
}

/** The draft's tools that produce this configuration, and the rest of the configuration. Tools keep the mock and the library's version of those with their names. */
export function writeTools(
  sent: Readonly<Record<string, unknown>> | null,
  before: readonly DraftTool[] = [],
): { tools: Required<DraftTools>; rest: Record<string, unknown> | null } {
  if (sent === null) return { tools: { tools: [], toolChoice: null, parallelToolCalls: null }, rest: null };
  const { tools: list, tool_choice: choice, parallel_tool_calls: parallel, ...rest } = sent;
  const known = new Map(before.flatMap((tool) => (tool.kind === 'function' ? [[tool.name, tool]] : [])));
  const written = Array.isArray(list) ? list.map(writeTool) : [];
  return {
    tools: {
      tools: written.map((tool) => {
        const earlier = tool.kind === 'function' ? known.get(tool.name) : undefined;
        return earlier ? { ...tool, mock: earlier.mock, source: earlier.source ?? null } : tool;
      }),
      toolChoice: choice ?? null,
      parallelToolCalls: typeof parallel === 'boolean' ? parallel : null,
    },
    rest,
  };
}

/** The choice after a tool has got another name, or null for the name of a removed tool. */
export function renamedChoice(choice: unknown, name: string, next: string | null): unknown {
  if (chosenFunction({ tool_choice: choice }) !== name) return choice ?? null;
  return next === null ? null : { type: 'function', function: { name: next } };
}

const noTools: readonly DraftTool[] = [];

/** Changes a tool, or removes it with null. The choice of a tool follows its name. */
export function changeTool(before: DraftTools, toolId: string, change: Partial<DraftTool> | null): DraftTools {
  const { tools = noTools, toolChoice: choice } = before;
  const tool = tools.find(({ id }) => id === toolId);
  if (!tool) return before;
  const next = change && ({ ...tool, ...change } as DraftTool);
  const name = next?.kind === 'function' ? next.name : null;
  const isRenamed = tool.kind === 'function' && tool.name !== '' && tool.name !== name;
  return {
    ...before,
    tools: tools.flatMap((one) => (one.id === toolId ? (next ?? []) : one)),
    ...(isRenamed && { toolChoice: renamedChoice(choice, tool.name, name) }),
  };
}

/** What the tools return for calls, by their names. */
export function mocksOf(tools: readonly DraftTool[] | undefined): ReadonlyMap<string, ToolMock> {
  return new Map(
    (tools ?? []).flatMap((tool) => (tool.kind === 'function' && tool.mock !== null ? [[tool.name, tool.mock]] : [])),
  );
}
