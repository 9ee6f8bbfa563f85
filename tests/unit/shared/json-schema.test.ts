import { describe, expect, it } from 'vitest';
import {
  describeSchemaIssue,
  type JsonSchema,
  maxSchemaBytes,
  schemaLimitIssue,
  schemaNodes,
  valueAtPointer,
} from '../../../shared/json-schema.ts';

function nested(levels: number): JsonSchema {
  let schema: JsonSchema = { type: 'string' };
  for (let level = 1; level < levels; level += 1) schema = { type: 'object', properties: { 'a/b': schema } };
  return schema;
}

describe('the limits of a schema', () => {
  it('are 32 levels of schemas', () => {
    expect(schemaLimitIssue(nested(32))).toBeNull();
    const issue = schemaLimitIssue(nested(33));
    expect(issue).toEqual({ pointer: '/properties/a~1b'.repeat(32), issue: 'is nested deeper than 32 levels' });
    expect(describeSchemaIssue(issue!)).toMatch(/^at ….{200} is nested deeper than 32 levels$/);
  });

  it('count the levels of alternatives, lists and values, but not of lists of schemas', () => {
    expect(schemaLimitIssue({ anyOf: [nested(31)] })).toBeNull();
    expect(schemaLimitIssue({ anyOf: [nested(32)] })).not.toBeNull();
    expect(schemaLimitIssue({ $defs: { a: { items: nested(31) } } })).not.toBeNull();
    let value: unknown = 1;
    for (let level = 0; level < 31; level += 1) value = [value];
    expect(schemaLimitIssue({ default: value })).toBeNull();
    expect(schemaLimitIssue({ default: [value] })).toMatchObject({ pointer: `/default${'/0'.repeat(31)}` });
  });

  it('apply without recursion to a schema that is nested a hundred thousand times', () => {
    let schema: JsonSchema = {};
    for (let level = 0; level < 100_000; level += 1) schema = { items: schema };
    expect(schemaLimitIssue(schema)?.issue).toBe('is nested deeper than 32 levels');
  });

  it.each(['a', 'é', '漢', '😀'])('are 100 KB in UTF-8 of %s', (character) => {
    const schemaOf = (bytes: number): JsonSchema => {
      const size = Buffer.byteLength(JSON.stringify({ description: '' }));
      const count = Math.floor((bytes - size) / Buffer.byteLength(character));
      return { description: character.repeat(count) };
    };
    expect(schemaLimitIssue(schemaOf(maxSchemaBytes))).toBeNull();
    expect(schemaLimitIssue(schemaOf(maxSchemaBytes + 4))).toEqual({ pointer: '', issue: 'is larger than 100 KB' });
  });
});

it('finds the schemas inside a schema, and no values that look like one', () => {
  const schema = {
    properties: { properties: { type: 'string' }, default: { items: [{}, {}] } },
    default: { properties: { x: {} } },
    enum: [{ items: {} }],
    additionalProperties: { anyOf: [{ $ref: '#' }, true] },
  };
  expect([...schemaNodes(schema)].map(({ pointer, depth }) => `${depth} ${pointer}`)).toEqual([
    '1 ',
    '2 /properties/properties',
    '2 /properties/default',
    '3 /properties/default/items/0',
    '3 /properties/default/items/1',
    '2 /additionalProperties',
    '3 /additionalProperties/anyOf/0',
  ]);
});

it('reads a JSON pointer with escapes, and nothing that an object inherits', () => {
  const value = { 'a/b': [{ '~': 1 }] };
  expect(valueAtPointer(value, '/a~1b/0/~0')).toBe(1);
  expect(valueAtPointer(value, '')).toBe(value);
  expect(valueAtPointer(value, '/toString')).toBeUndefined();
  expect(valueAtPointer(value, '/a~1b/length')).toBe(1);
});
