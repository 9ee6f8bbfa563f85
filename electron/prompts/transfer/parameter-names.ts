import { chosenFunction, toolFunctionOf } from '../../../shared/contract/tools.ts';
import type { ReadMap } from './bounded-values.ts';
import { isMap, mapIn, plain, textIn } from './bounded-values.ts';
import { type Draft, note } from './draft.ts';

/** Other tools' names of our parameters. */
const aliases: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'top_k',
  maxOutputTokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  maxTokens: 'max_tokens',
  stopSequences: 'stop',
  stop_sequences: 'stop',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  reasoningEffort: 'reasoning_effort',
};

/** Our name of a setting. */
export function parameterName(key: string): string {
  return aliases[key] ?? key;
}

/** Fields that aren't parameters: the caller, the transport, and what the service itself decides. */
const ours = new Set([
  'model',
  'input',
  'messages',
  'stream',
  'store',
  'prompt',
  'system',
  'instructions',
  'metadata',
  'user',
  'n',
]);
const secrets = /api[_-]?key|token$|secret|password|authorization|headers/i;
const tools = /tools?$|tool_choice|tool[_-]?calls?|functions?$|function_?call|callbacks?$|mcp|plugins?$|^include$/i;
const addresses = /base[_-]?ur[il]|(?:api|server|proxy)[_-]?(?:base|host|ur[il])|endpoint|proxy/i;
const active = /^\s*(?:file:\/\/|exec:|package:)/i;

/** Why a setting's name keeps it out of prompts and files; null if it is allowed. */
function nameRejection(key: string): string | null {
  if (secrets.test(key)) return 'may hold a secret; prompts never store secrets';
  if (tools.test(key)) return 'may be a tool';
  return addresses.test(key) ? 'may be a server address' : null;
}

/** The same for a setting's value, at any depth. The fields of a JSON schema may have any name. */
function contentRejection(content: unknown, hasFreeNames: boolean): string | null {
  const rest: unknown[] = [content];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string' && active.test(value)) return 'Refers to a file or a program';
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Array.isArray(value) ? [] : Object.entries(value)) {
      const reason = hasFreeNames ? null : nameRejection(key);
      // promptfoo loads the target of any reference.
      const isForeign = key === '$ref' && typeof item === 'string' && !item.startsWith('#');
      if (isForeign) return 'Refers to a file or a program';
      if (reason !== null) return `Contains "${key.slice(0, 100)}", which ${reason}`;
      rest.push(item);
    }
    if (Array.isArray(value)) rest.push(...value.toReversed());
  }
  return null;
}

/**
 * Why tools are left out; null for functions, which only describe what a model may call. A provider executes its own tools, such as
 * its access to a server.
 */
function toolsRejection(value: unknown): string | null {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  if (list.some((tool) => toolFunctionOf(tool) === null))
    return "Only functions are stored, not a provider's own tools";
  for (const tool of list) {
    const { name, description, parameters, strict, ...others } = toolFunctionOf(tool)!;
    const { function: _, ...outer } = tool as Record<string, unknown>;
    const isFlat = !Object.hasOwn(tool as object, 'function');
    // The schema may have properties with any name.
    const rejection = contentRejection([name, description, parameters, strict], true);
    const otherRejection = contentRejection(isFlat ? others : [others, outer], false);
    if (rejection !== null || otherRejection !== null) return rejection ?? otherRejection;
  }
  return null;
}

/** Why a setting is left out of imports and exports; null if it is allowed. `value` is plain. */
export function settingRejection(key: string, value: unknown): string | null {
  if (secrets.test(key)) return 'May contain a secret; prompts never store secrets';
  if (key === 'tools') return toolsRejection(value);
  if (key === 'tool_choice' && (typeof value === 'string' || chosenFunction({ tool_choice: value }) !== null))
    return null;
  if (key === 'parallel_tool_calls' && typeof value === 'boolean') return null;
  if (tools.test(key)) return "Prompts can't contain tools";
  if (addresses.test(key)) return "Prompts can't contain server addresses";
  if (ours.has(key)) return 'Set by Touchstone';
  return contentRejection(value, key === 'response_format' || key === 'text');
}

/**
 * Adds settings to a draft, under our names. Skips settings with secrets, tools or addresses, and those that the service sets
 * itself, each with an entry in the report.
 */
export function takeParameters(
  draft: Draft,
  settings: ReadMap,
  at: { readonly field: string; readonly lineOf?: (key: string) => number | null },
): void {
  for (const [key, value] of settings) {
    const line = at.lineOf?.(key) ?? null;
    const field = at.field === '' ? key : `${at.field}.${key}`;
    const isEmpty =
      value === null || (isMap(value) && value.size === 0) || (Array.isArray(value) && value.length === 0);
    if (isEmpty) continue;
    const name = parameterName(key);
    const rejection = settingRejection(name, plain(value));
    if (rejection !== null) note(draft, 'refused', field, rejection, line);
    else if (key === 'text' && isMap(value)) takeTextFormat(draft, value, field, line);
    else if (key === 'reasoning' && isMap(value) && textIn(value, 'effort') !== null) {
      draft.parameters.set('reasoning_effort', textIn(value, 'effort'));
      note(draft, 'translated', field, 'Stored as reasoning_effort', line);
    } else {
      draft.parameters.set(name, plain(value));
      if (name === key) note(draft, 'taken', field, `Parameter ${key}`, line);
      else note(draft, 'translated', field, `Stored as ${name}`, line);
    }
  }
}

/** The Responses API has the format of the answer in `text.format`. */
function takeTextFormat(draft: Draft, text: ReadMap, field: string, line: number | null): void {
  const format = mapIn(text, 'format');
  const type = textIn(format, 'type');
  if (type === 'text') return;
  if (type === 'json_object') draft.parameters.set('response_format', { type });
  else if (type === 'json_schema' && isMap(format?.get('schema'))) {
    const { type: _, ...schema } = plain(format) as Record<string, unknown>;
    draft.parameters.set('response_format', { type, json_schema: schema });
  } else return note(draft, 'refused', field, 'Unsupported text format', line);
  note(draft, 'translated', field, 'Stored as response_format', line);
}
