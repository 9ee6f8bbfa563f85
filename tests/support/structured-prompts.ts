/** Prompts whose answers follow a schema, with what schemas have: optional properties, lists, alternatives, recursion, formats, limits. */
export const structuredPrompts: readonly { readonly prompt: string; readonly schema: Record<string, unknown> }[] = [
  {
    prompt: 'The rim has a dent after an impact. Describe the damage claim.',
    schema: {
      type: 'object',
      properties: {
        part: { enum: ['rim', 'fork', 'frame', null] },
        cause: { type: 'string', maxLength: 60 },
        covered: { type: 'boolean' },
        decided_on: { type: 'string', format: 'date' },
      },
      required: ['part', 'covered'],
      additionalProperties: false,
    },
  },
  {
    prompt: 'Ann is 34 years old and lives in Lyon. Extract the person.',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        age: { type: 'integer', minimum: 0, maximum: 130 },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
      },
      required: ['name', 'age', 'confidence'],
    },
  },
  {
    prompt: 'Name three colours.',
    schema: { type: 'array', items: { type: 'string', maxLength: 20 }, minItems: 3, maxItems: 3 },
  },
  {
    prompt: 'Is this review positive? "I love this bicycle."',
    schema: { enum: ['positive', 'neutral', 'negative'] },
  },
  {
    prompt: 'Write a short tree of a family with Ann and her children Ben and Cid.',
    schema: {
      $ref: '#/$defs/person',
      $defs: {
        person: {
          type: 'object',
          properties: {
            name: { type: 'string', maxLength: 30 },
            children: { type: 'array', items: { $ref: '#/$defs/person' }, maxItems: 3 },
          },
          required: ['name'],
          additionalProperties: false,
        },
      },
    },
  },
  {
    prompt: 'The parcel NW-48213 was handed over, then damaged. Report its state.',
    schema: {
      type: 'object',
      properties: {
        parcel: { type: 'string', minLength: 3, maxLength: 12 },
        state: {
          anyOf: [
            { const: 'lost' },
            { type: 'object', properties: { damaged: { type: 'boolean' } }, required: ['damaged'] },
          ],
        },
      },
      required: ['parcel', 'state'],
    },
  },
];
