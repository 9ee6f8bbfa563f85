// @module-tag slow
import { afterEach, describe, expect, it } from 'vitest';
import { checkSchema, createAnswerCheck } from '../../../electron/schemas/check-schema.ts';
import { createSchemaChecker, type SchemaChecker } from '../../../electron/schemas/create-schema-checker.ts';
import type { JsonSchema } from '../../../shared/json-schema.ts';

const { signal } = new AbortController();

describe('a schema', () => {
  it.each([
    [{ type: 'objekt' }, '/type', /^must be one of "array", "boolean"/],
    [{ properties: { a: { type: 'string', minLength: -1 } } }, '/properties/a/minLength', /^must be 0 or more$/],
    [{ properties: { a: { required: 'x' } } }, '/properties/a/required', /^must be a list$/],
    [{ properties: { a: 1 } }, '/properties/a', /^must be an object or true or false$/],
    [{ items: { pattern: '(' } }, '/items', /^has the invalid regular expression "\("$/],
    [{ patternProperties: { '[': {} } }, '', /^has the invalid regular expression "\["$/],
    [{ $ref: '#/$defs/x' }, '/$ref', /^refers to "#\/\$defs\/x", which doesn't exist$/],
    [{ items: { $ref: 'https://example.com/x' } }, '/items/$ref', /^refers to "https:/],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, '/$schema', /^must be draft 2020-12/],
    [{ $async: true }, '/$async', /^is not supported$/],
  ] as const)('is invalid at a path: %j', (schema, pointer, issue) => {
    expect(checkSchema(schema as JsonSchema)).toEqual({ pointer, issue: expect.stringMatching(issue) });
  });

  it.each([
    [{ $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} }, $ref: '#/definitions/a' }],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema', items: [{}] }],
    [{ $id: 'https://example.com/a', properties: { a: { $ref: '#' }, b: { pattern: '^(?=a)' } } }],
  ])('of another draft or with its own id is valid: %j', (schema) => {
    expect(checkSchema(schema)).toBeNull();
    expect(checkSchema(schema)).toBeNull();
  });

  it("can't replace the schema of schemas", () => {
    const $id = 'https://json-schema.org/draft/2020-12/schema';
    expect(checkSchema({ $id, type: 'string' })).not.toBeNull();
    expect(checkSchema({ type: 'objekt' })).not.toBeNull();
    expect(checkSchema({ type: 'object' })).toBeNull();
  });
});

