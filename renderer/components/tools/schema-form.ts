import { isObject, type JsonSchema } from '../../../shared/json-schema.ts';

/** The types that the form has a name for. `other` is everything else, such as `anyOf`; it is edited in the source. */
export const parameterTypes = [
  'string',
  'number',
  'integer',
  'boolean',
  'enum',
  'date',
  'date and time',
  'object',
  'string list',
  'number list',
  'enum list',
  'object list',
  'other',
] as const;
export type ParameterType = (typeof parameterTypes)[number];

/** A row of the form: a property of the schema, or of an object inside it. */
export interface ParameterRow {
  /** Names of the properties that lead to it. Objects in lists add no step. */
  readonly path: readonly string[];
  readonly name: string;
  readonly schema: JsonSchema;
  readonly type: ParameterType;
  readonly isRequired: boolean;
  readonly description: string;
  /** Values of an enum, as JSON unless they are texts. */
  readonly values: readonly string[];
  /** Its other restrictions, as in the source. */
  readonly rules: string;
}

const listSuffix = ' list';

function baseType(schema: JsonSchema): ParameterType {
  const { type, format } = schema;
  const single = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  const [only] = single;
  if (single.length !== 1 || ['anyOf', 'oneOf', 'allOf', '$ref', 'const', 'not', 'if'].some((key) => key in schema))
    return 'other';
  if (Array.isArray(schema['enum'])) return only === undefined || only === 'string' ? 'enum' : 'other';
  if (only === 'string' && format === 'date') return 'date';
  if (only === 'string' && format === 'date-time') return 'date and time';
  if (only === 'string' || only === 'number' || only === 'integer' || only === 'boolean' || only === 'object')
    return only;
  return only === undefined && isObject(schema['properties']) ? 'object' : 'other';
}

export function typeOf(schema: JsonSchema): ParameterType {
  const types = [schema['type']].flat().filter((one) => one !== 'null');
  if (types.length !== 1 || types[0] !== 'array') return baseType(schema);
  const { items } = schema;
  if (!isObject(items)) return 'other';
  const inner = baseType(items);
  return (['string', 'number', 'enum', 'object'] as const).some((one) => one === inner)
    ? (`${inner}${listSuffix}` as ParameterType)
    : 'other';
}

/** The schema whose properties a row shows: its own, or that of the items of a list. */
function innerSchema(schema: JsonSchema): JsonSchema {
  return isObject(schema['items']) ? schema['items'] : schema;
}

function withInner(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  return isObject(schema['items']) ? { ...schema, items: change(schema['items']) } : change(schema);
}

const ruleNames: Readonly<Record<string, string>> = {
  pattern: 'matches',
  format: 'format',
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'more than',
  exclusiveMaximum: 'less than',
  multipleOf: 'multiple of',
  minLength: 'min length',
  maxLength: 'max length',
  minItems: 'min items',
  maxItems: 'max items',
  default: 'default',
};

function rulesOf(schema: JsonSchema, type: ParameterType): string {
  return Object.entries(schema)
    .flatMap(([key, value]) => {
      if (!Object.hasOwn(ruleNames, key) || (key === 'format' && type !== 'string')) return [];
      return [`${ruleNames[key]} ${typeof value === 'string' ? value : JSON.stringify(value)}`.slice(0, 120)];
    })
    .join(', ');
}

/** A value of an enum as the form shows it. */
function writtenValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function enumValues(schema: JsonSchema): string[] {
  const values = innerSchema(schema)['enum'];
  if (!Array.isArray(values)) return [];
  return values.filter((value) => value !== null).map(writtenValue);
}

/** Rows that a form can show without a delay. The others are edited in the source. */
const maxRows = 60;
const maxDepth = 5;

/** The properties of a schema, each followed by those inside it. */
export function readRows(schema: JsonSchema): { rows: ParameterRow[]; isComplete: boolean } {
  const rows: ParameterRow[] = [];
  let isComplete = true;
  const addRows = (parent: JsonSchema, path: readonly string[]): void => {
    const properties = isObject(parent['properties']) ? parent['properties'] : {};
    const required = Array.isArray(parent['required']) ? (parent['required'] as unknown[]) : [];
    for (const [name, value] of Object.entries(properties)) {
      if (rows.length >= maxRows) isComplete = false;
      if (!isComplete) return;
      const property = isObject(value) ? value : {};
      const type = isObject(value) ? typeOf(value) : 'other';
      const own = [...path, name];
      const { description } = property;
      rows.push({
        path: own,
        name,
        schema: property,
        type,
        isRequired: required.includes(name),
        description: typeof description === 'string' ? description : '',
        values: type === 'enum' || type === 'enum list' ? enumValues(property) : [],
        rules: rulesOf(property, type),
      });
      if ((type === 'object' || type === 'object list') && own.length < maxDepth) addRows(innerSchema(property), own);
    }
  };
  addRows(schema, []);
  return { rows, isComplete };
}

/** Changes the object that has the property at a path. */
function changeParent(
  schema: JsonSchema,
  path: readonly string[],
  change: (parent: JsonSchema) => JsonSchema,
): JsonSchema {
  const [step, ...rest] = path;
  if (step === undefined || rest.length === 0) return change(schema);
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const property = properties[step];
  if (!isObject(property)) return schema;
  const changed = withInner(property, (inner) => changeParent(inner, rest, change));
  return { ...schema, properties: { ...properties, [step]: changed } };
}

