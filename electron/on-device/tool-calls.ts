import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/app-error.ts';
import type { Configuration } from '../../shared/contract/completions.ts';
import { type Message, textOfMessage } from '../../shared/contract/messages.ts';
import { chosenFunction, forcesToolCall, type ToolFunction, toolFunctions } from '../../shared/contract/tools.ts';
import { describeSchemaIssue, isObject, type JsonSchema, schemaMapKeywords } from '../../shared/json-schema.ts';
import { type Grammar, schemaGrammar } from '../../shared/schema-grammar.ts';
import type { ToolCallModelPart } from '../providers/provider.ts';
import type { EngineRequest } from './engine-process.ts';

/** The functions that the model may call now. */
export function offeredTools(configuration: Configuration): ToolFunction[] {
  if (configuration.tool_choice === 'none') return [];
  const chosen = chosenFunction(configuration);
  return toolFunctions(configuration).filter(({ name }) => chosen === null || name === chosen);
}

/** Keywords with values in place of schemas. */
const valueKeywords = new Set(['enum', 'const', 'default', 'examples']);

/** A schema inside of another one, or an object of schemas by names: their references begin at their new position. */
function moved(value: unknown, pointer: string, isByName = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => moved(inner, pointer));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    // A name may be that of a keyword.
    if (isByName) return [key, moved(inner, pointer)];
    if (valueKeywords.has(key)) return [key, inner];
    if (key === '$ref' && typeof inner === 'string' && inner.startsWith('#'))
      return [key, `#${pointer}${inner.slice(1)}`];
    return [key, moved(inner, pointer, schemaMapKeywords.has(key))];
  });
  return Object.fromEntries(entries) as JsonSchema;
}

const argumentsPointer = (index: number) => `/anyOf/${index}/properties/arguments`;

/** The schema of one call as the model writes it. */
function callSchema(tools: readonly ToolFunction[]): JsonSchema {
  return {
    anyOf: tools.map(({ name, parameters }, index) => ({
      type: 'object',
      properties: {
        name: { const: name },
        arguments: moved({ type: 'object', ...parameters }, argumentsPointer(index)),
      },
      required: ['name', 'arguments'],
      additionalProperties: false,
    })),
  };
}

/** The grammar of a call that the model has to make; null if it may answer. Throws 400 for schemas that no grammar can express. */
export function callGrammar(configuration: Configuration): Grammar | null {
  if (!forcesToolCall(configuration)) return null;
  const tools = offeredTools(configuration);
  const result = schemaGrammar(callSchema(tools));
  if ('grammar' in result) return result.grammar;
  const names = toolFunctions(configuration).map(({ name }) => name);
  const details = result.problems.map(({ pointer, keyword, issue }) => {
    const [, , index = '0'] = pointer.split('/');
    const inner = pointer.slice(argumentsPointer(Number(index)).length);
    return {
      field: `configuration.tools[${names.indexOf(tools[Number(index)]?.name ?? '')}].function.parameters`,
      issue: describeSchemaIssue({ pointer: inner, issue: `"${keyword}" ${issue}` }),
    };
  });
  const [first] = details;
  throw new AppError('invalid_request', `${first!.field}: ${first!.issue}`, { details });
}

/** The system message with the tools and the form of a call. */
export function withToolInstructions(systemMessage: string | null, configuration: Configuration): string | null {
  const tools = offeredTools(configuration);
  if (tools.length === 0) return systemMessage;
  const form = '{"name": "...", "arguments": {...}}';
  const lines = [
    'These tools exist:',
    ...tools.map(({ name, description, parameters }) =>
      JSON.stringify({ name, ...(description && { description }), parameters }),
    ),
    forcesToolCall(configuration)
      ? `Call one of them. Answer only with JSON in this form: ${form}`
      : `To call a tool, answer only with JSON in this form: ${form}\nAnswer in words if you need no tool.`,
  ];
  return [...(systemMessage ? [systemMessage] : []), lines.join('\n')].join('\n\n');
}

/** Messages as texts: calls in the form in which the model writes them, results as the user's next message. */
export function toEngineMessages(messages: readonly Message[]): EngineRequest['messages'] {
  const names = new Map<string, string>();
  return messages.map((message) => {
    const { role, content } = message;
    if (role === 'tool') {
      const results = content.flatMap((part) => {
        if (part.type !== 'toolResult') return [];
        const name = names.get(part.toolCallId) ?? part.toolCallId;
        return [`${part.isError ? 'Error' : 'Result'} of ${name}: ${part.content}`];
      });
      return { role: 'user', text: results.join('\n') };
    }
    const calls = content.flatMap((part) => {
      if (part.type !== 'toolCall') return [];
      names.set(part.id, part.name);
      return [`{"name": ${JSON.stringify(part.name)}, "arguments": ${part.arguments.trim() || '{}'}}`];
    });
    return { role, text: [textOfMessage(message), ...calls].filter((text) => text !== '').join('\n') };
  });
}

const callStart = /^\s*\{\s*"name"\s*:\s*"([a-zA-Z0-9_-]{1,64})"\s*,\s*"arguments"\s*:\s*\{/;
/** The beginning of a call isn't longer; neither is the white space of a model that repeats itself. */
const maxStartCharacters = 300;

/** Reads an answer that may be a call, as it grows. */
export class CallReader {
  readonly #names: ReadonlySet<string>;
  #start: string | null = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #state: 'undecided' | 'text' | 'arguments' | 'ended' = 'undecided';

  constructor(tools: readonly ToolFunction[]) {
    this.#names = new Set(tools.map(({ name }) => name));
    if (tools.length === 0) this.#state = 'text';
  }

  /** Whether the answer is a complete call. */
  get isCall(): boolean {
    return this.#state === 'ended';
  }

  /** The text for the caller, and the parts of a call. What follows a call is left out. */
  take(text: string): { text: string; parts: ToolCallModelPart[] } {
    if (this.#state === 'text') return { text, parts: [] };
    if (this.#state !== 'undecided') return { text: '', parts: this.#takeArguments(text) };
    this.#start += text;
    const start = this.#start!;
    const match = callStart.exec(start);
    if (match && this.#names.has(match[1]!)) {
      this.#state = 'arguments';
      const begin: ToolCallModelPart = {
        type: 'tool-call-start',
        index: 0,
        id: `call_${randomUUID()}`,
        name: match[1]!,
      };
      return { text: '', parts: [begin, ...this.#takeArguments(start.slice(match[0].length - 1))] };
    }
    const first = start.trimStart()[0];
    const isText = match !== null || start.length > maxStartCharacters || (first !== undefined && first !== '{');
    return isText ? this.end() : { text: '', parts: [] };
  }

  /** The text that was waiting for its rest. */
  end(): { text: string; parts: ToolCallModelPart[] } {
    const text = this.#state === 'undecided' ? this.#start! : '';
    if (this.#state === 'undecided') this.#state = 'text';
    return { text, parts: [] };
  }

  #takeArguments(text: string): ToolCallModelPart[] {
    if (this.#state === 'ended') return [];
    let position = 0;
    while (position < text.length && this.#state === 'arguments') this.#step(text[position++]!);
    const parts: ToolCallModelPart[] = [{ type: 'tool-call-delta', index: 0, text: text.slice(0, position) }];
    if (this.isCall) parts.push({ type: 'tool-call-end', index: 0 });
    return parts;
  }

  #step(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
    } else if (character === '"') this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') this.#depth -= 1;
    if (this.#depth === 0) this.#state = 'ended';
  }
}
