import type { TemplateVariable, VariableKind } from '../../shared/prompt-template-variables.ts';
import type { Draft } from '../stores/playground-drafts.ts';
import { readFileValues } from './file-values.ts';
import { describeMistake, parseJson } from './json-text.ts';

/** One field of the variables panel. */
export interface VariableField {
  /** The path to the value, `customer.name`; the key of its text in the draft. */
  name: string;
  kind: VariableKind;
  /** Fields that the items of a list are used with. */
  itemFields: readonly string[];
  isJson: boolean;
  text: string;
  isFilled: boolean;
  /** Why the value can't be sent; null when it can. */
  problem: string | null;
  positions: TemplateVariable['positions'];
}

export type VariableDraft = Pick<Draft, 'values' | 'jsonNames'>;

/** The text of a field in the draft. A variable may be called `constructor`. */
export function fieldText(values: VariableDraft['values'], name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
}

function isInside(name: string, outer: string): boolean {
  return name.startsWith(`${outer}.`);
}

function problemOf(text: string, kind: VariableKind): string | null {
  if (kind === 'file' || kind === 'files') return readFileValues(text) === null ? 'Must be a file' : null;
  const parsed = parseJson(text);
  if ('mistake' in parsed) return describeMistake(parsed.mistake);
  if (kind === 'text' || kind === 'condition' || (typeof parsed.value === 'object' && parsed.value !== null))
    return null;
  return kind === 'list'
    ? 'Must be a JSON list, such as ["a", "b"]'
    : 'Must be a JSON object, such as {"name": "Mara"}';
}

/**
 * The fields for the variables of a template, in the order of their first use. A variable that is used as a whole and by its
 * parts, `{{customer}}` and `{{customer.name}}`, has one field, for JSON.
 */
export function readFields(variables: readonly TemplateVariable[], draft: VariableDraft): VariableField[] {
  const whole = variables.filter(({ name }) => !variables.some((other) => isInside(name, other.name)));
  return whole.map(({ name, kind: use, itemFields, positions }) => {
    const hasParts = variables.some((other) => isInside(other.name, name));
    const kind = hasParts && use !== 'list' ? 'object' : use;
    const isJson = (kind !== 'text' && kind !== 'condition') || draft.jsonNames.includes(name);
    const text = fieldText(draft.values, name);
    const isFilled = text.trim() !== '';
    const problem = isFilled && isJson ? problemOf(text, kind) : null;
    return { name, kind, itemFields, isJson, text, isFilled, problem, positions };
  });
}

type Values = Record<string, unknown>;

function setAt(values: Values, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length === 0) {
    values[name] = value;
    return;
  }
  const inner = Object.hasOwn(values, name) ? values[name] : undefined;
  const next: Values = typeof inner === 'object' && inner !== null ? (inner as Values) : {};
  values[name] = next;
  setAt(next, rest, value);
}

/** What a run sends as `replacements`: filled fields only, nested by their paths. */
export function readReplacements(fields: readonly VariableField[]): Values {
  // An object without a prototype accepts a variable named `__proto__`.
  const values = Object.create(null) as Values;
  for (const { name, text, isFilled, isJson, problem } of fields) {
    if (!isFilled || problem !== null) continue;
    setAt(values, name.split('.'), isJson ? (JSON.parse(text) as unknown) : text);
  }
  return values;
}

/** A value by its path, or by a key that equals the whole path: the template language accepts both. */
function valueAt(values: Values | null, name: string): unknown {
  if (values && Object.hasOwn(values, name)) return values[name];
  let value: unknown = values;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Values)[part];
  }
  return value;
}

/** The texts of the fields that send `replacements` again. */
export function writeFields(variables: readonly TemplateVariable[], replacements: Values | null): VariableDraft {
  const values: Record<string, string> = {};
  const jsonNames: string[] = [];
  for (const { name } of readFields(variables, { values: {}, jsonNames: [] })) {
    const value = valueAt(replacements, name);
    if (value === undefined) continue;
    if (typeof value !== 'string') jsonNames.push(name);
    values[name] = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  }
  return { values, jsonNames };
}

/** The names inside a list's items or an object, by its template and by its value. */
export function memberNames(field: VariableField): string[] {
  const names = new Set(field.itemFields);
  if (field.isJson && field.isFilled && field.problem === null) {
    const value: unknown = JSON.parse(field.text);
    const sample: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof sample === 'object' && sample !== null && !Array.isArray(sample))
      Object.keys(sample).forEach((name) => names.add(name));
  }
  return [...names];
}

/** Fields that a rendering left empty. A variable that is only tested may be empty. */
export function unfilledFields(fields: readonly VariableField[], unfilled: readonly string[]): VariableField[] {
  return fields.filter(
    ({ name, isFilled }) => !isFilled && unfilled.some((empty) => empty === name || isInside(name, empty)),
  );
}
