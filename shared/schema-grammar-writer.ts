import { isObject, type JsonSchema, pointerKeys, pointerText, valueAtPointer } from './json-schema.ts';
import { fixedRules, formats, literal, maxListLength, maxOpenMapSize } from './schema-grammar-rules.ts';
import { anyInteger, anyNumber, integerGrammar, numberGrammar, type NumberLimits } from './schema-number-grammar.ts';
import {
  isAllowedType,
  levelsToEnd,
  numberAt,
  type ReferenceLevels,
  referencePointer,
  referenceTarget,
  type SchemaType,
  typesOf,
} from './schema-references.ts';

/** A part of a schema that the grammar of the on-device model can't express. */
export interface GrammarProblem {
  /** JSON pointer of the schema. */
  readonly pointer: string;
  readonly keyword: string;
  /** The end of a sentence. */
  readonly issue: string;
}
/** llama.cpp copies a repeated part once for each repetition. */
const maxTextLength = 1000;
const maxRepetitions = 20_000;
const maxEnumValues = 1000;
const maxAlternatives = 500;
export const maxReferences = 500;
const maxGrammarCharacters = 500_000;

/** Keywords that restrict a value of any type in a way that no grammar can. */
const inexpressible = [
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
  '$dynamicRef',
  '$recursiveRef',
];
const inexpressibleOf: Readonly<Partial<Record<SchemaType, readonly string[]>>> = {
  object: ['patternProperties', 'propertyNames'],
  array: ['contains', 'uniqueItems'],
  string: ['pattern'],
  number: ['multipleOf'],
};
/** Keywords that decide alone what a value is; another one beside them would be ignored. */
const deciding = ['$ref', 'enum', 'const', 'anyOf', 'allOf'] as const;
const restricting = new Set(
  (
    'type properties required additionalProperties patternProperties propertyNames minProperties maxProperties ' +
    'unevaluatedProperties items prefixItems additionalItems unevaluatedItems contains uniqueItems minItems maxItems ' +
    'minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf'
  ).split(' '),
);

type Path = readonly string[];

/** Writes one grammar. Everything that it can't express becomes a problem, and the result is of no use then. */
export class GrammarWriter {
  readonly #root: JsonSchema;
  readonly #levels: ReferenceLevels;
  readonly #maxLevels: number;
  /** Recursive references around the rule that is written. */
  #level = 0;
  readonly #rules: string[] = [];
  readonly #referenceNames = new Map<string, string>();
  readonly #pointers = new Set<string>();
  readonly #waiting: { readonly name: string; readonly pointer: string; readonly level: number }[] = [];
  readonly problems: GrammarProblem[] = [];
  #repetitions = 0;
  #characters = 0;
  #enumValues = 0;
  #alternatives = 0;

  constructor(root: JsonSchema, levels: ReferenceLevels, maximum: number) {
    this.#root = root;
    this.#levels = levels;
    this.#maxLevels = maximum;
  }

  write(): string {
    this.#rule('root', this.#reference('#', []));
    // References wait here, because a schema may be a long chain of them.
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) {
      const { name, pointer, level } = next;
      this.#level = level;
      const target = valueAtPointer(this.#root, pointer);
      this.#rule(name, this.#schema(target, pointerKeys(pointer)));
    }
    return [...this.#rules, fixedRules].join('\n');
  }

  #problem(path: Path, keyword: string, issue: string): string {
    if (this.problems.length < 50) this.problems.push({ pointer: pointerText(path), keyword, issue });
    return '""';
  }

  #rule(name: string, body: string): string {
    this.#characters += body.length;
    if (this.#characters <= maxGrammarCharacters) this.#rules.push(`${name} ::= ${body}`);
    else if (!this.problems.some(({ keyword }) => keyword === 'size')) {
      this.#problem([], 'size', 'is too large for the on-device model');
    }
    return name;
  }

