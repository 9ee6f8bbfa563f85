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

function typeOf(value: unknown): SchemaType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'object' | 'string' | 'boolean';
}

/** Whether a value has one of the types of its schema. */
export function isAllowedType(value: unknown, allowed: readonly SchemaType[] | null): boolean {
  const type = typeOf(value);
  return allowed === null || allowed.includes(type) || (type === 'integer' && allowed.includes('number'));
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

/** How many recursive references a value of the schema at a reference must nest. Infinity if no value ends. */
type LevelsOfReference = (reference: string) => number;

function maxOf(values: readonly number[]): number {
  return values.reduce((max, value) => Math.max(max, value), 0);
}

/** How many recursive references a value of a schema must nest, if its references need the given numbers. */
export function levelsToEnd(schema: unknown, ofReference: LevelsOfReference): number {
  if (!isObject(schema)) return schema === false ? Infinity : 0;
  const visit = (inner: unknown) => levelsToEnd(inner, ofReference);
  if (typeof schema['$ref'] === 'string') return ofReference(schema['$ref']);
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return 0;
  if (Array.isArray(schema['anyOf'])) return Math.min(...schema['anyOf'].map(visit));
  if (Array.isArray(schema['allOf'])) return maxOf(schema['allOf'].map(visit));
  const ofTypes = (typesOf(schema) ?? ['null']).map((type) => {
    if (type === 'array') {
      if (Array.isArray(schema['prefixItems'])) return maxOf(schema['prefixItems'].map(visit));
      return (numberAt(schema, 'minItems') ?? 0) === 0 ? 0 : visit(schema['items'] ?? true);
    }
    if (type !== 'object' || !Array.isArray(schema['required'])) return 0;
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    return maxOf(
      (schema['required'] as string[]).map((name) => visit(properties[name] ?? schema['additionalProperties'] ?? true)),
    );
  });
  return Math.min(...ofTypes);
}

/** The references of a schema that come before any character of a value. */
function leadingReferences(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  if (typeof schema['$ref'] === 'string') return [schema['$ref']];
  const options = schema['anyOf'] ?? schema['allOf'];
  return Array.isArray(options) ? options.flatMap(leadingReferences) : [];
}

export interface ReferenceLevels {
  /** How many recursive references a value must nest from a reference on. Infinity if no value ends. */
  readonly of: LevelsOfReference;
  /** Whether a reference leads to itself again. */
  readonly isRecursive: (reference: string) => boolean;
  /** Whether a reference leads to a recursive one. */
  readonly leadsToRecursive: (reference: string) => boolean;
}

/** How many different references a schema has. */
export function referenceCount(root: JsonSchema): number {
  return referencesOf(root).size;
}

/** How the references of a schema nest. */
export function referenceLevels(root: JsonSchema): ReferenceLevels {
  const keys = new Map(
    [...referencesOf(root)].map((reference) => [reference, referencePointer(reference) ?? reference]),
  );
  const key = (reference: string) => keys.get(reference) ?? reference;
  const targets = new Map(
    [...referencesOf(root)].map((reference) => [key(reference), referenceTarget(root, reference)]),
  );
  const next = new Map(
    [...targets].map(([name, target]) => [name, new Set([...referencesOf(target, new Set())].map(key))]),
  );
  const before = new Map<string, string[]>([...targets.keys()].map((name) => [name, []]));
  for (const [name, inner] of next) for (const one of inner) before.get(one)?.push(name);
  const recursive = new Set([...next.keys()].filter((name) => reachable([name], next).has(name)));
  const leading = reachable([...recursive], before);
  const levels = new Map<string, number>();
  const of: LevelsOfReference = (reference) => levels.get(key(reference)) ?? Infinity;
  const waiting = [...targets.keys()];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const target = targets.get(name);
    const level = levelsToEnd(target, of) + (recursive.has(name) ? 1 : 0);
    if (target === undefined || level >= of(name)) continue;
    levels.set(name, level);
    waiting.push(...before.get(name)!);
  }
  return {
    of,
    isRecursive: (reference) => recursive.has(key(reference)),
    leadsToRecursive: (reference) => recursive.has(key(reference)) || leading.has(key(reference)),
  };
}

/** The names that one can reach from others in at least one step. */
function reachable(starts: readonly string[], next: ReadonlyMap<string, Iterable<string>>): Set<string> {
  const seen = new Set<string>();
  const waiting = [...starts];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const inner of next.get(name) ?? []) {
      if (seen.has(inner)) continue;
      seen.add(inner);
      waiting.push(inner);
    }
  }
  return seen;
}

/**
 * The reference of a schema that leads back to itself in a way that no value ends or begins; null if there is
 * none.
 */
export function endlessReference(root: JsonSchema, levels: ReferenceLevels): string | null {
  const references = [...referencesOf(root)];
  const endless = references.find((reference) => !Number.isFinite(levels.of(reference)));
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