describe('the check of an answer', () => {
  const check = createAnswerCheck({
    type: 'object',
    properties: {
      part: { enum: ['rim', 'fork'] },
      decided_on: { type: 'string', format: 'date' },
      'a/b': { type: 'array', items: { type: 'integer', minimum: 1 } },
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      code: { type: 'string', pattern: '^[A-Z]+$' },
    },
    required: ['part'],
    additionalProperties: false,
  });

  it('reports the error at each path', () => {
    const answer = { decided_on: '24 November', 'a/b': [1, 0, 1.5], either: 3, code: 'x', extra: 1 };
    const { errors, ...rest } = check(JSON.stringify(answer));
    expect(rest).toEqual({ outcome: 'invalid', reason: null, errorCount: 7 });
    expect(errors).toEqual(
      expect.arrayContaining([
        { path: '', message: 'must have the property "part"' },
        { path: '/extra', message: 'is not allowed here' },
        { path: '/decided_on', message: 'must be a date, as in 2026-11-24' },
        { path: '/a~1b/1', message: 'must be 1 or more' },
        { path: '/a~1b/2', message: 'must be a whole number' },
        { path: '/either', message: 'must match at least one of the alternatives' },
        { path: '/code', message: 'must match pattern "^[A-Z]+$"' },
      ]),
    );
  });

  it.each(['anyOf', 'oneOf'])('reports no error inside an alternative of %s, also behind references', (keyword) => {
    const shapes = createAnswerCheck({
      properties: {
        shape: { $ref: '#/$defs/shape' },
        frame: { $ref: '#/$defs/circle' },
        both: { allOf: [{ $ref: '#/$defs/named' }, { $ref: '#/$defs/shape' }] },
      },
      $defs: {
        shape: { [keyword]: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/group' }] },
        circle: { required: ['radius'] },
        group: { required: ['members'], properties: { members: { items: { $ref: '#/$defs/shape' } } } },
        named: { required: ['name'] },
      },
    });
    const alternatives = `must match ${keyword === 'anyOf' ? 'at least' : 'exactly'} one of the alternatives`;
    const { errors, errorCount } = shapes('{ "shape": { "members": [{}] }, "frame": {}, "both": {} }');
    expect([errors, errorCount]).toEqual([
      [
        { path: '/shape', message: alternatives },
        { path: '/frame', message: 'must have the property "radius"' },
        { path: '/both', message: 'must have the property "name"' },
        { path: '/both', message: alternatives },
      ],
      4,
    ]);
    expect(shapes('{ "shape": { "members": [{ "radius": 1 }] } }').outcome).toBe('valid');
  });

  it('repairs nothing', () => {
    expect(check('{"part": "rim"}').outcome).toBe('valid');
    for (const text of ['{"part": "rim"', '```json\n{"part": "rim"}\n```', "{'part': 'rim'}", '']) {
      expect(check(text)).toMatchObject({ outcome: 'not-json', errors: [] });
    }
  });

  it('survives an answer with 10,000 levels', () => {
    const nested = createAnswerCheck({ items: { $ref: '#' } });
    expect(nested('['.repeat(10_000) + ']'.repeat(10_000)).reason).toBe('The answer is nested too deeply to check');
  });

  it('returns at most 100 errors and counts all', () => {
    const list = createAnswerCheck({ items: { type: 'string' } });
    const { errors, errorCount } = list(JSON.stringify(Array.from({ length: 5000 }, () => 1)));
    expect([errors.length, errorCount]).toEqual([100, 5000]);
  });

  it('needs no backtracking for a pattern that is hard for other engines', () => {
    const pattern = createAnswerCheck({ type: 'string', pattern: '^(a+)+$' });
    expect(pattern(JSON.stringify(`${'a'.repeat(50_000)}!`)).outcome).toBe('invalid');
  });
});

describe('the thread that checks', () => {
  let checker: SchemaChecker;
  afterEach(() => checker.close());

  it('checks a schema once, and later ones without a promise', async () => {
    checker = createSchemaChecker();
    expect(await checker.check({ type: 'object' }, { signal })).toBeNull();
    expect(checker.check({ type: 'object' }, { signal })).toBeNull();
    expect(await checker.check({ type: 'objekt' }, { signal })).toMatchObject({ pointer: '/type' });
    expect(await checker.check({ type: 'objekt' }, { signal })).toMatchObject({ pointer: '/type' });
  });

  it('ends a check that takes too long, and continues with the next one', async () => {
    checker = createSchemaChecker({ milliseconds: 5000, megabytes: 256 });
    // A pattern with a look-ahead needs the engine that backtracks.
    const slow = { type: 'string', pattern: '^(?=b|a)(a+)+$' };
    const text = JSON.stringify(`${'a'.repeat(200)}!`);
    const [first, second] = await Promise.all([
      checker.checkAnswer(slow, text, { signal }),
      checker.checkAnswer({ type: 'string' }, '"a"', { signal }),
    ]);
    expect(first).toMatchObject({ outcome: 'unchecked', reason: 'The answer takes too long to check' });
    expect(second.outcome).toBe('valid');
  });

  it('stops when its caller leaves', async () => {
    checker = createSchemaChecker();
    const controller = new AbortController();
    const check = checker.checkAnswer({ type: 'string' }, '"a"', { signal: controller.signal });
    controller.abort();
    await expect(check).rejects.toThrow();
  });
});
