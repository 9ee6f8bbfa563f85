import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../../../../shared/json-schema.ts';
import {
  addProperty,
  changeProperty,
  changeValues,
  type ParameterType,
  parameterTypes,
  readRows,
  removeProperty,
  renameProperty,
  setClosed,
  setDescription,
  setRequired,
  setType,
  typeOf,
} from '../../../../../renderer/components/tools/schema-form.ts';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    order_id: { type: 'string', pattern: '^NW', description: 'On the invoice' },
    include: { type: 'array', items: { enum: ['items', 'parcels'] }, minItems: 1 },
    address: { type: 'object', properties: { city: { type: ['string', 'null'] } }, required: ['city'] },
    lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    any: true,
  },
  required: ['order_id', 'include'],
};

test('rows are the properties with those inside objects and lists of objects', () => {
  const { rows, isComplete } = readRows(schema);
  expect(isComplete).toBe(true);
  expect(rows.map(({ path, type, isRequired, rules }) => [path.join('.'), type, isRequired, rules])).toEqual([
    ['order_id', 'string', true, 'matches ^NW'],
    ['include', 'enum list', true, 'min items 1'],
    ['address', 'object', false, ''],
    ['address.city', 'string', true, ''],
    ['lines', 'object list', false, ''],
    ['lines.sku', 'string', false, ''],
    ['either', 'other', false, ''],
    ['any', 'other', false, ''],
  ]);
  expect(rows[0]?.description).toBe('On the invoice');
  expect(rows[1]?.values).toEqual(['items', 'parcels']);
});

test('a form shows at most 60 rows', () => {
  const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, { type: 'string' }]));
  const { rows, isComplete } = readRows({ properties });
  expect([rows.length, isComplete]).toEqual([60, false]);
});

describe('a change', () => {
  test('renames a property in its position, with its requirement', () => {
    const renamed = renameProperty(schema, ['order_id'], 'id');
    expect(Object.keys(renamed['properties'] as object)[0]).toBe('id');
    expect(renamed['required']).toEqual(['id', 'include']);
    const inner = renameProperty(schema, ['lines', 'sku'], 'code');
    expect(inner).toHaveProperty('properties.lines.items.properties', { code: { type: 'string' } });
  });

  test('does not rename to a used or empty name', () => {
    expect(renameProperty(schema, ['order_id'], 'include')).toEqual(schema);
    expect(renameProperty(schema, ['order_id'], '')).toEqual(schema);
  });

  test('adds, requires, describes and removes properties', () => {
    const added = addProperty(addProperty({}));
    expect(added).toEqual({
      type: 'object',
      properties: { parameter: { type: 'string' }, parameter_2: { type: 'string' } },
      required: ['parameter', 'parameter_2'],
    });
    expect(addProperty(schema, ['address'])).toHaveProperty('properties.address.required', ['city', 'parameter']);
    expect(setRequired(schema, ['either'], true)['required']).toEqual(['order_id', 'include', 'either']);
    expect(setRequired(schema, ['order_id'], false)['required']).toEqual(['include']);
    const described = changeProperty(schema, ['address', 'city'], (city) => setDescription(city, 'Where'));
    expect(described).toHaveProperty('properties.address.properties.city.description', 'Where');
    expect(removeProperty(schema, ['order_id'])['required']).toEqual(['include']);
    expect(removeProperty(schema, ['lines', 'sku'])).toHaveProperty('properties.lines.items.properties', {});
    expect(setClosed(setClosed(schema, true), false)).toEqual(schema);
  });

  test('adds and removes values of enums and of lists of them', () => {
    const include = (schema['properties'] as Record<string, JsonSchema>)['include']!;
    const more = changeValues(include, { add: 'notes' });
    expect(more).toHaveProperty('items.enum', ['items', 'parcels', 'notes']);
    expect(changeValues(more, { remove: 'items' })).toHaveProperty('items.enum', ['parcels', 'notes']);
    const mixed = { enum: [1, 'null', null] };
    expect(changeValues(mixed, { remove: '1' })).toEqual({ enum: ['null', null] });
    expect(changeValues(mixed, { remove: 'null' })).toEqual({ enum: [1, null] });
  });
});

test.each(parameterTypes.filter((type) => type !== 'other'))(
  'a property becomes %s and is read as that',
  (type: ParameterType) => {
    const before = { type: ['string', 'null'], description: 'D', pattern: 'x' };
    const after = setType(before, type);
    expect(typeOf(after)).toBe(type);
    expect(after['description']).toBe('D');
    expect(after['type']).toContain('null');
    expect(after['pattern']).toBeUndefined();
  },
);
