import { isObject, type JsonSchema, utf8Bytes } from './json-schema.ts';
import {
  levelsToEnd,
  numberAt,
  type ReferenceLevels,
  referencePointer,
  referenceTarget,
  typesOf,
} from './schema-references.ts';

/** Bytes that a value needs to end, if every text, list and object in it ends as early as the schema lets it. */
export interface EndSize {
  /** For a whole value. Where the schema has alternatives, the longest. */
  readonly whole: number;
  /** From the worst position inside a value. */
  readonly rest: number;
}

const formatBytes = 40;
const numberBytes = 22;
const anyValue: EndSize = { whole: numberBytes, rest: 40 };

function longest(sizes: readonly EndSize[]): EndSize {
  const max = (key: keyof EndSize) => sizes.reduce((largest, size) => Math.max(largest, size[key]), 0);
  return { whole: max('whole'), rest: max('rest') };
}

function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}

/** Sizes of the values of one schema whose recursive references nest at most `maxLevels` deep. */
class EndSizes {
  readonly #root: JsonSchema;
  readonly #levels: ReferenceLevels;
  readonly #maxLevels: number;
  readonly #ofReferences = new Map<string, EndSize>();

  constructor(root: JsonSchema, levels: ReferenceLevels, maxLevels: number) {
    this.#root = root;
    this.#levels = levels;
    this.#maxLevels = maxLevels;
  }

  of(schema: unknown, level: number): EndSize {
    if (!isObject(schema)) return anyValue;
    if (typeof schema['$ref'] === 'string') return this.#ofReference(schema['$ref'], level);
    const values = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']]);
    if (Array.isArray(values)) {
      const bytes = values.reduce((largest: number, value: unknown) => Math.max(largest, bytesOf(value)), 0);
      return { whole: bytes, rest: bytes };
    }
    const options = schema['anyOf'] ?? schema['allOf'];
    if (Array.isArray(options)) {
      return longest(options.filter((option) => this.#canEnd(option, level)).map((option) => this.of(option, level)));
    }
    const allowed = typesOf(schema);
    if (allowed === null) return anyValue;
    return longest(
      allowed.map((type) => {
        if (type === 'object') return this.#ofObject(schema, level);
        if (type === 'array') return this.#ofList(schema, level);
        if (type !== 'string') return { whole: numberBytes, rest: numberBytes };
        // A character has at most four bytes.
        const whole = 2 + (schema['format'] === undefined ? 4 * (numberAt(schema, 'minLength') ?? 0) : formatBytes);
        return { whole, rest: whole + 1 };
      }),
    );
  }

  #canEnd(schema: unknown, level: number): boolean {
    return level + levelsToEnd(schema, this.#levels.of) <= this.#maxLevels;
  }

  #ofReference(reference: string, level: number): EndSize {
    const inner = this.#levels.leadsToRecursive(reference) ? level + (this.#levels.isRecursive(reference) ? 1 : 0) : 0;
    const key = `${inner} ${referencePointer(reference)}`;
    let size = this.#ofReferences.get(key);
    if (size === undefined) {
      // References that lead to themselves at once are rejected elsewhere.
      this.#ofReferences.set(key, { whole: 0, rest: 0 });
      size = inner > this.#maxLevels ? { whole: 0, rest: 0 } : this.of(referenceTarget(this.#root, reference), inner);
      this.#ofReferences.set(key, size);
    }
    return size;
  }

  #ofList(schema: JsonSchema, level: number): EndSize {
    const { prefixItems } = schema;
    if (Array.isArray(prefixItems)) {
      const sizes = prefixItems.map((item) => this.of(item, level));
      const whole = sizes.reduce((sum, size) => sum + size.whole + 1, 2);
      return {
        whole,
        rest: whole + longest(sizes.map(({ whole: done, rest }) => ({ whole: 0, rest: rest - done }))).rest,
      };
    }
    const item = schema['items'] ?? true;
    if (!this.#canEnd(item, level)) return { whole: 2, rest: 2 };
    const size = this.of(item, level);
    const count = numberAt(schema, 'minItems') ?? 0;
    const whole = 2 + count * (size.whole + 1);
    return { whole, rest: whole + size.rest - (count === 0 ? 0 : size.whole) };
  }

  #ofObject(schema: JsonSchema, level: number): EndSize {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as string[]) : []);
    const others = schema['additionalProperties'] ?? true;
    const names = new Set([...Object.keys(properties), ...required]);
    let whole = 2;
    let rest = names.size === 0 && this.#canEnd(others, level) ? this.of(others, level).rest : 0;
    for (const name of names) {
      const value = Object.hasOwn(properties, name) ? properties[name] : others;
      if (!required.has(name) && !this.#canEnd(value, level)) continue;
      const size = this.of(value, level);
      const nameBytes = bytesOf(name) + 2;
      if (required.has(name)) whole += nameBytes + size.whole;
      rest = Math.max(rest, required.has(name) ? size.rest - size.whole : nameBytes + size.rest);
    }
    return { whole, rest: whole + rest };
  }
}

/** The bytes that a value of a schema needs to end, if recursive references nest at most `maxLevels` deep. */
export function endSize(root: JsonSchema, levels: ReferenceLevels, maxLevels: number): EndSize {
  return new EndSizes(root, levels, maxLevels).of({ $ref: '#' }, 0);
}
