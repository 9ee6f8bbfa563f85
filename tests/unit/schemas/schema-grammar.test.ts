import { describe, expect, it } from 'vitest';
import { checkSchema, createAnswerCheck } from '../../../electron/schemas/check-schema.ts';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { type Grammar, objectGrammar, schemaGrammar } from '../../../shared/schema-grammar.ts';
import { grammarSampler, seededRandom } from '../../support/sample-grammar.ts';

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0, maximum: 130 } },
  required: ['name'],
};

const schemas: readonly (readonly [string, JsonSchema])[] = [
  ['an object with optional properties', person],
  ['only optional properties', { type: 'object', properties: { a: { type: 'null' }, b: { type: 'boolean' } } }],
  ['a closed object', { ...person, additionalProperties: false, minProperties: 1, maxProperties: 2 }],
  ['an empty object', { type: 'object', additionalProperties: false }],
  ['a map', { type: 'object', additionalProperties: { type: 'integer', minimum: -3, maximum: 12 } }],
  ['a required property without a schema', { type: 'object', properties: {}, required: ['x'] }],
  [
    'names with quotes and other characters',
    { type: 'object', properties: { 'a"b\\\n': {}, 'ключ 漢': {} }, required: ['a"b\\\n'] },
  ],
  ['lists', { type: 'array', items: person, minItems: 1, maxItems: 4 }],
  ['a list with a maximum of 0', { type: 'array', maxItems: 0 }],
  ['a list with a maximum that is too large', { type: 'array', items: { type: 'integer' }, maxItems: 1e9 }],
  ['tuples', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false }],
  ['texts of a length', { type: 'string', minLength: 2, maxLength: 5 }],
  ['texts of at least a length', { type: 'string', minLength: 3 }],
  ['empty texts', { type: 'string', maxLength: 0 }],
  ['dates', { type: 'string', format: 'date' }],
  ['times', { type: 'string', format: 'time' }],
  ['dates with times', { type: 'string', format: 'date-time' }],
  ['UUIDs', { type: 'string', format: 'uuid' }],
  ['email addresses', { type: 'string', format: 'email' }],
  ['any integer', { type: 'integer' }],
  ['integers of a range', { type: 'integer', minimum: -1234, exclusiveMaximum: 70_005 }],
  ['years', { type: 'integer', minimum: 1900, maximum: 2100 }],
  ['positive integers', { type: 'integer', exclusiveMinimum: 0 }],
  ['multiples', { type: 'integer', minimum: -10, maximum: 100, multipleOf: 5 }],
  [
    'the safe integers of other programs',
    { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  ],
  ['any number', { type: 'number' }],
  ['shares', { type: 'number', minimum: 0, maximum: 1 }],
  ['numbers above 0', { type: 'number', exclusiveMinimum: 0 }],
  ['numbers around 0', { type: 'number', exclusiveMinimum: -2.5, exclusiveMaximum: 3 }],
  ['negative numbers', { type: 'number', maximum: -10, minimum: -20.5 }],
  ['several types', { type: ['object', 'null', 'integer'], properties: { a: { type: 'string' } }, required: ['a'] }],
  ['values', { enum: ['a', 1, null, { b: [true] }, 'quote " and \\'] }],
  ['values of a type', { type: 'string', enum: ['a', 1, null] }],
  ['a constant', { const: { a: 'b' } }],
  ['alternatives', { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }, person] }],
  ['one schema for all', { allOf: [person] }],
  ['any value', {}],
  [
    'a tree',
    {
      type: 'object',
      properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#' } } },
      required: ['value'],
    },
  ],
  [
    'definitions',
    {
      $ref: '#/$defs/a~1b%25',
      $defs: {
        'a/b%': {
          type: 'object',
          properties: { next: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/a~1b%25' }] } },
          required: ['next'],
        },
      },
    },
  ],
  [
    'a binary tree of two kinds',
    {
      $ref: '#/$defs/node',
      $defs: {
        node: { anyOf: [{ $ref: '#/$defs/sum' }, { $ref: '#/$defs/leaf' }] },
        leaf: { type: 'object', properties: { value: { type: 'integer' } }, required: ['value'] },
        sum: {
          type: 'object',
          properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } },
          required: ['left', 'right'],
        },
      },
    },
  ],
  [
    'a map of itself, a tuple of itself and a list of at least one of itself',
    {
      type: ['object', 'null'],
      properties: {
        map: { type: 'object', additionalProperties: { $ref: '#' } },
        pair: { type: 'array', prefixItems: [{ $ref: '#' }, { type: 'string' }], items: false },
        list: { type: 'array', items: { $ref: '#' }, minItems: 1, maxItems: 2 },
      },
    },
  ],
  [
    'the form that zod writes',
    { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 't', description: 'd', default: 1, ...person },
  ],
];

function grammarOf(schema: JsonSchema): Grammar {
  const result = schemaGrammar(schema);
  if ('problems' in result) throw new Error(JSON.stringify(result.problems));
  return result.grammar;
}

