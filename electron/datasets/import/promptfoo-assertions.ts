import { plain, type ReadMap, textIn, valueText } from '../../prompts/transfer/bounded-values.ts';
import { type RowCheck, scriptCheck, sharedCheck, textCheck } from './row-checks.ts';
import * as scripts from './scripts.ts';

interface Assertion {
  readonly type: string;
  readonly isInverted: boolean;
  readonly value: unknown;
  readonly threshold: number | null;
  readonly common: { readonly name?: string; readonly weight?: number; readonly not?: boolean };
  readonly fields: ReadMap;
}

const numberIn = (map: ReadMap, key: string): number | null => {
  const value = Number(map.get(key) ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
};

function read(fields: ReadMap): Assertion {
  const given = textIn(fields, 'type') ?? '';
  const isInverted = given.startsWith('not-');
  const metric = textIn(fields, 'metric');
  const weight = numberIn(fields, 'weight');
  return {
    type: isInverted ? given.slice(4) : given,
    isInverted,
    value: plain(fields.get('value') ?? null),
    threshold: numberIn(fields, 'threshold'),
    common: {
      ...(metric && { name: metric.slice(0, 200) }),
      ...(weight !== null && { weight: Math.min(1000, Math.max(0, weight)) }),
      ...(isInverted && { not: true }),
    },
    fields,
  };
}

type Mapper = (assertion: Assertion) => RowCheck | null;

const text = ({ value }: Assertion) => valueText(value) ?? '';
/** Lists are written with commas, too. */
const list = ({ value }: Assertion) =>
  Array.isArray(value)
    ? value.map((item) => valueText(item) ?? '')
    : String(value ?? '')
        .split(',')
        .map((item) => item.trim());
const label = ({ type, isInverted }: Assertion) => (isInverted ? `not-${type}` : type);

const equals: Mapper = (assertion) =>
  typeof assertion.value === 'object' && assertion.value !== null
    ? scriptCheck(label(assertion), assertion.value, scripts.equalJson, assertion.common)
    : textCheck(label(assertion), text(assertion), 'equals', assertion.common);

const contains =
  (ignoreCase: boolean): Mapper =>
  (assertion) =>
    textCheck(label(assertion), text(assertion), 'contains', {
      ...assertion.common,
      ...(ignoreCase && { ignoreCase }),
    });

const ofList =
  (condition: typeof scripts.containsAll, ignoreCase: boolean): Mapper =>
  (assertion) =>
    scriptCheck(label(assertion), list(assertion), (value) => condition(value, ignoreCase), assertion.common);

const withText =
  (condition: (expected: string) => string): Mapper =>
  (assertion) =>
    scriptCheck(label(assertion), text(assertion), condition, assertion.common);

/** A schema in JSON or as an object. */
const isJson: Mapper = (assertion) => {
  const { value, common } = assertion;
  let schema: unknown = value;
  if (typeof value === 'string' && value.trim() !== '') {
    try {
      schema = JSON.parse(value);
    } catch {
      return null;
    }
  }
  if (schema === null || schema === '') schema = {};
  if (typeof schema !== 'object' || Array.isArray(schema)) return null;
  const check = { kind: 'jsonSchema', ...common, schema: schema as Record<string, unknown> } as const;
  // Different schemas become different checks.
  return sharedCheck(label(assertion), schema, check);
};

/** At most so much: the value differs by row in a script, and else the check has it. */
const limit =
  (kind: 'latency' | 'cost', key: 'maxMs' | 'maxCost', actual: string): Mapper =>
  (assertion) => {
    const max = assertion.threshold ?? Number(assertion.value ?? Number.NaN);
    if (!Number.isFinite(max) || max < 0) return null;
    const check = { kind, ...assertion.common, [key]: max } as never;
    return sharedCheck(label(assertion), max, check, (value) => `${actual} <= ${value}`);
  };

const wordCount: Mapper = (assertion) => {
  const { value, common } = assertion;
  const { min, max } =
    typeof value === 'object' && value !== null
      ? (value as { min?: number; max?: number })
      : { min: Number(value), max: Number(value) };
  if (![min, max].some(Number.isFinite)) return null;
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  return sharedCheck(label(assertion), range, { kind: 'length', ...common, unit: 'words', ...range });
};

const javascript: Mapper = (assertion) => {
  const code = text(assertion);
  if (code.trim() === '' || /^\s*file:\/\//.test(code)) return null;
  const script = scripts.promptfooScript(code, assertion.threshold);
  const common = { name: label(assertion), ...assertion.common };
  return {
    label: label(assertion),
    value: script,
    inColumn: (column) => ({
      kind: 'javascript',
      ...common,
      code: scripts.scriptInColumn(`row[${JSON.stringify(column)}]`),
    }),
    shared: () => ({ kind: 'javascript', ...common, code: script }),
  };
};

const similar: Mapper = (assertion) =>
  textCheck(label(assertion), Array.isArray(assertion.value) ? list(assertion)[0]! : text(assertion), 'similarity', {
    ...assertion.common,
    threshold: Math.min(1, Math.max(-1, assertion.threshold ?? 0.75)),
  });

const withThreshold =
  (condition: (expected: string, threshold: number) => string, standard: number): Mapper =>
  (assertion) =>
    scriptCheck(
      label(assertion),
      text(assertion),
      (value) => condition(value, assertion.threshold ?? standard),
      assertion.common,
    );

const kind =
  (name: 'refusal' | 'moderation'): Mapper =>
  (assertion) =>
    sharedCheck(label(assertion), name, { kind: name, ...assertion.common });

const mappers: Readonly<Record<string, Mapper>> = {
  equals,
  contains: contains(false),
  icontains: contains(true),
  'contains-all': ofList(scripts.containsAll, false),
  'contains-any': ofList(scripts.containsAny, false),
  'icontains-all': ofList(scripts.containsAll, true),
  'icontains-any': ofList(scripts.containsAny, true),
  'starts-with': withText(scripts.startsWith),
  'ends-with': withText(scripts.endsWith),
  regex: withText(scripts.matchesPattern),
  'is-json': isJson,
  'contains-json': (assertion) =>
    assertion.value === null || assertion.value === ''
      ? scriptCheck(label(assertion), true, () => scripts.containsJson, assertion.common)
      : null,
  javascript,
  similar,
  'similar:cosine': similar,
  latency: limit('latency', 'maxMs', 'latencyMs'),
  cost: limit('cost', 'maxCost', 'cost'),
  'word-count': wordCount,
  levenshtein: withThreshold(scripts.levenshtein, 5),
  'rouge-n': withThreshold((value, threshold) => scripts.rougeN(value, 1, threshold), 0.75),
  'is-refusal': kind('refusal'),
  moderation: kind('moderation'),
};

/** What a judge of each kind decides. `{{expected}}` is the value of the assertion. */
const rubrics: Readonly<Record<string, string>> = {
  'llm-rubric': 'Does the answer meet this rubric?\n\n{{expected}}',
  'g-eval': 'Does the answer meet these criteria?\n\n{{expected}}',
  'search-rubric': 'Does the answer meet this rubric?\n\n{{expected}}',
  'model-graded-closedqa': 'Does the answer meet this criterion?\n\n{{expected}}',
  factuality: 'Does the answer agree with these facts, even if it says more or less?\n\n{{expected}}',
  'model-graded-factuality': 'Does the answer agree with these facts, even if it says more or less?\n\n{{expected}}',
  'answer-relevance': 'Is the answer relevant to what was asked?',
};

/** `expected` is the column of the value, or the text that all rows share. */
export function rubricPrompt(type: string, expected: string): string {
  return `${(rubrics[type] ?? rubrics['llm-rubric']!).replace('{{expected}}', () => expected)}\n\nThe answer:\n{{answer}}`;
}

export const isRubric = (type: string) => Object.hasOwn(rubrics, type);

const reasons: Readonly<Record<string, string>> = {
  python: 'Is Python, which an import never runs',
  ruby: 'Is Ruby, which an import never runs',
  webhook: 'Calls a web address, which a check never does',
  human: 'Is judged by people: vote in the comparison',
  'select-best': 'Compares variants: create a judge of preferences',
  'max-score': 'Compares variants',
};

/** The check of an assertion. Rubrics are for judges, which `isRubric` tells. */
export function mapAssertion(fields: ReadMap): RowCheck | string {
  const assertion = read(fields);
  if (textIn(fields, 'transform') !== null) return 'Has a transform, which is not run';
  const mapper = Object.hasOwn(mappers, assertion.type) ? mappers[assertion.type]! : null;
  if (mapper === null) return reasons[assertion.type] ?? 'No check does this';
  return mapper(assertion) ?? 'Its value is not valid here';
}
