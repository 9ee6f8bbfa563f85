import type { Check } from '../../../../shared/contract/checks.ts';
import type { DatasetColumn } from '../../../../shared/contract/datasets.ts';
import { readNumber } from '../../../components/format.ts';
import { describeMistake, parseJson } from '../../../drafts/json-text.ts';
import type { CheckDraft } from '../../../stores/comparison-drafts.ts';
import { type CheckField, checkKinds } from './check-kinds.ts';

/** What is wrong, by the path of the field in the request: `checks[0].pattern`. */
export type Problems = ReadonlyMap<string, string>;

/** The text of a whole number within limits, or why it is none. */
export function readWhole(text: string, min: number, max: number): { value: number } | { problem: string } {
  const value = readNumber(text);
  if (value === undefined) return { problem: 'Enter a whole number' };
  if (value === null || !Number.isInteger(value)) return { problem: 'Enter a whole number' };
  if (value < min) return { problem: `Must be ${min.toLocaleString('en')} or more` };
  return value > max ? { problem: `Must be ${max.toLocaleString('en')} or less` } : { value };
}

/** A new check. One with an expected value takes it from the first column that is for checks. */
export function newCheck(kind: Check['kind'], columns: readonly DatasetColumn[]): CheckDraft {
  const expected = columns.find(({ type }) => type === 'expected')?.name;
  const hasExpected = checkKinds[kind].fields.some((field) => field.kind === 'expected');
  return {
    id: crypto.randomUUID(),
    kind,
    isNot: kind === 'refusal',
    fields: hasExpected && expected !== undefined ? { column: expected } : {},
    checks: [],
  };
}

interface Reading {
  readonly path: string;
  readonly report: (field: string, problem: string) => void;
}

function readNumberField({ name, kind, isRequired }: CheckField, text: string, report: Reading['report']): unknown {
  const value = readNumber(text);
  if (value === undefined) {
    if (isRequired) report(name, 'Enter a number');
    return undefined;
  }
  if (value === null) report(name, 'Enter a number');
  else if (kind === 'whole' && !Number.isInteger(value)) report(name, 'Enter a whole number');
  else if (value < (name === 'threshold' ? -1 : 0))
    report(name, `Must be ${name === 'threshold' ? '−1' : '0'} or more`);
  else if (name === 'threshold' && value > 1) report(name, 'Must be 1 or less');
  else return value;
  return undefined;
}

const missing: Readonly<Record<string, string>> = { judgeId: 'Choose a judge', pattern: 'Enter a pattern' };

function readField(field: CheckField, draft: CheckDraft, report: Reading['report']): Record<string, unknown> {
  const { name, kind, label, isRequired } = field;
  const text = draft.fields[name] ?? '';
  if (kind === 'expected') {
    const column = draft.fields['column'] ?? '';
    if (column !== '') return { column };
    if (text === '') report(name, 'Enter a text or choose a column');
    return { value: text };
  }
  if (kind === 'flag') return text === 'true' ? { [name]: true } : {};
  if (kind === 'categories') return text === '' ? {} : { [name]: text.split(' ') };
  if (kind === 'whole' || kind === 'number') {
    const value = readNumberField(field, text, report);
    return value === undefined ? {} : { [name]: value };
  }
  if (text.trim() === '') {
    if (isRequired) report(name, missing[name] ?? `Enter the ${label.toLowerCase()}`);
    return {};
  }
  if (kind !== 'json') return { [name]: text };
  const parsed = parseJson(text);
  if ('mistake' in parsed) report(name, describeMistake(parsed.mistake));
  else if (typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value))
    return { [name]: parsed.value };
  else report(name, 'Must be a JSON object');
  return {};
}

function readLimits({ kind, fields }: CheckDraft, read: Record<string, unknown>, report: Reading['report']): void {
  if (kind === 'length' && (fields['min'] ?? '') === '' && (fields['max'] ?? '') === '')
    report('max', 'Enter a minimum or a maximum');
  const { min, max } = read as { min?: number; max?: number };
  if (kind === 'length' && min !== undefined && max !== undefined && min > max)
    report('max', 'Must be at least the minimum');
  if (kind === 'citation' && (min === 0 || (min ?? 1) > 100)) report('min', 'Must be 1 to 100');
  if (kind === 'regularExpression' && !/^[ims]{0,3}$/.test(fields['flags'] ?? ''))
    report('flags', 'Must be some of i, m and s');
}

function readCommon({ fields, isNot }: CheckDraft, report: Reading['report']): Record<string, unknown> {
  const name = (fields['name'] ?? '').trim();
  const text = fields['weight'] ?? '';
  const weight = readNumber(text);
  if (weight === null || (weight !== undefined && (weight < 0 || weight > 1000)))
    report('weight', 'Must be a number from 0 to 1,000');
  return {
    ...(name !== '' && { name }),
    ...(isNot && { not: true }),
    ...(typeof weight === 'number' && { weight }),
  };
}

/** The checks of the request, and the problems of those that can't be sent. */
export function readChecks(drafts: readonly CheckDraft[], problems: Map<string, string>, path = 'checks'): Check[] {
  return drafts.map((draft, index) => {
    const own = `${path}[${index}]`;
    const report: Reading['report'] = (field, problem) => void problems.set(`${own}.${field}`, problem);
    const read: Record<string, unknown> = { kind: draft.kind, ...readCommon(draft, report) };
    for (const field of checkKinds[draft.kind].fields) Object.assign(read, readField(field, draft, report));
    readLimits(draft, read, report);
    if (draft.kind === 'all' || draft.kind === 'any') {
      if (draft.checks.length === 0) report('checks', 'Add a check');
      read['checks'] = readChecks(draft.checks, problems, `${own}.checks`);
    }
    return read as unknown as Check;
  });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** The drafts that `readChecks` reads back as these checks. */
export function writeChecks(checks: readonly Check[]): CheckDraft[] {
  return checks.map((check) => {
    const { kind, not, ...rest } = check;
    const { checks: inner, ...fields } = { checks: [] as Check[], ...rest };
    return {
      id: crypto.randomUUID(),
      kind,
      isNot: not ?? false,
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)])),
      checks: writeChecks(inner),
    };
  });
}

/** A list of checks with a change of one that may be inside others. Null removes it. */
export function changedChecks(
  checks: readonly CheckDraft[],
  id: string,
  change: (check: CheckDraft) => CheckDraft | null,
): CheckDraft[] {
  return checks.flatMap((check) => {
    if (check.id !== id) return [{ ...check, checks: changedChecks(check.checks, id, change) }];
    return change(check) ?? [];
  });
}
