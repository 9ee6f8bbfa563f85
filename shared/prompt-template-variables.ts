/** The fields that a template needs. */

import type { Occurrence, Use } from './prompt-template-program.ts';
import type { Span } from './prompt-template-syntax.ts';

/** `files` is a list whose items are files. */
export type VariableKind = 'text' | 'file' | 'files' | 'list' | 'object' | 'condition';

export interface TemplateVariable {
  /** The path from the replacements to the value, `customer.name`. */
  readonly name: string;
  readonly kind: VariableKind;
  /** Fields that the items of a list are used with; empty if the items are texts, and for every other kind. */
  readonly itemFields: readonly string[];
  /** Position of its first use, both from 1. */
  readonly line: number;
  readonly column: number;
  /** Offsets of every use of its name. */
  readonly positions: readonly Span[];
}

interface Collected {
  readonly name: string;
  readonly uses: Set<Use>;
  readonly itemFields: Set<string>;
  readonly positions: Span[];
  hasItems: boolean;
  hasFileItems: boolean;
  hasParts: boolean;
}

/**
 * Returns an offset's line and column, both from 1. Lines end with
 * , \r
 * or \r, as in every editor.
 */
export function createLineFinder(text: string): (offset: number) => { line: number; column: number } {
  let starts: Uint32Array | null = null;
  let readUntil = 0;
  return (offset) => {
    if (starts === null || offset >= readUntil) {
      // Doubles the distance each time, so that a request for the start of a long text doesn't read all of it.
      readUntil = Math.min(text.length, Math.max(2 * readUntil, offset + 1));
      starts = lineStarts(text, readUntil);
    }
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** Counts first: 4 MB of line ends would take a third of a second in a list that grows. */
function lineStarts(text: string, until: number): Uint32Array {
  const endsLine = (index: number) => {
    const character = text.charCodeAt(index);
    return character === 10 || (character === 13 && text.charCodeAt(index + 1) !== 10);
  };
  let lines = 1;
  for (let index = 0; index < until; index++) if (endsLine(index)) lines++;
  const starts = new Uint32Array(lines);
  for (let index = 0, line = 1; line < lines; index++) if (endsLine(index)) starts[line++] = index + 1;
  return starts;
}

/** Numbers in a path select an item of a list, and `length` belongs to its list. */
function normalize(valuePath: readonly string[], lists: ReadonlySet<string>): readonly string[] {
  const parts = valuePath.map((part, index) => (index > 0 && /^\d+$/.test(part) ? '*' : part));
  return parts.at(-1) === 'length' && lists.has(parts.slice(0, -1).join('.')) ? parts.slice(0, -1) : parts;
}

/** The path before the last list in a path such as `lines.*.price`. */
function fieldBeforeItems(path: string): string {
  const item = path.indexOf('*');
  if (item < 0) return path;
  return path.slice(0, path[item - 1] === '.' ? item - 1 : item);
}

function kindOf(variable: Collected): VariableKind {
  // A list whose items are also used by their fields holds more than files.
  if (variable.hasFileItems && variable.itemFields.size === 0) return 'files';
  if (variable.uses.has('list') || variable.hasItems) return 'list';
  if (variable.uses.has('file')) return 'file';
  if (variable.uses.has('text')) return 'text';
  return variable.uses.has('object') ? 'object' : 'condition';
}

/** A value that is only tested or entered, and whose parts are used, gets its value from the parts. */
function isFilledByParts(variable: Collected): boolean {
  return (
    variable.hasParts &&
    !variable.hasItems &&
    !variable.uses.has('text') &&
    !variable.uses.has('file') &&
    !variable.uses.has('list')
  );
}

/** The variables in the order of their first use. */
export function collectVariables(
  occurrences: readonly Occurrence[],
  positionOf: ReturnType<typeof createLineFinder>,
): TemplateVariable[] {
  const variables = new Map<string, Collected>();
  const variable = (name: string): Collected => {
    const known = variables.get(name);
    if (known) return known;
    const made = {
      name,
      uses: new Set<Use>(),
      itemFields: new Set<string>(),
      positions: [],
      hasItems: false,
      hasFileItems: false,
      hasParts: false,
    };
    variables.set(name, made);
    return made;
  };
  const lists = new Set(occurrences.filter(({ use }) => use === 'list').map(({ valuePath }) => valuePath.join('.')));
  for (const { valuePath, use, start, end } of occurrences) {
    const parts = normalize(valuePath, lists);
    const item = parts.indexOf('*');
    const list = variable((item < 0 ? parts : parts.slice(0, item)).join('.'));
    if (item < 0) {
      list.uses.add(use);
      list.positions.push({ start, end });
      continue;
    }
    list.hasItems = true;
    const field = fieldBeforeItems(parts.slice(item + 1).join('.'));
    if (field !== '') list.itemFields.add(field);
    else if (use === 'file') list.hasFileItems = true;
    if (list.positions.length === 0) list.positions.push({ start, end });
  }
  for (const name of variables.keys()) {
    for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
      const whole = variables.get(name.slice(0, dot));
      if (whole) whole.hasParts = true;
    }
  }
  return [...variables.values()]
    .filter((found) => !isFilledByParts(found))
    .map((found) => ({
      name: found.name,
      kind: kindOf(found),
      itemFields: [...found.itemFields],
      ...positionOf(found.positions[0]?.start ?? 0),
      positions: found.positions,
    }));
}

/** Max listed tags; a warning lists a few of them. */
const maxObjectPrints = 20;

/** Paths of values with fields, by how the template uses them; a text has a `length`, too. */
function pathsWithFields(occurrences: readonly Occurrence[]): Set<string> {
  const paths = new Set<string>();
  for (const { valuePath } of occurrences) {
    const last = valuePath.at(-1);
    if (last === '*' || last === 'length') continue;
    // The items of a list have the fields, and the list prints its items.
    for (let end = valuePath.length - 1; end > 0; end -= 1) {
      paths.add(valuePath.slice(0, end).join('\0'));
      if (valuePath[end - 1] !== '*') break;
    }
  }
  return paths;
}

/** Tags that print a whole object: all replacements, or a value of which the template uses fields. */
export function collectObjectPrints(found: {
  readonly occurrences: readonly Occurrence[];
  readonly rootPrints: readonly Span[];
}): Span[] {
  const withFields = pathsWithFields(found.occurrences);
  const prints = found.occurrences.filter(
    ({ valuePath, use }) => use === 'text' && withFields.has(valuePath.join('\0')),
  );
  return [...found.rootPrints, ...prints].slice(0, maxObjectPrints).toSorted((one, other) => one.start - other.start);
}
