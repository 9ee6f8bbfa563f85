import type { ToolFunction } from './contract/tools.ts';
import { isObject, type JsonSchema, schemaLimitIssue, schemaNodes } from './json-schema.ts';

/** The forms in which tools are written. */
export type ToolForm = 'OpenAI' | 'Anthropic' | 'Gemini' | 'MCP';

/** A tool in OpenAI's form, with its form before. */
export interface ConvertedTool {
  readonly form: ToolForm;
  readonly tool: ToolFunction;
  /** The name in the text, where it had to change. */
  readonly earlierName: string | null;
}

export interface ConvertedTools {
  readonly tools: readonly ConvertedTool[];
  /** A provider's own tools, which only that provider knows. */
  readonly providerTools: readonly Record<string, unknown>[];
  /** What is no tool: its position in the text, and why, as the end of a sentence. */
  readonly skipped: readonly { readonly position: string; readonly issue: string }[];
}

/** Names of MCP and Gemini may have dots, slashes and colons, and OpenAI's may not. */
function portableName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
}

const geminiTypes = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);

/** Gemini's schemas are OpenAPI's: types in capitals, `nullable`, limits as texts, and an order of properties. */
function fromGemini(schema: JsonSchema): JsonSchema {
  // A schema over the limits is rejected anyway.
  if (schemaLimitIssue(schema) !== null) return schema;
  const copy = JSON.parse(JSON.stringify(schema)) as JsonSchema;
  for (const { schema: node } of [...schemaNodes(copy)]) {
    const { type, nullable } = node;
    if (typeof type === 'string' && geminiTypes.has(type)) node['type'] = type.toLowerCase();
    if (nullable === true && typeof node['type'] === 'string') node['type'] = [node['type'], 'null'];
    if (nullable === true && Array.isArray(node['enum'])) node['enum'] = [...(node['enum'] as unknown[]), null];
    if (typeof nullable === 'boolean') delete node['nullable'];
    if (Array.isArray(node['propertyOrdering'])) delete node['propertyOrdering'];
    for (const key of ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']) {
      if (typeof node[key] === 'string' && /^\d{1,9}$/.test(node[key])) node[key] = Number(node[key]);
    }
  }
  return copy;
}

interface Definition {
  readonly form: ToolForm;
  readonly name: unknown;
  readonly description: unknown;
  readonly parameters: unknown;
  readonly strict?: unknown;
}

/** The definition in an object of any form; null if it is none. */
function definitionOf(value: Record<string, unknown>, isGemini: boolean): Definition | null {
  const { name, description, title } = value;
  if (isGemini) {
    const schema = value['parametersJsonSchema'] ?? value['parameters_json_schema'];
    const { parameters } = value;
    const converted = schema ?? (isObject(parameters) ? fromGemini(parameters) : parameters);
    return { form: 'Gemini', name, description, parameters: converted };
  }
  if (value['type'] === 'function' || (isObject(value['function']) && value['type'] === undefined)) {
    const definition = isObject(value['function']) ? value['function'] : value;
    const { strict, parameters } = definition;
    return { form: 'OpenAI', name: definition['name'], description: definition['description'], parameters, strict };
  }
  if (value['input_schema'] !== undefined || value['type'] === 'custom')
    return { form: 'Anthropic', name, description, parameters: value['input_schema'], strict: value['strict'] };
  if (value['inputSchema'] !== undefined)
    return { form: 'MCP', name, description: description ?? title, parameters: value['inputSchema'] };
  if (value['parameters'] !== undefined && value['type'] === undefined)
    return { form: 'OpenAI', name, description, parameters: value['parameters'], strict: value['strict'] };
  return null;
}

function convert({ form, name, description, parameters, strict }: Definition): ConvertedTool | string {
  if (typeof name !== 'string' || name === '') return 'has no name';
  if (parameters != null && !isObject(parameters)) return `has a schema that is not an object`;
  const tool: ToolFunction = {
    name: portableName(name),
    ...(typeof description === 'string' && description !== '' && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(typeof strict === 'boolean' && { strict }),
  };
  return { form, tool, earlierName: tool.name === name ? null : name };
}

interface Candidate {
  readonly value: unknown;
  readonly position: string;
  readonly isGemini: boolean;
}

const declarationKeys = ['functionDeclarations', 'function_declarations'];

/** Lists and requests inside each other. */
const maxDepth = 5;

/** The objects that may be tools. A request, a response of MCP and a list have several. */
function candidatesOf(value: unknown, position: string, depth = 0): Candidate[] {
  if (Array.isArray(value) && depth < maxDepth)
    return value.flatMap((item, index) => candidatesOf(item, `${position}[${index}]`, depth + 1));
  if (!isObject(value)) return [{ value, position, isGemini: false }];
  const within = (key: string) => (position === '' ? key : `${position}.${key}`);
  const declarations = declarationKeys.find((key) => Array.isArray(value[key]));
  if (declarations !== undefined) {
    return (value[declarations] as unknown[]).map((item, index) => ({
      value: item,
      position: `${within(declarations)}[${index}]`,
      isGemini: true,
    }));
  }
  if (Array.isArray(value['tools'])) return candidatesOf(value['tools'], within('tools'), depth + 1);
  if (isObject(value['result']) && Array.isArray(value['result']['tools']))
    return candidatesOf(value['result']['tools'], within('result.tools'), depth + 1);
  return [{ value, position, isGemini: false }];
}

/** The tools of a JSON value in the form of OpenAI, Anthropic, Gemini or MCP: one, a list, a request or a response. */
export function convertTools(value: unknown): ConvertedTools {
  const tools: ConvertedTool[] = [];
  const providerTools: Record<string, unknown>[] = [];
  const skipped: { position: string; issue: string }[] = [];
  for (const { value: candidate, position, isGemini } of candidatesOf(value, '')) {
    const definition = isObject(candidate) ? definitionOf(candidate, isGemini) : null;
    const result = definition === null ? 'is not a tool' : convert(definition);
    if (typeof result !== 'string') tools.push(result);
    else if (definition === null && isObject(candidate) && typeof candidate['type'] === 'string')
      providerTools.push(candidate);
    else skipped.push({ position, issue: result });
  }
  return { tools, providerTools, skipped };
}
