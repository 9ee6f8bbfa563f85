import { isObject, type JsonSchema, schemaNodes } from './json-schema.ts';
import { schemaGrammar } from './schema-grammar.ts';
import { referenceTarget } from './schema-references.ts';
import { type SchemaRules, type SchemaTarget, schemaRules, schemaTargets } from './schema-rules.ts';

/** What a provider does not support in a schema. */
export interface SchemaFinding {
  readonly target: SchemaTarget;
  /** JSON pointer of the schema. */
  readonly pointer: string;
  readonly keyword: string;
  /** `rejected`: requests fail. `not-enforced`: the answer may break this part of the schema. */
  readonly effect: 'rejected' | 'not-enforced';
  /** A sentence without the provider's name and without a full stop. */
  readonly message: string;
}

type Report = (pointer: string, keyword: string, message: string, effect?: SchemaFinding['effect']) => void;

function isObjectSchema(schema: JsonSchema): boolean {
  const { type } = schema;
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(schema['properties']);
}

function lintObject(schema: JsonSchema, pointer: string, rules: SchemaRules, report: Report): void {
  const properties = Object.keys(isObject(schema['properties']) ? schema['properties'] : {});
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  if (rules.openObjects && schema['additionalProperties'] !== false) {
    report(pointer, 'additionalProperties', 'Objects need "additionalProperties": false', rules.openObjects);
  }
  const missing = properties.filter((name) => !required.includes(name));
  if (rules.needsAllRequired && missing.length > 0) {
    const names = missing.slice(0, 5).map((name) => `"${name.slice(0, 40)}"`);
    const more = missing.length > 5 ? ` and ${missing.length - 5} more` : '';
    report(pointer, 'required', `All properties must be in "required"; missing: ${names.join(', ')}${more}`);
  }
  if (rules.needsOneRequired && required.length === 0) {
    report(pointer, 'required', 'Objects need at least one property in "required"');
  }
}

function lintNode(schema: JsonSchema, pointer: string, rules: SchemaRules, report: Report): void {
  for (const keyword of rules.rejected) {
    if (Object.hasOwn(schema, keyword)) report(pointer, keyword, `"${keyword}" isn't supported`);
  }
  for (const keyword of rules.notEnforced) {
    if (Object.hasOwn(schema, keyword)) report(pointer, keyword, `"${keyword}" isn't enforced`, 'not-enforced');
  }
  const { format } = schema;
  if (rules.formats && typeof format === 'string' && !rules.formats.names.includes(format)) {
    const message = `Format "${format.slice(0, 40)}" isn't ${rules.formats.effect === 'rejected' ? 'supported' : 'enforced'}`;
    report(pointer, 'format', message, rules.formats.effect);
  }
  if (isObjectSchema(schema)) lintObject(schema, pointer, rules, report);
}

/** Whether references lead from a schema back to itself. */
function isRecursive(root: JsonSchema): boolean {
  const targets = new Map<string, string[]>();
  const follow = (reference: string): string[] => {
    let inner = targets.get(reference);
    if (inner) return inner;
    const target = referenceTarget(root, reference);
    const nodes = isObject(target) ? [...schemaNodes(target)] : [];
    inner = nodes.flatMap(({ schema }) => (typeof schema['$ref'] === 'string' ? [schema['$ref']] : []));
    targets.set(reference, inner);
    return inner;
  };
  // A schema of 100 KB has at most a few thousand references, and the walk sees each of them once per state.
  const state = new Map<string, 'open' | 'done'>();
  const stack: { readonly reference: string; readonly isEnd: boolean }[] = [{ reference: '#', isEnd: false }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (next.isEnd) state.set(next.reference, 'done');
    else if (state.get(next.reference) === 'open') return true;
    else if (!state.has(next.reference)) {
      state.set(next.reference, 'open');
      stack.push({ ...next, isEnd: true });
      for (const reference of follow(next.reference)) {
        if (state.get(reference) === 'open') return true;
        stack.push({ reference, isEnd: false });
      }
    }
  }
  return false;
}

interface Totals {
  objectLevels: number;
  properties: number;
  enumValues: number;
}

function totalsOf(root: JsonSchema): Totals {
  const totals: Totals = { objectLevels: 0, properties: 0, enumValues: 0 };
  for (const { schema, pointer } of schemaNodes(root)) {
    if (Array.isArray(schema['enum'])) totals.enumValues += schema['enum'].length;
    if (!isObject(schema['properties'])) continue;
    totals.properties += Object.keys(schema['properties']).length;
    const levels = pointer.split('/properties/').length;
    totals.objectLevels = Math.max(totals.objectLevels, levels);
  }
  return totals;
}

function lintWhole(schema: JsonSchema, rules: SchemaRules, report: Report): void {
  if (rules.needsObjectRoot && schema['type'] !== 'object') report('', 'type', 'The root must have "type": "object"');
  if (rules.rejectsRootAnyOf && schema['anyOf'] !== undefined)
    report('', 'anyOf', '"anyOf" isn\'t supported at the root');
  if (rules.recursion && isRecursive(schema)) {
    report(
      '',
      '$ref',
      `Recursive schemas aren't ${rules.recursion === 'rejected' ? 'supported' : 'enforced'}`,
      rules.recursion,
    );
  }
  const { limits } = rules;
  if (!limits) return;
  const totals = totalsOf(schema);
  for (const name of ['objectLevels', 'properties', 'enumValues'] as const) {
    if (totals[name] <= limits[name]) continue;
    const words = { objectLevels: 'levels of objects', properties: 'properties', enumValues: 'enum values' }[name];
    report(
      '',
      name,
      `At most ${limits[name].toLocaleString('en')} ${words}; this schema has ${totals[name].toLocaleString('en')}`,
    );
  }
}

function lintForOnDevice(schema: JsonSchema): SchemaFinding[] {
  const result = schemaGrammar(schema);
  if ('grammar' in result) return [];
  return result.problems.map(({ pointer, keyword, issue }) => {
    const text = issue.replace(/ (by|for) the on-device model/, '');
    return { target: 'OnDevice', pointer, keyword, effect: 'rejected', message: `"${keyword}" ${text}` };
  });
}

const maxFindings = 200;

/**
 * What the providers do not support in a schema, in the order of the schema. For schemas of answers and of tools alike. The schema must be
 * valid and within the limits.
 */
export function lintSchema(schema: JsonSchema, targets: readonly SchemaTarget[] = schemaTargets): SchemaFinding[] {
  const findings: SchemaFinding[] = [];
  const nodes = [...schemaNodes(schema)];
  for (const target of targets) {
    if (target === 'OnDevice') {
      findings.push(...lintForOnDevice(schema));
      continue;
    }
    const report: Report = (pointer, keyword, message, effect = 'rejected') =>
      void findings.push({ target, pointer, keyword, effect, message });
    lintWhole(schema, schemaRules[target], report);
    for (const node of nodes) lintNode(node.schema, node.pointer, schemaRules[target], report);
  }
  return findings.slice(0, maxFindings);
}
