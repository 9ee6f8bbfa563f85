import { Ajv, type CodeKeywordDefinition, type ErrorObject, MissingRefError, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { RE2JS } from 're2js';
import {
  describeSchemaIssue,
  isObject,
  type JsonSchema,
  pointerText,
  schemaLimitIssue,
  type SchemaIssue,
  schemaNodes,
} from '../../shared/json-schema.ts';
import type { AnswerError, AnswerCheck } from '../../shared/contract/schemas.ts';

/** Linear in the length of the text, except for patterns that need backtracking, which run with the thread's time limit. */
function createRegExp(pattern: string, flags: string): { test(text: string): boolean; toString(): string } {
  try {
    const compiled = RE2JS.compile(pattern);
    // The validator must return the same pattern for the same text.
    return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
  } catch {
    return new RegExp(pattern, flags);
  }
}
createRegExp.code = 'createRegExp';

const options: Options = {
  strict: false,
  allErrors: true,
  // Otherwise a schema with many references becomes code that is far longer than the schema.
  inlineRefs: false,
  logger: false,
  code: { regExp: createRegExp },
};

/** A validator for a schema's draft; null for an unknown draft. Each schema gets its own: its `$id` may replace any other schema. */
function createValidator({ $schema }: JsonSchema): Ajv | null {
  const draft = String($schema ?? 'https://json-schema.org/draft/2020-12/schema').replace(/#$/, '');
  const Validator = {
    'https://json-schema.org/draft/2020-12/schema': Ajv2020,
    'https://json-schema.org/draft/2019-09/schema': Ajv2019,
    'http://json-schema.org/draft-07/schema': Ajv,
    'https://json-schema.org/draft-07/schema': Ajv,
  }[draft];
  if (!Validator) return null;
  const validator = new Validator(options);
  formats['default'](validator);
  return validator;
}

/**
 * Leaves out the errors inside alternatives of schemas that are compiled from now on. They aren't helpful, because another alternative
 * may be meant, and behind a reference their `schemaPath` doesn't show where they come from.
 */
function omitAlternativeErrors(validator: Ajv): void {
  for (const keyword of ['anyOf', 'oneOf']) {
    const definition = validator.getKeyword(keyword) as CodeKeywordDefinition;
    validator.removeKeyword(keyword);
    validator.addKeyword({
      ...definition,
      code(context) {
        const addError = context.error.bind(context);
        context.error = (...details) => {
          context.reset();
          addError(...details);
        };
        definition.code(context);
      },
    });
  }
}

function valueList(values: unknown): string {
  const list = Array.isArray(values) ? values : [values];
  const shown = list.slice(0, 10).map((value) => JSON.stringify(value).slice(0, 60));
  return shown.join(', ') + (list.length > 10 ? ', …' : '');
}

const examples: Readonly<Record<string, string>> = {
  date: 'a date, as in 2026-11-24',
  time: 'a time, as in 14:30:00Z',
  'date-time': 'a date and time, as in 2026-11-24T14:30:00Z',
  uuid: 'a UUID',
  email: 'an email address',
  uri: 'a URI',
};

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/** What the value must be, as the end of a sentence. */
function describeError({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  const { format, type, allowedValue, allowedValues, limit } = params as Record<string, unknown>;
  switch (keyword) {
    case 'type':
      return `must be ${[type]
        .flat()
        .map((name) => typeNames[String(name)] ?? String(name))
        .join(' or ')}`;
    case 'enum':
      return `must be ${(allowedValues as unknown[]).length === 1 ? '' : 'one of '}${valueList(allowedValues)}`;
    case 'const':
      return `must be ${valueList(allowedValue)}`;
    case 'format':
      return `must be ${examples[String(format)] ?? `in the format "${String(format).slice(0, 40)}"`}`;
    case 'minimum':
      return `must be ${String(limit)} or more`;
    case 'maximum':
      return `must be ${String(limit)} or less`;
    case 'exclusiveMinimum':
      return `must be more than ${String(limit)}`;
    case 'exclusiveMaximum':
      return `must be less than ${String(limit)}`;
    case 'anyOf':
      return 'must match at least one of the alternatives';
    case 'oneOf':
      return 'must match exactly one of the alternatives';
    case 'required':
      return `must have the property "${String((params as { missingProperty: unknown }).missingProperty).slice(0, 60)}"`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not allowed here';
    case 'false schema':
      return 'is not allowed';
    default:
      return message.replaceAll('NOT', 'not').slice(0, 300);
  }
}

function toAnswerError(error: ErrorObject): AnswerError {
  const { additionalProperty, unevaluatedProperty } = error.params as Record<string, unknown>;
  const extra = additionalProperty ?? unevaluatedProperty;
  const path = error.instancePath + (typeof extra === 'string' ? pointerText([extra]) : '');
  return { path, message: describeError(error) };
}

/** An error of the schema itself. The alternatives of its meta-schema that are behind references name the valid values. */
function deepestError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const outer = errors.filter(({ schemaPath }) => !/\/(anyOf|oneOf)\/\d+\//.test(schemaPath));
  return outer.toSorted((one, other) => other.instancePath.length - one.instancePath.length)[0];
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function patternIssue(schema: JsonSchema): SchemaIssue | null {
  for (const { schema: inner, pointer } of schemaNodes(schema)) {
    const { pattern, patternProperties } = inner;
    const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
    if (typeof pattern === 'string') patterns.push(pattern);
    const invalid = patterns.find((text) => !isPattern(text));
    if (invalid !== undefined) {
      return { pointer, issue: `has the invalid regular expression ${JSON.stringify(invalid.slice(0, 100))}` };
    }
  }
  return null;
}

function compileIssue(schema: JsonSchema, error: unknown): SchemaIssue {
  if (error instanceof RangeError) return { pointer: '', issue: 'is too complex to check' };
  const invalid = patternIssue(schema);
  if (invalid) return invalid;
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 300);
  if (error instanceof MissingRefError || message.includes('reference')) {
    for (const { schema: inner, pointer } of schemaNodes(schema)) {
      const { $ref } = inner;
      if (typeof $ref === 'string' && message.includes($ref.slice(0, 200))) {
        return {
          pointer: `${pointer}/$ref`,
          issue: `refers to ${JSON.stringify($ref.slice(0, 100))}, which doesn't exist`,
        };
      }
    }
  }
  return { pointer: '', issue: `is not a valid JSON schema: ${message}` };
}

type Compiled = { readonly validate: (value: unknown) => readonly ErrorObject[] } | { readonly issue: SchemaIssue };

function compile(schema: JsonSchema): Compiled {
  const limit = schemaLimitIssue(schema);
  if (limit) return { issue: limit };
  const validator = createValidator(schema);
  if (!validator) {
    return { issue: { pointer: '/$schema', issue: 'must be draft 2020-12, 2019-09 or draft-07 of JSON Schema' } };
  }
  if (Object.hasOwn(schema, '$async')) return { issue: { pointer: '/$async', issue: 'is not supported' } };
  try {
    if (validator.validateSchema(schema) !== true) {
      const deepest = deepestError(validator.errors ?? []);
      if (deepest) return { issue: { pointer: toAnswerError(deepest).path, issue: describeError(deepest) } };
      return { issue: { pointer: '', issue: 'is not a valid JSON schema' } };
    }
    omitAlternativeErrors(validator);
    const validate = validator.compile(schema);
    return { validate: (value) => (validate(value) ? [] : (validate.errors ?? [])) };
  } catch (error) {
    return { issue: compileIssue(schema, error) };
  }
}

/** Null for a valid schema within the limits. */
export function checkSchema(schema: JsonSchema): SchemaIssue | null {
  const compiled = compile(schema);
  return 'issue' in compiled ? compiled.issue : null;
}

const maxErrors = 100;

function unchecked(outcome: AnswerCheck['outcome'], reason: string): AnswerCheck {
  return { outcome, reason, errors: [], errorCount: 0 };
}

/** Checks texts of answers against one schema. They are never repaired. */
export function createAnswerCheck(schema: JsonSchema): (text: string) => AnswerCheck {
  const compiled = compile(schema);
  if ('issue' in compiled)
    return () => unchecked('invalid-schema', `The schema ${describeSchemaIssue(compiled.issue)}`);
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return unchecked('not-json', 'The answer is not valid JSON');
    }
    try {
      // Beside it are the errors of the `then` or `else` that it refers to.
      const errors = compiled.validate(value).filter(({ keyword }) => keyword !== 'if');
      return {
        outcome: errors.length === 0 ? 'valid' : 'invalid',
        reason: null,
        errors: errors.slice(0, maxErrors).map(toAnswerError),
        errorCount: errors.length,
      };
    } catch (error) {
      if (error instanceof RangeError) return unchecked('unchecked', 'The answer is nested too deeply to check');
      throw error;
    }
  };
}
