import { isObject, type JsonSchema } from './json-schema.ts';

/** Formats that every provider and the on-device grammar support. */
const portableFormats = new Set(['date', 'time', 'date-time', 'uuid']);

/** Restrictions that at least one provider rejects. They move into the description, which every model reads. */
const restrictions = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'contains',
  'minContains',
  'maxContains',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
] as const;

/** Keywords without a meaning for the model. */
const dropped = new Set([
  'default',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$schema',
  '$id',
  '$comment',
  'examples',
]);

const maxDescription = 500;

function withNote(description: unknown, notes: readonly string[]): string {
  const note = notes.join('; ').slice(0, maxDescription);
  return typeof description === 'string' && description !== '' ? `${description} (${note})` : note;
}

/** One schema for `allOf`, if its schemas are objects whose keywords don't contradict each other; null otherwise. */
function merged(schemas: readonly unknown[]): JsonSchema | null {
  const result: JsonSchema = {};
  for (const schema of schemas) {
    if (!isObject(schema) || schema['$ref'] !== undefined) return null;
    for (const [key, value] of Object.entries(schema)) {
      const earlier = result[key];
      if (earlier === undefined || JSON.stringify(earlier) === JSON.stringify(value)) result[key] = value;
      else if (key === 'required') result[key] = [...new Set([...(earlier as string[]), ...(value as string[])])];
      else if (key === 'properties' && isObject(earlier) && isObject(value)) {
        if (Object.keys(value).some((name) => Object.hasOwn(earlier, name))) return null;
        result[key] = { ...earlier, ...value };
      } else if (key !== 'description' && key !== 'title') return null;
    }
  }
  return result;
}

/** The schema with null as another value. */
function nullable(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { type } = schema;
  const values = schema['enum'];
  const withNull = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  if (type !== undefined) return { ...schema, type: [...new Set([type, 'null'].flat())], ...withNull };
  if (Array.isArray(values)) return { ...schema, ...withNull };
  if (Array.isArray(schema['anyOf']))
    return { ...schema, anyOf: [...(schema['anyOf'] as unknown[]), { type: 'null' }] };
  return { anyOf: [schema, { type: 'null' }] };
}

function portableObject(schema: JsonSchema): JsonSchema {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  const written = Object.entries(properties).map(([name, property]) => {
    const converted = convert(property);
    return [name, required.includes(name) ? converted : nullable(converted)] as const;
  });
  return {
    ...schema,
    type: schema['type'] ?? 'object',
    properties: Object.fromEntries(written),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function isOpenMap(schema: JsonSchema): boolean {
  return !isObject(schema['properties']) || Object.keys(schema['properties']).length === 0;
}

function flatten(schema: JsonSchema): JsonSchema {
  const { allOf, oneOf, ...rest } = schema;
  if (Array.isArray(allOf)) {
    const whole = merged([...allOf, rest]);
    if (whole) return flatten(whole);
  }
  // One of the options still applies. The check of the answer enforces that only one does.
  if (Array.isArray(oneOf) && rest['anyOf'] === undefined) {
    return { ...rest, ...(Array.isArray(allOf) && { allOf }), anyOf: oneOf };
  }
  return schema;
}

function convertMap(value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, convert(inner)]))
    : value;
}

function convert(value: unknown): unknown {
  if (!isObject(value)) return value;
  const schema: JsonSchema = {};
  const notes: string[] = [];
  for (const [key, inner] of Object.entries(flatten(value))) {
    if ((restrictions as readonly string[]).includes(key)) notes.push(`${key}: ${JSON.stringify(inner)}`);
    else if (key === 'format' && !portableFormats.has(String(inner))) notes.push(`format: ${String(inner)}`);
    else if (key === 'const') schema['enum'] = [inner];
    else if (key === 'items') schema[key] = convert(inner);
    else if (key === '$defs' || key === 'definitions') schema[key] = convertMap(inner);
    else if (key === 'anyOf' && Array.isArray(inner)) schema[key] = inner.map(convert);
    else if (!dropped.has(key)) schema[key] = inner;
  }
  if (notes.length > 0) schema['description'] = withNote(schema['description'], notes);
  const isObjectSchema = [schema['type']].flat().includes('object') || isObject(schema['properties']);
  // No format of a map without known names is supported by every provider.
  return isObjectSchema && !isOpenMap(schema) ? portableObject(schema) : schema;
}

/**
 * Converts a schema as far as possible to a form that every provider supports: closed objects, all properties required and optional
 * ones nullable, restrictions as text, an object at the root.
 */
export function portableSchema(schema: JsonSchema): JsonSchema {
  const { $defs, definitions, ...converted } = convert(schema) as JsonSchema;
  const shared = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  if (converted['type'] === 'object' || converted['$ref'] !== undefined) return { ...converted, ...shared };
  return {
    type: 'object',
    properties: { value: converted },
    required: ['value'],
    additionalProperties: false,
    ...shared,
  };
}
