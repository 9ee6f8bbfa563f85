import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../../electron/schemas/check-schema.ts';
import type { JsonSchema } from '../../../shared/json-schema.ts';
import { portableSchema } from '../../../shared/portable-schema.ts';
import { lintSchema } from '../../../shared/schema-lint.ts';
import { schemaRules, schemaTargets, type SchemaTarget } from '../../../shared/schema-rules.ts';

const closed = (properties: Record<string, unknown>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

function findingsFor(schema: JsonSchema): string[] {
  return lintSchema(schema).map(({ target, pointer, keyword, effect }) => `${target} ${effect} ${pointer} ${keyword}`);
}

describe('the linter', () => {
  it('accepts what every provider supports', () => {
    const schema = closed({
      title: { type: 'string', description: 'Short' },
      kind: { type: 'string', enum: ['a', 'b'] },
      when: { type: ['string', 'null'], format: 'date-time' },
      items: { type: 'array', items: closed({ count: { type: 'integer' } }) },
      place: { $ref: '#/$defs/place' },
    });
    expect(findingsFor({ ...schema, $defs: { place: closed({ city: { type: 'string' } }) } })).toEqual([]);
  });

  it.each<[schema: JsonSchema, rejecting: readonly SchemaTarget[], notEnforcing: readonly SchemaTarget[]]>([
    [closed({ a: { type: 'integer', minimum: 1 } }), ['Cohere'], ['Anthropic']],
    [closed({ a: { type: 'integer', exclusiveMinimum: 1 } }), [], ['Anthropic', 'GoogleGemini']],
    [closed({ a: { type: 'string', pattern: 'a' } }), ['OnDevice'], ['Anthropic', 'GoogleGemini']],
    [closed({ a: { type: 'string', format: 'email' } }), ['Cohere'], ['GoogleGemini']],
    [closed({ a: { type: 'string', format: 'uri' } }), ['OpenAi', 'Cohere', 'OnDevice'], ['GoogleGemini']],
    [closed({ a: { anyOf: [{ type: 'string' }, { type: 'null' }] } }), ['Cohere'], []],
    [closed({ a: { oneOf: [{ type: 'string' }, { type: 'null' }] } }), ['OpenAi', 'Cohere', 'OnDevice'], []],
    [
      closed({ a: { allOf: [{ type: 'string' }, { maxLength: 2 }] } }),
      ['OpenAi', 'Cohere', 'OnDevice'],
      ['Anthropic', 'GoogleGemini'],
    ],
    [closed({ a: { type: 'array', items: {}, maxItems: 2 } }), ['Cohere'], ['Anthropic']],
    [
      closed({ a: { type: 'array', items: {}, uniqueItems: true } }),
      ['OpenAi', 'Cohere', 'OnDevice'],
      ['Anthropic', 'GoogleGemini'],
    ],
    [{ type: 'array', items: { type: 'string' } }, ['OpenAi', 'Cohere'], []],
    [{ type: 'object', properties: { a: {} }, required: ['a'] }, ['OpenAi', 'Groq'], ['Anthropic']],
    [{ ...closed({ a: {}, b: {} }), required: ['a'] }, ['OpenAi', 'Groq'], []],
    [{ ...closed({ a: {} }), required: [] }, ['OpenAi', 'Cohere', 'Groq'], []],
    [{ ...closed({ a: { type: 'array', items: { $ref: '#' } } }) }, [], ['Anthropic']],
  ])('knows who rejects and who does not enforce %j', (schema, rejecting, notEnforcing) => {
    const findings = lintSchema(schema);
    const targetsWith = (effect: string) =>
      schemaTargets.filter((target) => findings.some((each) => each.target === target && each.effect === effect));
    expect(checkSchema(schema)).toBeNull();
    expect(targetsWith('rejected')).toEqual(rejecting);
    expect(targetsWith('not-enforced')).toEqual(notEnforcing);
  });

  it('counts levels, properties and enum values for OpenAI', () => {
    let deep: JsonSchema = { type: 'string' };
    for (let level = 0; level < 11; level += 1) deep = closed({ a: deep });
    expect(findingsFor(deep)).toContain('OpenAi rejected  objectLevels');
    const values = Array.from({ length: 1001 }, (_, index) => index);
    expect(findingsFor(closed({ a: { enum: values } }))).toContain('OpenAi rejected  enumValues');
  });

  it('checks only the requested targets', () => {
    expect(lintSchema({ type: 'array' }, ['Groq'])).toEqual([]);
  });

  it('cites a page for every provider', () => {
    for (const { page } of Object.values(schemaRules)) expect(page).toMatch(/^https:\/\/\S+#\S+$/);
  });
});

describe('the portable form', () => {
  it('closes objects, requires all properties, and keeps restrictions as text', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        age: { type: 'integer', minimum: 0, description: 'In years' },
        mail: { type: 'string', format: 'email' },
        kind: { const: 'a' },
        tags: { type: 'array', items: { type: 'string', maxLength: 9 }, uniqueItems: true },
        size: { enum: [1, 2] },
      },
      required: ['age', 'kind'],
    };
    const portable = portableSchema(schema);
    expect(lintSchema(portable)).toEqual([]);
    expect(portable).toEqual({
      type: 'object',
      properties: {
        age: { type: 'integer', description: 'In years (minimum: 0)' },
        mail: { type: ['string', 'null'], description: 'format: email' },
        kind: { enum: ['a'] },
        tags: {
          type: ['array', 'null'],
          items: { type: 'string', description: 'maxLength: 9' },
          description: 'uniqueItems: true',
        },
        size: { enum: [1, 2, null] },
      },
      required: ['age', 'mail', 'kind', 'tags', 'size'],
      additionalProperties: false,
    });
  });

  it('merges allOf, turns oneOf into anyOf, and puts another root into an object', () => {
    const parts = [
      { type: 'object', properties: { a: { type: 'null' } }, required: ['a'] },
      { properties: { b: { type: 'null' } }, required: ['b'] },
    ];
    expect(portableSchema({ allOf: parts })).toEqual(closed({ a: { type: 'null' }, b: { type: 'null' } }));
    expect(portableSchema({ oneOf: [{ type: 'string' }, { type: 'null' }] })).toEqual(
      closed({ value: { anyOf: [{ type: 'string' }, { type: 'null' }] } }),
    );
    expect(lintSchema(portableSchema({ type: 'array', items: { type: 'string' } }))).toEqual([]);
  });

  it('keeps what no common form can express', () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    expect(portableSchema(map)).toEqual(map);
  });
});