describe('the grammar of a schema', () => {
  it.each(schemas)('allows only answers that follow it: %s', (_, schema) => {
    expect(checkSchema(schema)).toBeNull();
    const sample = grammarSampler(grammarOf(schema).text, seededRandom(7));
    const check = createAnswerCheck(schema);
    for (let index = 0; index < 60; index += 1) {
      const text = sample();
      expect(check(text), text).toMatchObject({ outcome: 'valid' });
    }
  });

  it('lets references nest eight levels deep, and fewer where parts that must be there branch', () => {
    const levelsOf = (schema: JsonSchema, count: (text: string) => number) => {
      const sample = grammarSampler(grammarOf(schema).text, seededRandom(11), 5000);
      return Math.max(...Array.from({ length: 300 }, () => count(sample())));
    };
    const chain = {
      type: 'object',
      properties: { next: { anyOf: [{ type: 'null' }, { $ref: '#' }] } },
      required: ['next'],
    };
    expect(levelsOf(chain, (text) => text.split('next').length - 1)).toBe(8);
    const branching = {
      anyOf: [
        { type: 'boolean' },
        {
          type: 'object',
          properties: Object.fromEntries([...'abcdef'].map((name) => [name, { $ref: '#' }])),
          required: [...'abcdef'],
        },
      ],
    };
    const depth = (text: string) =>
      Math.max(
        ...[...text].map(
          (
            (level) => (one: string) =>
              (level += one === '{' ? 1 : one === '}' ? -1 : 0)
          )(0),
        ),
      );
    expect(levelsOf(branching, depth)).toBe(2);
    expect(grammarOf(branching).endBytes).toBeLessThan(3000);
  });

  it('bounds texts, lists and maps that the schema leaves open', () => {
    const { text } = grammarOf({ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } });
    expect(text).not.toMatch(/[*+](?= |$)|\{\d+,\}/m);
  });

  it('has rules for a recursive schema that is too large to repeat at every level', () => {
    const names = Array.from({ length: 60 }, (_, index) => `p${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 100 }]));
    const schema = { type: 'object', properties: { ...properties, next: { $ref: '#' } }, required: ['p0'] };
    const sample = grammarSampler(grammarOf(schema).text, seededRandom(11), 5000);
    const check = createAnswerCheck(schema);
    for (let index = 0; index < 20; index += 1) expect(check(sample())).toMatchObject({ outcome: 'valid' });
  });

  it('includes the ends of a range of integers, and nothing beyond', () => {
    for (const [minimum, maximum] of [
      [0, 0],
      [7, 12],
      [-5, 5],
      [98, 1203],
      [-120, -99],
    ] as const) {
      const sample = grammarSampler(grammarOf({ type: 'integer', minimum, maximum }).text, seededRandom(3));
      const numbers = Array.from({ length: 5000 }, () => Number(sample()));
      expect(Math.min(...numbers)).toBeGreaterThanOrEqual(minimum);
      expect(Math.max(...numbers)).toBeLessThanOrEqual(maximum);
      if (maximum - minimum < 20)
        expect(new Set(numbers.map((number) => number || 0)).size).toBe(maximum - minimum + 1);
    }
  });

  it('allows any JSON object for json_object', () => {
    const sample = grammarSampler(objectGrammar.text, seededRandom(5));
    for (let index = 0; index < 100; index += 1) expect(JSON.parse(sample())).toBeTypeOf('object');
  });

  it.each([
    [{ type: 'string', pattern: '^a' }, '', 'pattern'],
    [{ type: 'object', properties: { a: { oneOf: [{ type: 'string' }] } } }, '/properties/a', 'oneOf'],
    [{ type: 'array', items: { not: {} } }, '/items', 'not'],
    [{ type: 'object', patternProperties: { a: {} } }, '', 'patternProperties'],
    [{ type: 'array', uniqueItems: true }, '', 'uniqueItems'],
    [{ type: 'array', minItems: 1e9 }, '', 'minItems'],
    [{ type: 'array', minItems: 3, maxItems: 2 }, '', 'maxItems'],
    [{ type: 'string', minLength: 1e6 }, '', 'minLength'],
    [{ type: 'string', format: 'uri' }, '', 'format'],
    [{ type: 'number', multipleOf: 0.1 }, '', 'multipleOf'],
    [{ type: 'integer', minimum: 0.2, maximum: 0.8 }, '', 'minimum'],
    [{ allOf: [{ type: 'string' }, { maxLength: 3 }] }, '', 'allOf'],
    [{ type: 'string', anyOf: [{ maxLength: 3 }] }, '', 'type'],
    [{ $ref: 'https://example.com/schema' }, '', '$ref'],
    [{ $ref: '#' }, '', '$ref'],
    [{ anyOf: [{ $ref: '#' }, { type: 'string' }] }, '', '$ref'],
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '', '$ref'],
    [{ enum: Array.from({ length: 1001 }, (_, index) => index) }, '', 'enum'],
    [{ anyOf: Array.from({ length: 501 }, () => ({})) }, '', 'anyOf'],
    [{ type: 'string', enum: [1] }, '', 'enum'],
    [{ type: 'object', required: ['a'], additionalProperties: false }, '/additionalProperties', 'false'],
    [{ type: 'object', minProperties: 2, properties: { a: {}, b: {} } }, '', 'minProperties'],
  ] as const)('names what no grammar can express: %j', (schema, pointer, keyword) => {
    expect(schemaGrammar(schema as unknown as JsonSchema)).toEqual({
      problems: expect.arrayContaining([{ pointer, keyword, issue: expect.any(String) }]),
    });
  });

  it('is bounded for a schema that repeats a lot', () => {
    const list = { type: 'array', items: { type: 'string', maxLength: 1e9 }, maxItems: 1e9 };
    const properties = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`p${index}`, list]));
    expect(schemaGrammar({ type: 'object', properties })).toMatchObject({
      problems: [{ keyword: 'maxLength', issue: 'repeats too much in all for the on-device model' }],
    });
  });
});
