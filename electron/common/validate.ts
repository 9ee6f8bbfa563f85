import type { z } from 'zod';
import { AppError, type ErrorDetail } from '../../shared/app-error.ts';

type Issue = z.core.$ZodIssue;

/** Reported fields of one request. Otherwise a hostile body could cause a larger response. */
const maximumDetails = 50;

function fieldPath(path: readonly PropertyKey[]): string {
  let field = '';
  for (const step of path) {
    if (typeof step === 'number') field += `[${step}]`;
    else field += field === '' ? String(step) : `.${String(step)}`;
  }
  return field.slice(0, 200);
}

/** The issues of the alternative of a union that fits best: the one with the deepest issues, and of these with the fewest. */
function closestAlternative(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | null {
  const depth = (issues: readonly Issue[]) => Math.max(0, ...issues.map((issue) => issue.path.length));
  const best = alternatives.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0];
  return best && depth(best) > 0 ? best : null;
}

const units: Record<string, string> = { string: 'characters', array: 'items' };

/** A limit without a message in the schema. */
function describeLimit(issue: Extract<Issue, { code: 'too_big' | 'too_small' }>): string {
  const isMax = issue.code === 'too_big';
  const limit = isMax ? issue.maximum : issue.minimum;
  const unit = units[issue.origin];
  if (unit !== undefined && !isMax && limit === 1) return 'must not be empty';
  if (unit !== undefined) return `must have ${isMax ? 'at most' : 'at least'} ${limit} ${unit}`;
  if (issue.inclusive === false) return `must be ${isMax ? 'below' : 'above'} ${limit}`;
  return `must be ${isMax ? 'at most' : 'at least'} ${limit}`;
}

function describeChoice(values: readonly unknown[]): string {
  return `must be one of ${values.map((value) => `\`${String(value)}\``).join(', ')}`;
}

function describe(issue: Issue, isMissing: boolean): string {
  // A custom rule has its own message.
  if (isMissing && issue.code !== 'custom') return 'is required';
  if (issue.code === 'invalid_type') {
    if (issue.expected === 'int') return 'must be a whole number';
    return `must be of type ${issue.expected === 'record' ? 'object' : issue.expected}`;
  }
  if (issue.code === 'invalid_value') return describeChoice(issue.values);
  // A union whose alternatives differ by one field.
  if (issue.code === 'invalid_union' && 'options' in issue) return describeChoice(issue.options as unknown[]);
  if ((issue.code === 'too_big' || issue.code === 'too_small') && /^Too (big|small)/.test(issue.message))
    return describeLimit(issue);
  return issue.message;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      value !== null && typeof value === 'object' && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined,
    input,
  );
}

function toDetails(issue: Issue, input: unknown, parents: readonly PropertyKey[]): ErrorDetail[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldPath([...path, key]), issue: 'is not a known field' }));
  }
  if (issue.code === 'invalid_union') {
    const closest = closestAlternative(issue.errors);
    if (closest) return closest.flatMap((inner) => toDetails(inner, input, path));
  }
  return [{ field: fieldPath(path), issue: describe(issue, valueAt(input, path) === undefined) }];
}

/** Rules of the whole body, such as a field that only some requests need, have their issues last. They belong to their field. */
function inFieldOrder(issues: readonly Issue[], schema: z.ZodType): readonly Issue[] {
  if (!('shape' in schema)) return issues;
  const fields: PropertyKey[] = Object.keys(schema.shape as object);
  const position = ({ path }: Issue) => (path.length === 0 ? fields.length : fields.indexOf(path[0]!));
  return issues.toSorted((one, other) => position(one) - position(other));
}

/** Validates a value against a schema of the contract. Throws `invalid_request` with every invalid field. */
export function validate<Schema extends z.ZodType>(schema: Schema, input: unknown, what: string): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const details = inFieldOrder(result.error.issues, schema)
    .flatMap((issue) => toDetails(issue, input, []))
    .slice(0, maximumDetails);
  const [first] = details;
  const message =
    first && first.field !== '' ? `${first.field} ${first.issue}.` : `The ${what} ${first?.issue ?? 'is not valid'}.`;
  throw new AppError('invalid_request', message, { details });
}
