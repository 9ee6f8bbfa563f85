import { isObject, type JsonSchema, valueAtPointer } from './json-schema.ts';

/** Values that JSON has, by the name of their type. */
const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type SchemaType = (typeof types)[number];

export function typesOf(schema: JsonSchema): readonly SchemaType[] | null {
  const { type } = schema;
  if (type !== undefined) return [type].flat() as SchemaType[];
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return ['object'];
  if (schema['additionalProperties'] !== undefined) return ['object'];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array'];
  return null;
}

export function numberAt(schema: JsonSchema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' ? value : undefined;
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The JSON pointer of a reference into the same document; null for any other reference. */
export function referencePointer(reference: string): string | null {
  if (!reference.startsWith('#')) return null;
  const pointer = reference.slice(1).split('/').map(decodeOrKeep).join('/');
  return pointer === '' || pointer.startsWith('/') ? pointer : null;
}

/** What a reference leads to; undefined for nothing and for another document. */
export function referenceTarget(root: JsonSchema, reference: string): unknown {
  const pointer = referencePointer(reference);
  return pointer === null ? undefined : valueAtPointer(root, pointer);
}

type Visit = (schema: unknown) => boolean;

/** Whether a value of a schema can be finished, if `canEnd` says so of what it refers to. */
function canEnd(schema: unknown, ofReference: (reference: string) => boolean): boolean {
  if (!isObject(schema)) return schema !== false;
  const visit: Visit = (inner) => canEnd(inner, ofReference);
  if (typeof schema['$ref'] === 'string') return ofReference(schema['$ref']);
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return true;
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].some(visit);
  if (Array.isArray(schema['allOf'])) return schema['allOf'].every(visit);
  return (typesOf(schema) ?? ['null']).some((type) => {
    if (type === 'array') {
      if (Array.isArray(schema['prefixItems'])) return schema['prefixItems'].every(visit);
      return (numberAt(schema, 'minItems') ?? 0) === 0 || visit(schema['items'] ?? true);
    }
    if (type !== 'object' || !Array.isArray(schema['required'])) return true;
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    return (schema['required'] as string[]).every((name) =>
      visit(properties[name] ?? schema['additionalProperties'] ?? true),
    );
  });
}

/** The references of a schema that come before any character of a value. */
function leadingReferences(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  if (typeof schema['$ref'] === 'string') return [schema['$ref']];
  const options = schema['anyOf'] ?? schema['allOf'];
  return Array.isArray(options) ? options.flatMap(leadingReferences) : [];
}

/**
 * The reference of a schema that leads back to itself in a way that no value ends or begins; null if there is
 * none.
 */
export function endlessReference(root: JsonSchema): string | null {
  const references = [...referencesOf(root)];
  const ending = new Set<string>();
  for (let size = -1; size !== ending.size;) {
    size = ending.size;
    for (const reference of references) {
      if (!ending.has(reference) && canEnd(referenceTarget(root, reference), (inner) => ending.has(inner)))
        ending.add(reference);
    }
  }
  const endless = references.find((reference) => !ending.has(reference));
  if (endless !== undefined) return endless;
  for (const start of references) {
    const seen = new Set<string>();
    const waiting = leadingReferences(referenceTarget(root, start));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next === start) return start;
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(...leadingReferences(referenceTarget(root, next)));
    }
  }
  return null;
}

function referencesOf(value: unknown, found: Set<string> = new Set(['#'])): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') found.add(inner);
    else referencesOf(inner, found);
  }
  return found;
}
