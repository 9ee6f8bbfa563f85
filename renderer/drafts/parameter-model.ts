import {
  configuration,
  type Configuration,
  type NamedParameter,
  namedParameters,
  reservedParameters,
  withoutReserved,
} from '../../shared/contract/completions.ts';
import type { Model } from '../../shared/contract/providers.ts';
import { withoutSeparators } from '../components/format.ts';
import type { Draft } from '../stores/playground-drafts.ts';
import { describeMistake, parseJson } from './json-text.ts';
import { type DraftTool, type DraftTools, readTools, toolsField, writeTools } from './tool-drafts.ts';

type Read = { value: unknown } | { problem: string };

interface ParameterField {
  placeholder: string;
  /** Its effect, for the tooltip. */
  meaning: string;
  read(text: string): Read;
}

function readNumber(min: number, max: number, isWhole: boolean): (text: string) => Read {
  return (text) => {
    const value = Number(withoutSeparators(text).replace(',', '.'));
    if (!Number.isFinite(value)) return { problem: 'Enter a number' };
    if (isWhole && !Number.isInteger(value)) return { problem: 'Enter a whole number' };
    if (value < min) return { problem: `Must be ${min.toLocaleString('en')} or more` };
    if (value > max) return { problem: `Must be ${max.toLocaleString('en')} or less` };
    return { value };
  };
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', ',': ',', ' ': ' ', '\\': '\\' };

/** Reads `\n, END` as two stops: a comma separates, and `\n`, `\t`, `\r`, `\,`, `\ ` and `\\` are escapes. */
export function readStops(text: string): string[] {
  const stops = [''];
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') {
      index += 1;
      stops[stops.length - 1] += escapes[text.charAt(index)] ?? `\\${text.charAt(index)}`;
    } else if (character === ',') {
      stops.push('');
      while (text.charAt(index + 1) === ' ') index += 1;
    } else {
      stops[stops.length - 1] += character;
    }
  }
  return stops.filter((stop) => stop !== '');
}

/** The field's text that `readStops` reads back as these stops. */
export function writeStops(stops: readonly string[]): string {
  return stops
    .map((stop) =>
      stop
        .replaceAll('\\', '\\\\')
        .replaceAll(',', '\\,')
        .replace(/^ /, '\\ ')
        .replaceAll('\n', '\\n')
        .replaceAll('\t', '\\t')
        .replaceAll('\r', '\\r'),
    )
    .join(', ');
}

function readStop(text: string): Read {
  const stops = readStops(text);
  if (stops.length === 0) return { problem: 'Enter a stop sequence' };
  return stops.length > 16 ? { problem: 'At most 16 stop sequences' } : { value: stops };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A bare schema gets the name `answer`; one inside `{"name", "schema", ...}` is sent unchanged. */
function readResponseFormat(text: string): Read {
  if (text === 'text' || text === 'json_object') return { value: { type: text } };
  const parsed = parseJson(text);
  if ('mistake' in parsed) return { problem: describeMistake(parsed.mistake) };
  const { value } = parsed;
  if (!isObject(value)) return { problem: 'The schema must be a JSON object' };
  return {
    value: {
      type: 'json_schema',
      json_schema: isObject(value['schema']) ? value : { name: 'answer', schema: value },
    },
  };
}

function writeResponseFormat(format: { type: string; json_schema?: Record<string, unknown> }): string {
  if (format.type !== 'json_schema' || !format.json_schema) return format.type;
  const { name, schema, ...rest } = format.json_schema;
  const isBare = name === 'answer' && Object.keys(rest).length === 0;
  return JSON.stringify(isBare ? schema : format.json_schema, null, 2);
}

export const parameterFields: Record<NamedParameter, ParameterField> = {
  max_tokens: {
    placeholder: 'Default',
    meaning: 'Max output tokens',
    read: readNumber(1, 10_000_000, true),
  },
  temperature: {
    placeholder: 'Default',
    meaning: '0 is the most predictable, 2 the most varied',
    read: readNumber(0, 2, false),
  },
  top_p: {
    placeholder: 'Default',
    meaning: 'Sample from the most likely tokens, up to this total probability',
    read: readNumber(0, 1, false),
  },
  top_k: {
    placeholder: 'Default',
    meaning: 'Sample from the k most likely tokens',
    read: readNumber(1, 1_000_000, true),
  },
  stop: {
    placeholder: 'None',
    meaning: String.raw`The answer ends before any of these sequences. Separate them with commas. \n is a new line`,
    read: readStop,
  },
  seed: {
    placeholder: 'Random',
    meaning: 'The same seed repeats an answer, if the provider supports it',
    read: readNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true),
  },
  frequency_penalty: {
    placeholder: 'Default',
    meaning: 'Above 0 reduces repetition',
    read: readNumber(-2, 2, false),
  },
  presence_penalty: {
    placeholder: 'Default',
    meaning: 'Above 0 encourages new topics',
    read: readNumber(-2, 2, false),
  },
  reasoning_effort: {
    placeholder: 'Default',
    meaning: 'How much the model reasons before it answers',
    read: (text) => ({ value: text }),
  },
  response_format: {
    placeholder: 'Default',
    meaning: 'Text, JSON, or JSON that follows a schema',
    read: readResponseFormat,
  },
};