function without(schema: JsonSchema, keyword: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== keyword));
}

const propertiesOf = (parent: JsonSchema) => (isObject(parent['properties']) ? parent['properties'] : {});
const requiredOf = (parent: JsonSchema) =>
  Array.isArray(parent['required']) ? (parent['required'] as unknown[]).map(String) : [];

/** Changes the schema of a property. */
export function changeProperty(
  schema: JsonSchema,
  path: readonly string[],
  change: (property: JsonSchema) => JsonSchema,
): JsonSchema {
  const name = path.at(-1)!;
  return changeParent(schema, path, (parent) => {
    const properties = propertiesOf(parent);
    const property = properties[name];
    return { ...parent, properties: { ...properties, [name]: change(isObject(property) ? property : {}) } };
  });
}

/** Gives a property another name in its position. Returns the same schema if the name is empty or used. */
export function renameProperty(schema: JsonSchema, path: readonly string[], next: string): JsonSchema {
  const name = path.at(-1)!;
  return changeParent(schema, path, (parent) => {
    const properties = propertiesOf(parent);
    if (next === '' || Object.hasOwn(properties, next)) return parent;
    const renamed = Object.entries(properties).map(([key, value]) => [key === name ? next : key, value] as const);
    const required = requiredOf(parent).map((key) => (key === name ? next : key));
    return {
      ...parent,
      properties: Object.fromEntries(renamed),
      ...(parent['required'] !== undefined && { required }),
    };
  });
}

export function setRequired(schema: JsonSchema, path: readonly string[], isRequired: boolean): JsonSchema {
  const name = path.at(-1)!;
  return changeParent(schema, path, (parent) => {
    const others = requiredOf(parent).filter((key) => key !== name);
    const required = new Set(isRequired ? [...others, name] : others);
    // In the order of the properties.
    const ordered = Object.keys(propertiesOf(parent)).filter((key) => required.delete(key));
    return { ...parent, required: [...ordered, ...required] };
  });
}

export function removeProperty(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const name = path.at(-1)!;
  return changeParent(schema, path, (parent) => {
    const { [name]: _, ...properties } = propertiesOf(parent);
    const required = requiredOf(parent).filter((key) => key !== name);
    return { ...parent, properties, ...(parent['required'] !== undefined && { required }) };
  });
}

/** Adds a property with an unused name to the schema, or to the object at a path. */
export function addProperty(schema: JsonSchema, path: readonly string[] = []): JsonSchema {
  return changeParent(schema, [...path, ''], (parent) => {
    const properties = propertiesOf(parent);
    let name = 'parameter';
    for (let number = 2; Object.hasOwn(properties, name); number += 1) name = `parameter_${number}`;
    return {
      ...parent,
      ...(parent['type'] === undefined && { type: 'object' }),
      properties: { ...properties, [name]: { type: 'string' } },
      required: [...requiredOf(parent), name],
    };
  });
}

const newObject = { type: 'object', properties: {}, required: [], additionalProperties: false };

function schemaOfType(type: ParameterType, before: JsonSchema): JsonSchema {
  if (type.endsWith(listSuffix)) {
    const items = schemaOfType(type.slice(0, -listSuffix.length) as ParameterType, innerSchema(before));
    return { type: 'array', items };
  }
  if (type === 'enum') return { type: 'string', enum: Array.isArray(before['enum']) ? before['enum'] : [] };
  if (type === 'date') return { type: 'string', format: 'date' };
  if (type === 'date and time') return { type: 'string', format: 'date-time' };
  if (type === 'object') {
    const { properties, required, additionalProperties = false } = before;
    return isObject(properties) ? { type, properties, required: required ?? [], additionalProperties } : newObject;
  }
  return { type };
}

/** Gives a property another type. Its description stays, and so does null as a value. */
export function setType(property: JsonSchema, type: ParameterType): JsonSchema {
  const { title, description } = property;
  const next = schemaOfType(type, property);
  const wasNullable = Array.isArray(property['type']) && property['type'].includes('null');
  return {
    ...(title !== undefined && { title }),
    ...next,
    ...(wasNullable && { type: [next['type'], 'null'] }),
    ...(wasNullable && Array.isArray(next['enum']) && { enum: [...new Set([...(next['enum'] as unknown[]), null])] }),
    ...(description !== undefined && { description }),
  };
}

export function setDescription(property: JsonSchema, description: string): JsonSchema {
  return description === '' ? without(property, 'description') : { ...property, description };
}

/** Forbids properties that the schema doesn't name, or allows them. */
export function setClosed(schema: JsonSchema, isClosed: boolean): JsonSchema {
  return isClosed ? { ...schema, additionalProperties: false } : without(schema, 'additionalProperties');
}

/** Adds a value to an enum, or removes one. Null stays. */
export function changeValues(property: JsonSchema, change: { add: string } | { remove: string }): JsonSchema {
  return withInner(property, (inner) => {
    const values = Array.isArray(inner['enum']) ? (inner['enum'] as unknown[]) : [];
    const stays = (value: unknown, removed: string) => value === null || writtenValue(value) !== removed;
    if ('remove' in change) return { ...inner, enum: values.filter((value) => stays(value, change.remove)) };
    return { ...inner, enum: [...new Set([...values, change.add])] };
  });
}
