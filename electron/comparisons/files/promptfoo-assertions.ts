import type { Check } from '../../../shared/contract/checks.ts';
import { isMap, plain, readJson, type ReadMap, textIn, valueText } from '../../prompts/transfer/bounded-values.ts';
import { readScriptFile, readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';
import { judged, judgedKinds, selectBest } from './promptfoo-rubrics.ts';
import { conditions, containsJson, endsWith, scriptOf, transformOf, validCalls } from './promptfoo-scripts.ts';
import {
  type Assertion,
  type AssertionContext,
  type Common,
  expecting,
  fixed,
  type RowAssertion,
  UnsupportedAssertion,
} from './row-assertion.ts';

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