/** Parses one field; null for an empty one, which isn't sent. */
export function readParameter(name: NamedParameter, text: string): Read | null {
  return text.trim() === '' ? null : parameterFields[name].read(name === 'stop' ? text : text.trim());
}

/** Parses the JSON object of extra parameters; null when the field is empty. */
export function readOtherParameters(text: string): { value: Record<string, unknown> } | { problem: string } | null {
  if (text.trim() === '') return null;
  const parsed = parseJson(text);
  if ('mistake' in parsed) return { problem: describeMistake(parsed.mistake) };
  const { value } = parsed;
  if (!isObject(value)) return { problem: 'Must be a JSON object, such as {"min_p": 0.05}' };
  const keys = Object.keys(value);
  const reserved = keys.find((key) => (reservedParameters as readonly string[]).includes(key));
  if (reserved) return { problem: `${reserved} is set by Touchstone and can't be configured` };
  const named = keys.find((key) => (namedParameters as readonly string[]).includes(key));
  if (named) return { problem: `Set ${named} in its own field above` };
  return { value };
}

export interface ParameterProblem {
  name: string;
  problem: string;
}

/** The `configuration` that a run of this draft sends, and the problems of fields that can't be sent. */
export function readConfiguration(
  draft: Pick<Draft, 'parameters' | 'otherParameters'> & DraftTools,
  model: Model | null,
): { configuration: Configuration; problems: ParameterProblem[] } {
  const values: Record<string, unknown> = {};
  const problems: ParameterProblem[] = [];
  for (const name of namedParameters) {
    if (unsupportedReason(name, model)) continue;
    const read = readParameter(name, draft.parameters[name] ?? '');
    if (read && 'value' in read) values[name] = read.value;
    if (read && 'problem' in read) problems.push({ name, problem: read.problem });
  }
  const others = readOtherParameters(draft.otherParameters);
  if (others && 'value' in others) Object.assign(values, others.value);
  if (others && 'problem' in others) problems.push({ name: 'Extra parameters', problem: others.problem });
  const tools = readTools(draft);
  const twice = Object.keys(tools.configuration).find((key) => Object.hasOwn(values, key));
  if (twice) problems.push({ name: 'Extra parameters', problem: `Set ${twice} under Tools only` });
  problems.push(...tools.problems.map(({ problem }) => ({ name: toolsField, problem })));
  const parsed = configuration.safeParse({ ...values, ...tools.configuration });
  if (parsed.success) return { configuration: parsed.data, problems };
  // The fields and the tools are valid, so it is an extra parameter that has a meaning here.
  const [issue] = parsed.error.issues;
  problems.push({ name: 'Extra parameters', problem: `${issue?.path.join('.')} ${issue?.message}` });
  return { configuration: {}, problems };
}

/** Why the model doesn't support a parameter; null when it does, or when the model is unknown. */
export function unsupportedReason(name: NamedParameter, model: Model | null): string | null {
  const parameter = model?.parameters.find((candidate) => candidate.name === name);
  if (!parameter || parameter.isAccepted) return null;
  const reason = parameter.reason ?? 'not supported by this model';
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
}

/** The texts of the fields that produce this configuration. Tools are among the other parameters. */
export function writeParameters(sent: Record<string, unknown> | null): Pick<Draft, 'parameters' | 'otherParameters'> {
  const parameters: Draft['parameters'] = {};
  const others: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(withoutReserved(sent ?? {}))) {
    if (value === null || value === undefined) continue;
    if ((namedParameters as readonly string[]).includes(key))
      parameters[key as NamedParameter] = writeParameter(key as NamedParameter, value);
    else others[key] = value;
  }
  return { parameters, otherParameters: Object.keys(others).length === 0 ? '' : JSON.stringify(others, null, 2) };
}

/** The fields and tools of a draft that produce this configuration. Tools keep the mocks of the tools before them. */
export function writeConfiguration(
  sent: Record<string, unknown> | null,
  before: readonly DraftTool[] = [],
): Pick<Draft, 'parameters' | 'otherParameters'> & Required<DraftTools> {
  const { tools, rest } = writeTools(sent, before);
  return { ...writeParameters(rest), ...tools };
}

function writeParameter(name: NamedParameter, value: unknown): string {
  if (name === 'stop') return writeStops(Array.isArray(value) ? value.map(String) : [String(value)]);
  if (name !== 'response_format') return String(value);
  return writeResponseFormat(value as Parameters<typeof writeResponseFormat>[0]);
}