  #newRule(body: string): string {
    return this.#rule(`r${this.#rules.length}`, body);
  }

  #repeat(count: number, path: Path, keyword: string): void {
    this.#repetitions += count;
    if (this.#repetitions <= maxRepetitions || this.#repetitions - count > maxRepetitions) return;
    this.#problem(path, keyword, 'repeats too much in all for the on-device model');
  }

  /** The repetition operator of a part that the schema doesn't bound. Without a limit once the grammar repeats too much. */
  #openRepetition(low: number, high: number): string {
    if (this.#repetitions + high > maxRepetitions) return `{${low},}`;
    this.#repetitions += high;
    return `{${low},${high}}`;
  }

  #schema(schema: unknown, path: Path): string {
    if (schema === false) return this.#problem(path, 'false', 'allows no value');
    if (!isObject(schema)) return 'value';
    const keyword = inexpressible.find((name) => Object.hasOwn(schema, name));
    if (keyword !== undefined) {
      const remedy = keyword === 'oneOf' ? '; use "anyOf"' : '';
      return this.#problem(path, keyword, `isn't supported by the on-device model${remedy}`);
    }
    const [decider, other] = deciding.filter((name) => schema[name] !== undefined);
    if (decider === undefined) return this.#ofTypes(schema, path);
    const beside = other ?? (decider in { enum: 1, const: 1 } ? undefined : this.#restrictionBeside(schema));
    if (beside !== undefined) {
      return this.#problem(path, beside, `isn't supported beside "${decider}" by the on-device model`);
    }
    if (decider === '$ref') return this.#reference(String(schema['$ref']), path);
    if (decider === 'enum' || decider === 'const') return this.#values(schema, path, decider);
    const schemas = (schema[decider] as unknown[]).map((option, index) => ({ option, index }));
    if (decider === 'allOf' && schemas.length > 1) {
      return this.#problem(path, 'allOf', "isn't supported by the on-device model; merge its schemas");
    }
    this.#alternatives += schemas.length;
    if (this.#alternatives > maxAlternatives) {
      return this.#problem(path, decider, `is one of more than ${maxAlternatives} alternatives`);
    }
    const options = schemas
      .filter(({ option }) => this.#canEnd(option))
      .map(({ option, index }) => this.#schema(option, [...path, decider, String(index)]));
    return this.#newRule(options.join(' | '));
  }

  #restrictionBeside(schema: JsonSchema): string | undefined {
    return Object.keys(schema).find((name) => restricting.has(name));
  }

  #reference(reference: string, path: Path): string {
    const pointer = referencePointer(reference);
    if (pointer === null || referenceTarget(this.#root, reference) === undefined) {
      return this.#problem(path, '$ref', `must be "#" or a JSON pointer to a schema in this document`);
    }
    this.#pointers.add(pointer);
    if (this.#pointers.size > maxReferences) {
      return this.#problem(path, '$ref', `is one of more than ${maxReferences} references`);
    }
    // A reference without an end goes deeper than the limit. It is reported later.
    const level = this.#levels.leadsToRecursive(reference)
      ? Math.min(this.#maxLevels, this.#level + (this.#levels.isRecursive(reference) ? 1 : 0))
      : 0;
    const key = `${level} ${pointer}`;
    let name = this.#referenceNames.get(key);
    if (name === undefined) {
      name = `s${this.#referenceNames.size}`;
      this.#referenceNames.set(key, name);
      this.#waiting.push({ name, pointer, level });
    }
    return name;
  }

  /** Whether a value of a schema can end within the levels that are left. */
  #canEnd(schema: unknown): boolean {
    const levels = levelsToEnd(schema, this.#levels.of);
    // What never ends is reported for the whole schema.
    return levels === 0 || levels === Infinity || this.#level + levels <= this.#maxLevels;
  }

  #values(schema: JsonSchema, path: Path, keyword: 'enum' | 'const'): string {
    const values = keyword === 'const' ? [schema['const']] : (schema['enum'] as unknown[]);
    this.#enumValues += values.length;
    if (this.#enumValues > maxEnumValues) {
      return this.#problem(path, keyword, `has more than ${maxEnumValues.toLocaleString('en')} values in all`);
    }
    const allowed = typesOf(schema);
    const literals = values
      .filter((value) => isAllowedType(value, allowed))
      .map((value) => literal(JSON.stringify(value)));
    if (literals.length === 0) return this.#problem(path, keyword, 'has no value of this type');
    return this.#newRule(literals.join(' | '));
  }

  #ofTypes(schema: JsonSchema, path: Path): string {
    const allowed = typesOf(schema);
    if (allowed === null) return 'value';
    const options = allowed
      .filter((type) => allowed.length === 1 || this.#canEnd({ ...schema, type }))
      .map((type) => this.#ofType(type, schema, path));
    return options.length === 1 ? options[0]! : this.#newRule(options.join(' | '));
  }

  #ofType(type: SchemaType, schema: JsonSchema, path: Path): string {
    const keyword = inexpressibleOf[type]?.find((name) => schema[name] !== undefined && schema[name] !== false);
    if (keyword !== undefined) return this.#problem(path, keyword, "isn't supported by the on-device model");
    if (type === 'object') return this.#object(schema, path);
    if (type === 'array') return this.#list(schema, path);
    if (type === 'string') return this.#text(schema, path);
    if (type === 'number' || type === 'integer') return this.#number(type, schema, path);
    return type === 'null' ? '"null"' : '("true" | "false")';
  }

  #number(type: 'number' | 'integer', schema: JsonSchema, path: Path): string {
    const names = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
    const limits: NumberLimits = Object.fromEntries(
      names.flatMap((name) => (numberAt(schema, name) === undefined ? [] : [[name, numberAt(schema, name)!]])),
    );
    const multipleOf = numberAt(schema, 'multipleOf') ?? null;
    if (multipleOf !== null && !Number.isInteger(multipleOf)) {
      return this.#problem(path, 'multipleOf', 'must be a whole number for the on-device model');
    }
    const written = type === 'integer' ? integerGrammar(limits, multipleOf) : numberGrammar(limits);
    if (written === 'too many') return this.#problem(path, 'multipleOf', 'allows more than 1,000 numbers');
    if (written === null)
      return this.#problem(
        path,
        names.find((name) => name in limits)!,
        'leaves no number',
      );
    return written === anyInteger || written === anyNumber ? `(${written})` : this.#newRule(written);
  }

  #text(schema: JsonSchema, path: Path): string {
    const { format } = schema;
    const [low = 0, high] = [numberAt(schema, 'minLength'), numberAt(schema, 'maxLength')];
    if (typeof format === 'string') {
      const written = Object.hasOwn(formats, format) ? formats[format] : undefined;
      if (written === undefined) {
        return this.#problem(path, 'format', `"${format.slice(0, 40)}" isn't supported by the on-device model`);
      }
      if (low > 0 || high !== undefined) return this.#problem(path, 'minLength', `isn't supported beside "format"`);
      return `("\\"" ${written} "\\"")`;
    }
    if (low === 0 && high === undefined) return 'string';
    if (low > maxTextLength) return this.#problem(path, 'minLength', `must be at most ${maxTextLength}`);
    if (high !== undefined && high < low) return this.#problem(path, 'maxLength', 'is less than minLength');
    if (high === undefined) {
      this.#repeat(low, path, 'minLength');
      return `("\\"" char{${low}} text "\\"")`;
    }
    const limit = Math.min(high, maxTextLength);
    this.#repeat(limit, path, 'maxLength');
    return limit === 0 ? '"\\"\\""' : `("\\"" char{${low},${limit}} "\\"")`;
  }

  #list(schema: JsonSchema, path: Path): string {
    const [low = 0, high = Infinity] = [numberAt(schema, 'minItems'), numberAt(schema, 'maxItems')];
    if (high < low) return this.#problem(path, 'maxItems', 'is less than minItems');
    const { prefixItems } = schema;
    if (Array.isArray(prefixItems) && prefixItems.length > 0) {
      if (low > prefixItems.length) return this.#problem(path, 'minItems', 'is more than "prefixItems" has');
      const items = prefixItems
        .slice(0, Math.min(prefixItems.length, high))
        .map((item, index) => this.#schema(item, [...path, 'prefixItems', String(index)]));
      return this.#newRule(`"[" ws ${items.join(' "," ws ')} ws "]"`);
    }
    if (high === 0) return '"[]"';
    if (low > maxListLength) return this.#problem(path, 'minItems', `must be at most ${maxListLength}`);
    const items = schema['items'] ?? schema['unevaluatedItems'] ?? true;
    if (low === 0 && (items === false || !this.#canEnd(items))) return '"[]"';
    const item = this.#schema(items, [...path, 'items']);
    const min = Math.max(0, low - 1);
    const max = Math.min(high, maxListLength) - 1;
    let repetition = `{${min},${max}}`;
    if (high === Infinity && low === 0) repetition = this.#openRepetition(min, max);
    else this.#repeat(max, path, high === Infinity ? 'minItems' : 'maxItems');
    const rest = max === 0 ? '' : ` ( "," ws ${item} )${repetition}`;
    return this.#newRule(low === 0 ? `"[" ws ( ${item}${rest} ws )? "]"` : `"[" ws ${item}${rest} ws "]"`);
  }

  #object(schema: JsonSchema, path: Path): string {
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as string[]) : []);
    const others = schema['additionalProperties'] ?? schema['unevaluatedProperties'] ?? true;
    const names = [...new Set([...Object.keys(properties), ...required])];
    const [low = 0, high = Infinity] = [numberAt(schema, 'minProperties'), numberAt(schema, 'maxProperties')];
    if (low > required.size) return this.#problem(path, 'minProperties', "isn't supported by the on-device model");
    if (names.length === 0) {
      if (others === false || high === 0) return '"{}"';
      if (high !== Infinity) return this.#problem(path, 'maxProperties', "isn't supported by the on-device model");
      if (others === true) return 'object';
      if (!this.#canEnd(others)) return '"{}"';
      const pair = this.#newRule(`string ":" ws ${this.#schema(others, [...path, 'additionalProperties'])}`);
      return this.#newRule(
        `"{" ws ( ${pair} ( "," ws ${pair} )${this.#openRepetition(0, maxOpenMapSize - 1)} ws )? "}"`,
      );
    }
    if (high < names.length) return this.#problem(path, 'maxProperties', 'is less than the number of properties');
    const possible = names.filter((name) => required.has(name) || this.#canEnd(properties[name]));
    if (possible.length === 0) return '"{}"';
    const pairs = possible.map((name) => {
      const value = Object.hasOwn(properties, name)
        ? this.#schema(properties[name], [...path, 'properties', name])
        : this.#schema(others, [...path, 'additionalProperties']);
      return { isRequired: required.has(name), text: `${literal(JSON.stringify(name))} ":" ws ${value}` };
    });
    return this.#newRule(`"{" ws ${this.#pairs(pairs)} "}"`);
  }

  /**
   * The pairs in the order of the schema, in which optional ones may be missing. The grammar is as long as the list: one rule for the
   * rest behind a pair, and one for the rest while there is none yet.
   */
  #pairs(pairs: readonly { readonly isRequired: boolean; readonly text: string }[]): string {
    let restAfterPair = 'ws';
    let restAtStart = '""';
    for (const { isRequired, text } of pairs.toReversed()) {
      const first = `${text} ${restAfterPair}`;
      restAtStart = isRequired ? first : `( ${first} | ${restAtStart} )`;
      const next = `"," ws ${text}`;
      restAfterPair = this.#newRule(isRequired ? `${next} ${restAfterPair}` : `( ${next} )? ${restAfterPair}`);
      restAtStart = this.#newRule(restAtStart);
    }
    return restAtStart;
  }
}
