/** A JSON schema that is an object; `true` and `false` are schemas too. */
export type JsonSchema = Record<string, unknown>;

export const maxSchemaBytes = 100 * 1024;
/** Schemas inside schemas, and levels of a value such as `default`. */
export const maxSchemaDepth = 32;

/** Keywords that contain one schema. In drafts up to 2019-09, `items` may be a list of schemas. */
const schemaKeywords: ReadonlySet<string> = new Set(
  'additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);
const schemaListKeywords: ReadonlySet<string> = new Set('allOf anyOf items oneOf prefixItems'.split(' '));
/** Keywords that contain an object of schemas by names. */
export const schemaMapKeywords: ReadonlySet<string> = new Set(
  '$defs definitions dependentSchemas patternProperties properties'.split(' '),
);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A position in a JSON value. Pointers are built only on demand, because keys may be long. */
interface Position {
  readonly parent: Position | null;
  readonly key: string;
}

/** The steps of a JSON pointer as text, in which `~` and `/` are escaped. */
export function pointerText(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function pointerOf(position: Position | null): string {
  const keys: string[] = [];
  for (let step = position; step; step = step.parent) keys.push(step.key);
  return pointerText(keys.toReversed());
}

/** The keys of a JSON pointer. */
export function pointerKeys(pointer: string): string[] {
  if (!pointer.startsWith('/')) return [];
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a JSON pointer; undefined if there is none. */
export function valueAtPointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

type Role = 'schema' | 'schemas' | 'data';

/** The role of a key's value, in a container with this role. */
function roleOf(parent: Role, key: string, value: unknown): Role {
  if (parent === 'data') return 'data';
  if (parent === 'schemas') return 'schema';
  if (Array.isArray(value)) return schemaListKeywords.has(key) ? 'schemas' : 'data';
  if (schemaMapKeywords.has(key)) return 'schemas';
  return schemaKeywords.has(key) ? 'schema' : 'data';
}

interface Container {
  readonly value: object;
  readonly role: Role;
  readonly position: Position | null;
  readonly depth: number;
}

/** The objects and lists of a schema, outermost first. Without recursion, because a schema may be nested a million levels deep. */
function* containers(schema: JsonSchema): Generator<Container> {
  const waiting: Container[] = [{ value: schema, role: 'schema', position: null, depth: 1 }];
  for (let container = waiting.pop(); container; container = waiting.pop()) {
    yield container;
    const { role, position: parent, depth } = container;
    const inner: Container[] = [];
    for (const [key, value] of Object.entries(container.value) as [string, unknown][]) {
      if (typeof value !== 'object' || value === null) continue;
      const innerRole = roleOf(role, key, value);
      const innerDepth = innerRole === 'schemas' ? depth : depth + 1;
      inner.push({ value, role: innerRole, position: { parent, key }, depth: innerDepth });
    }
    for (const one of inner.toReversed()) waiting.push(one);
  }
}

/** A schema inside another one, or that schema itself. */
export interface SchemaNode {
  readonly schema: JsonSchema;
  /** JSON pointer; empty for the outermost schema. */
  readonly pointer: string;
  /** 1 for the outermost schema. */
  readonly depth: number;
}

/** All schemas of a schema, outermost first. The schema must be within the limits. */
export function* schemaNodes(schema: JsonSchema): Generator<SchemaNode> {
  for (const { value, role, position, depth } of containers(schema)) {
    if (role === 'schema' && isObject(value)) yield { schema: value, pointer: pointerOf(position), depth };
  }
}

/** The bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair counts as half of its four bytes.
    if (unit < 0x80) bytes += 1;
    else bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  return bytes;
}

export interface SchemaIssue {
  /** JSON pointer into the schema. */
  readonly pointer: string;
  /** The error there, as the end of a sentence. */
  readonly issue: string;
}

/** An issue as the end of a sentence that starts with the field of the schema. */
export function describeSchemaIssue({ pointer, issue }: SchemaIssue): string {
  // A pointer may be as long as the schema, and its end is more specific than its start.
  const shown = pointer.length > 200 ? `…${pointer.slice(-200)}` : pointer;
  return shown === '' ? issue : `at ${shown} ${issue}`;
}

/** The limit that a schema exceeds; null if none. */
export function schemaLimitIssue(schema: JsonSchema): SchemaIssue | null {
  for (const { depth, position } of containers(schema)) {
    if (depth > maxSchemaDepth) {
      return { pointer: pointerOf(position), issue: `is nested deeper than ${maxSchemaDepth} levels` };
    }
  }
  const isTooLarge = utf8Bytes(JSON.stringify(schema)) > maxSchemaBytes;
  return isTooLarge ? { pointer: '', issue: `is larger than ${maxSchemaBytes / 1024} KB` } : null;
}
