import { randomUUID } from 'node:crypto';
import type { Check } from '../../../shared/contract/checks.ts';
import type { JudgeInput } from '../../../shared/contract/judges.ts';
import { isMap, plain, readJson, type ReadMap, textIn, valueText } from '../../prompts/transfer/bounded-values.ts';
import { readScriptFile, readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';
import { namedModel } from './comparison-file.ts';
import { judgedKinds, questionOf, rubricText } from './promptfoo-rubrics.ts';
import { conditions, containsJson, endsWith, scriptOf, transformOf, validCalls } from './promptfoo-scripts.ts';

/** An assertion of one test. Assertions with the same key become one check, whose values are in a column. */
export interface RowAssertion {
  readonly key: string;
  /** What the check expects of this row; null if the same holds for every row. */
  readonly value: string | null;
  readonly check: (expected: { readonly value: string } | { readonly column: string }) => Check;
}

export interface AssertionContext {
  readonly vars: ReadonlyMap<string, unknown>;
  readonly field: string;
  /** Of the judge of this test. */
  readonly grader: string | null;
  /** The prompt of the judge of this test; undefined for that of its kind. */
  readonly rubricPrompt: unknown;
  /** Judges if nobody has the model of `grader`. */
  readonly fallbackJudge: string | null;
  /** Code that changes the answer of this test; null for none. */
  readonly transform: string | null;
  readonly unsupported: (field: string, reason: string) => void;
  readonly judges: JudgeList;
  /** What the values of assertions may name. */
  readonly files: ReferencedFiles;
}

/** Judges that assertions need, by the ids that the checks have until the judges are created. */
export class JudgeList {
  readonly inputs = new Map<string, JudgeInput>();
  readonly #ids = new Map<string, string>();

  idOf(input: JudgeInput): string {
    const key = JSON.stringify(input);
    const id = this.#ids.get(key) ?? randomUUID();
    this.#ids.set(key, id);
    this.inputs.set(id, input);
    return id;
  }
}

/** Puts values of the test into the text. Null for a template that is more than that. */
function filled(text: string, vars: ReadonlyMap<string, unknown>): string | null {
  const rest = text.replaceAll(/\{\{-?\s*([\w.]+)\s*-?\}\}/g, '');
  if (/\{\{|\{%/.test(rest)) return null;
  return text.replaceAll(/\{\{-?\s*([\w.]+)\s*-?\}\}/g, (_, path: string) => {
    const value = path.split('.').reduce<unknown>((inner, step) => (isMap(inner) ? inner.get(step) : undefined), vars);
    return valueText(value) ?? '';
  });
}

const numberIn = (map: ReadMap, key: string) => {
  const value = map.get(key);
  return typeof value === 'number' ? value : null;
};

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

type Common = Pick<Check, 'name' | 'weight' | 'not'>;

interface Assertion {
  readonly type: string;
  readonly map: ReadMap;
  readonly common: Common;
  readonly context: AssertionContext;
  /** Its value as text, with the values of the test. */
  text(): string;
  list(): string[];
}

class UnsupportedAssertion extends Error {}

const fixed = (check: Check): RowAssertion => ({ key: JSON.stringify(check), value: null, check: () => check });

/** A check of an expected text, which is in a column if the rows have different ones. */
function expecting(
  { type, common, text }: Assertion,
  check: RowAssertion['check'],
  options: unknown = null,
): RowAssertion {
  return { key: JSON.stringify([type, common, options]), value: text(), check };
}

function combined(assertion: Assertion, kind: 'all' | 'any', ignoreCase: boolean): RowAssertion {
  const checks = assertion
    .list()
    .map((value): Check => ({ kind: 'contains', value, ...(ignoreCase && { ignoreCase }) }));
  if (checks.length === 0) throw new UnsupportedAssertion('has no values');
  return fixed({ kind, ...assertion.common, checks });
}

function lengthOf({ map, common }: Assertion): RowAssertion {
  const value = map.get('value');
  const [min, max] = isMap(value) ? [numberIn(value, 'min'), numberIn(value, 'max')] : [Number(value), Number(value)];
  const range = { ...(min !== null && { min }), ...(max !== null && { max }) };
  if (Number.isNaN(min) || Number.isNaN(max)) throw new UnsupportedAssertion('needs a number, or min and max');
  return fixed({ kind: 'length', unit: 'words', ...common, ...range });
}

function charactersOf({ map }: Assertion): number {
  const value = Number(map.get('value') ?? Number.NaN);
  if (!Number.isInteger(value) || value < 0) throw new UnsupportedAssertion('needs a number of characters');
  return value;
}

function limitOf({ map }: Assertion): number {
  const limit = numberIn(map, 'threshold') ?? numberIn(map, 'value');
  if (limit === null) throw new UnsupportedAssertion('has no threshold');
  return limit;
}

function schemaOf(assertion: Assertion): RowAssertion {
  const given = assertion.map.get('value');
  const value = typeof given === 'string' ? readJson(assertion.text()) : (given ?? new Map());
  if (!isMap(value)) throw new UnsupportedAssertion('has a schema that is no object');
  return fixed({ kind: 'jsonSchema', ...assertion.common, schema: plain(value) as Record<string, unknown> });
}

function equalityOf(assertion: Assertion): RowAssertion {
  const value = assertion.map.get('value');
  if (typeof value !== 'object' || value === null)
    return expecting(assertion, (expected) => ({ kind: 'equals', ...assertion.common, ...expected }));
  const code = `const sorted = (one) => Array.isArray(one) ? one.map(sorted) : one && typeof one === 'object'
  ? Object.fromEntries(Object.keys(one).sort().map((key) => [key, sorted(one[key])])) : one;
try { return JSON.stringify(sorted(JSON.parse(answer))) === JSON.stringify(sorted(${JSON.stringify(plain(value))})); } catch { return false; }`;
  return fixed({ kind: 'javascript', ...assertion.common, code });
}

/** Throws for an assertion whose judge nobody has. */
function modelOf({ map, context }: Assertion) {
  const named = textIn(map, 'provider') ?? context.grader;
  if (named === null) throw new UnsupportedAssertion('needs a model that judges; name one with --judge');
  const model = namedModel(named) ?? (context.fallbackJudge === null ? null : namedModel(context.fallbackJudge));
  if (model === null)
    throw new UnsupportedAssertion(`needs a model that judges, and "${named.slice(0, 100)}" is unknown`);
  return { named, aiSystem: model.aiSystem, model: model.model };
}

function judged(assertion: Assertion): RowAssertion {
  const { type, map, common, context } = assertion;
  if (map.has('contextTransform')) throw new UnsupportedAssertion('has a context that code takes from a response');
  const { named, ...model } = modelOf(assertion);
  const given = map.get('rubricPrompt') ?? context.rubricPrompt;
  const own = given === undefined ? null : rubricText(given, context.files);
  // Throws for what is missing before there is a check.
  if (own === null) questionOf(type, '', context.vars);
  return expecting(
    assertion,
    (expected) => {
      const criterion = 'column' in expected ? `{{${expected.column}}}` : expected.value;
      const promptText = own === null ? questionOf(type, criterion, context.vars) : own(criterion);
      const judgeId = context.judges.idOf({
        name: `${type}: ${'column' in expected ? expected.column : expected.value}`.slice(0, 200),
        promptText,
        ...model,
        verdict: { kind: 'passOrFail' },
      });
      return { kind: 'judge', ...common, judgeId };
    },
    [named, given === undefined ? null : plain(given)],
  );
}

/** A judge that compares two answers. promptfoo shows it all answers at once; each pair in both orders is less partial to a place. */
function selectBest(assertion: Assertion): RowAssertion {
  const { type, common, map, context } = assertion;
  if (common.not === true) throw new UnsupportedAssertion('has no opposite');
  if ((map.get('rubricPrompt') ?? context.rubricPrompt) !== undefined)
    throw new UnsupportedAssertion('has a rubric prompt, which is about all answers at once');
  const { named, ...model } = modelOf(assertion);
  return expecting(
    assertion,
    (expected) => {
      const criterion = 'column' in expected ? `{{${expected.column}}}` : expected.value;
      const judgeId = context.judges.idOf({
        name: `${type}: ${'column' in expected ? expected.column : expected.value}`.slice(0, 200),
        promptText: `Which answer meets this criterion better?\n\n${criterion}\n\nThe first answer:\n\n{{first}}\n\nThe second answer:\n\n{{second}}`,
        ...model,
        verdict: { kind: 'preference' },
      });
      return { kind: 'judge', judgeId };
    },
    named,
  );
}

function similar(assertion: Assertion, code: string | null = null): RowAssertion {
  const threshold = numberIn(assertion.map, 'threshold') ?? 0.75;
  const measure = { threshold, ...(code !== null && { transform: `${code}\nreturn answer;` }) };
  const value = assertion.map.get('value');
  if (!Array.isArray(value))
    return expecting(
      assertion,
      (expected) => ({ kind: 'similarity', ...assertion.common, ...expected, ...measure }),
      `${threshold} ${code}`,
    );
  const checks = assertion.list().map((one): Check => ({ kind: 'similarity', value: one, ...measure }));
  return fixed({ kind: 'any', ...assertion.common, checks });
}

function codeOf({ map, context }: Assertion): string {
  const code = map.get('value');
  if (typeof code !== 'string') throw new UnsupportedAssertion('has no code');
  if (code.trim().startsWith('file://')) return readScriptFile(code, context.files);
  if (/\b(?:require|import|await|fetch|process)\b/.test(code))
    throw new UnsupportedAssertion('uses modules, promises or the network, which checks can not');
  return code;
}

function script(assertion: Assertion): RowAssertion {
  const { map, common } = assertion;
  const options = { threshold: numberIn(map, 'threshold'), config: plain(map.get('config') ?? null), transform: null };
  return fixed({ kind: 'javascript', ...common, code: scriptOf(codeOf(assertion), options) });
}

/** Kinds that don't look at the text of the answer. */
const untransformed = new Set(['latency', 'cost', 'is-valid-openai-tools-call', 'is-valid-function-call']);

/** Whether a transform changes nothing for a kind: similarity and judges don't see spaces, and a schema is for what JSON says. */
function isWithoutEffect(type: string, transform: string): boolean {
  const code = transform.trim().replace(/;$/, '');
  if (code === 'output.trim()') return !['equals', 'javascript', 'regex'].includes(type);
  return code === 'JSON.parse(output)' && type === 'is-json';
}

/** A check of the answer after a transform, which is a script in any case. */
function transformed(assertion: Assertion, transform: string): RowAssertion {
  const { type, map, common, context } = assertion;
  const code = transformOf(
    transform.trim().startsWith('file://') ? readScriptFile(transform, context.files) : transform,
  );
  if (type === 'javascript') {
    const options = {
      threshold: numberIn(map, 'threshold'),
      config: plain(map.get('config') ?? null),
      transform: code,
    };
    return fixed({ kind: 'javascript', ...common, code: scriptOf(codeOf(assertion), options) });
  }
  if (type === 'similar') return similar(assertion, code);
  const condition = Object.hasOwn(conditions, type) ? conditions[type]! : null;
  if (condition === null) throw new UnsupportedAssertion('has a transform, which only checks of text can have');
  const check = (expected: string): Check => ({
    kind: 'javascript',
    ...common,
    code: `${code}\nreturn ${condition(expected)};`,
  });
  if (/-(?:all|any)$/.test(type)) return fixed(check(JSON.stringify(assertion.list())));
  return expecting(
    assertion,
    (expected) =>
      check('column' in expected ? `row[${JSON.stringify(expected.column)}]` : JSON.stringify(expected.value)),
    transform,
  );
}

export const kinds: Readonly<Record<string, (assertion: Assertion) => RowAssertion>> = {
  equals: equalityOf,
  contains: (one) => expecting(one, (expected) => ({ kind: 'contains', ...one.common, ...expected })),
  icontains: (one) =>
    expecting(one, (expected) => ({ kind: 'contains', ignoreCase: true, ...one.common, ...expected })),
  'contains-all': (one) => combined(one, 'all', false),
  'contains-any': (one) => combined(one, 'any', false),
  'icontains-all': (one) => combined(one, 'all', true),
  'icontains-any': (one) => combined(one, 'any', true),
  'starts-with': (one) => fixed({ kind: 'regularExpression', ...one.common, pattern: `^${escaped(one.text())}` }),
  'ends-with': (one) => fixed({ kind: 'javascript', ...one.common, code: endsWith(JSON.stringify(one.text())) }),
  regex: (one) => fixed({ kind: 'regularExpression', ...one.common, pattern: one.text() }),
  'is-json': schemaOf,
  'contains-json': (one) => {
    if (one.map.has('value')) throw new UnsupportedAssertion('has a schema; only is-json can have one');
    return fixed({ kind: 'javascript', ...one.common, code: containsJson });
  },
  javascript: script,
  similar: (one) => similar(one),
  latency: (one) => fixed({ kind: 'latency', ...one.common, maxMs: limitOf(one) }),
  cost: (one) => fixed({ kind: 'cost', ...one.common, maxCost: limitOf(one) }),
  'word-count': lengthOf,
  'is-refusal': (one) => fixed({ kind: 'refusal', ...one.common }),
  moderation: (one) => fixed({ kind: 'moderation', ...one.common }),
  'is-valid-openai-tools-call': (one) => fixed({ kind: 'javascript', ...one.common, code: validCalls }),
  'is-valid-function-call': (one) => fixed({ kind: 'javascript', ...one.common, code: validCalls }),
  'not-empty': (one) => fixed({ kind: 'length', ...one.common, min: 1 }),
  'max-length': (one) => fixed({ kind: 'length', ...one.common, max: charactersOf(one) }),
  'min-length': (one) => fixed({ kind: 'length', ...one.common, min: charactersOf(one) }),
  'select-best': selectBest,
  ...Object.fromEntries(judgedKinds.map((type) => [type, judged])),
};

/** Options of assertions that change nothing here. */
const known = new Set([
  'type',
  'value',
  'threshold',
  'weight',
  'metric',
  'provider',
  'description',
  'transform',
  'config',
  'rubricPrompt',
  'contextTransform',
]);

/** The checks of one assertion; none, and a report, for what no check can do. */
export function readAssertion(map: ReadMap, context: AssertionContext): RowAssertion[] {
  const written = textIn(map, 'type') ?? '';
  // Not the opposite of another kind.
  const isNot = written.startsWith('not-') && written !== 'not-empty';
  const type = isNot ? written.slice(4) : written;
  const field = `${context.field}: ${written.slice(0, 50) || 'assertion without a type'}`;
  const metric = textIn(map, 'metric');
  const weight = numberIn(map, 'weight');
  const common: Common = {
    ...(metric !== null && metric !== '' && { name: metric.slice(0, 200) }),
    ...(weight !== null && { weight }),
    ...(isNot && { not: true }),
  };
  const textOf = (value: unknown) => {
    const given = valueText(value) ?? '';
    const text = given.startsWith('file://') ? (valueText(readValueFile(given, context.files)) ?? '') : given;
    const found = filled(text, context.vars);
    if (found === null) throw new UnsupportedAssertion('has a template with more than variables');
    return found;
  };
  const list = () => {
    const value = map.get('value');
    return (
      Array.isArray(value)
        ? value
        : String(valueText(value) ?? '')
            .split(',')
            .map((part) => part.trim())
    ).map(textOf);
  };
  try {
    for (const key of map.keys())
      if (!known.has(key) && type !== 'assert-set') context.unsupported(`${field}.${key}`, 'has no counterpart');
    if (type === 'assert-set') return [assertSet(map, common, context)];
    const read = Object.hasOwn(kinds, type) ? kinds[type]! : null;
    if (read === null) throw new UnsupportedAssertion('has no counterpart');
    const assertion = { type, map, common, context, text: () => textOf(map.get('value')), list };
    const transform = untransformed.has(type) ? null : (textIn(map, 'transform') ?? context.transform);
    const isPlain = transform === null || isWithoutEffect(type, transform);
    return [isPlain ? read(assertion) : transformed(assertion, transform)];
  } catch (error) {
    if (!(error instanceof UnsupportedAssertion || error instanceof TransferError)) throw error;
    context.unsupported(field, error.message);
    return [];
  }
}

/** Assertions that pass together. */
function assertSet(map: ReadMap, common: Common, context: AssertionContext): RowAssertion {
  if (map.has('threshold')) throw new UnsupportedAssertion('has a threshold; all of its assertions would have to pass');
  const inner = map.get('assert');
  const assertions = Array.isArray(inner) ? inner.filter(isMap) : [];
  if (assertions.some((one) => textIn(one, 'type') === 'select-best'))
    throw new UnsupportedAssertion('has select-best, which compares answers instead of checking one');
  const checks = assertions.flatMap((one) =>
    readAssertion(one, context).map(({ value, check }) => check({ value: value ?? '' })),
  );
  if (checks.length === 0) throw new UnsupportedAssertion('has no assertions that are supported');
  return fixed({ kind: 'all', ...common, checks });
}
