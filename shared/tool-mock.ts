import type { Message } from './contract/messages.ts';
import type { ToolCall, ToolMock, ToolResult } from './contract/tools.ts';
import { isObject } from './json-schema.ts';

export type MockResult = Required<Pick<ToolResult, 'content' | 'isError'>>;

/** Deeper values are never equal: a comparison must not exhaust the stack. */
const maxDepth = 100;

function isEqual(value: unknown, other: unknown, depth = 0): boolean {
  if (value === other) return true;
  if (depth > maxDepth) return false;
  if (Array.isArray(value) && Array.isArray(other))
    return value.length === other.length && value.every((item, index) => isEqual(item, other[index], depth + 1));
  if (!isObject(value) || !isObject(other)) return false;
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(value[key], other[key], depth + 1))
  );
}

/** Whether a value has all keys of an object, with these values; any other part must be equal. */
function contains(value: unknown, part: unknown, depth = 0): boolean {
  if (!isObject(part) || !isObject(value) || depth > maxDepth) return isEqual(value, part);
  return Object.entries(part).every(
    ([key, inner]) => Object.hasOwn(value, key) && contains(value[key], inner, depth + 1),
  );
}

/** The arguments of a call; undefined for a text that isn't JSON. */
function readArguments(text: string): unknown {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text);
  } catch {
    return undefined;
  }
}

/** The results of a tool in the messages of a run, in their order. */
function recordedResults(messages: readonly Message[], name: string): (MockResult & { arguments: unknown })[] {
  const parts = messages.flatMap(({ content }) => content);
  const calls = parts.flatMap((part) => (part.type === 'toolCall' && part.name === name ? [part] : []));
  const argumentsById = new Map(calls.map((call) => [call.id, readArguments(call.arguments)]));
  return parts.flatMap((part) => {
    if (part.type !== 'toolResult' || !argumentsById.has(part.toolCallId)) return [];
    const { toolCallId, content, isError } = part;
    return [{ arguments: argumentsById.get(toolCallId), content, isError }];
  });
}

/**
 * What a mock returns for a call; null where a person has to enter the result. `recorded` are the messages of the run that a recorded
 * mock names. A single result of the tool there answers every call; of several, the last one with the same arguments does.
 */
export function mockResult(
  mock: ToolMock,
  call: Pick<ToolCall, 'name' | 'arguments'>,
  recorded: readonly Message[] = [],
): MockResult | null {
  if (mock.kind === 'fixed') return { content: mock.content, isError: mock.isError };
  const given = readArguments(call.arguments);
  if (mock.kind === 'lookUp') {
    const entry = mock.entries.find((candidate) => contains(given, candidate.arguments));
    if (entry) return { content: entry.content, isError: entry.isError };
    return mock.otherwise === null ? null : { content: mock.otherwise, isError: false };
  }
  const results = recordedResults(recorded, call.name);
  const result = results.length === 1 ? results[0] : results.findLast((one) => isEqual(one.arguments, given));
  return result ? { content: result.content, isError: result.isError } : null;
}
