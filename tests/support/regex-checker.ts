import { RegExpParser, visitRegExpAST, type AST } from '@eslint-community/regexpp';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import {
  getConsumedChars,
  getFirstConsumedChar,
  isPotentiallyEmpty,
  toCache,
  type ReadonlyFlags,
} from 'regexp-ast-analysis';
import { parseSync, Visitor, type ESTree } from 'rolldown/utils';
import { analyse } from 'scslre';

/** A repetition with a bound above this counts as unbounded: 100 steps at every offset of 4 MB took 1.3 s. */
const maxRepetitions = 65;

const isLong = ({ max }: AST.Quantifier) => max > maxRepetitions;

/** Whether the match can still fail after the node, so that the engine goes back and tries the next start. */
function canFailAfter(node: AST.Node, flags: ReadonlyFlags): boolean {
  const { parent } = node;
  if (parent === null || parent.type === 'RegExpLiteral') return false;
  if (parent.type === 'Alternative') {
    const following = parent.elements.slice(parent.elements.indexOf(node as AST.Element) + 1);
    const canFail = (element: AST.Element) => element.type === 'Assertion' || !isPotentiallyEmpty(element, flags);
    if (following.some(canFail)) return true;
  }
  return canFailAfter(parent, flags);
}

/** Anchored expressions are tried at one offset only. */
function isAnchored(alternative: AST.Alternative, flags: ReadonlyFlags): boolean {
  if (flags.sticky) return true;
  const [first] = alternative.elements;
  if (first?.type === 'Assertion') return first.kind === 'start' && !flags.multiline;
  const isGroup = first?.type === 'Group' || first?.type === 'CapturingGroup';
  return isGroup && first.alternatives.every((inner) => isAnchored(inner, flags));
}

function quantifiersOf(node: AST.Node): AST.Quantifier[] {
  const found: AST.Quantifier[] = [];
  visitRegExpAST(node, { onQuantifierEnter: (quantifier) => void found.push(quantifier) });
  return found;
}

/**
 * Whether a long repetition runs over text at which the expression can start again: `/<a>[^]*<b>/` on `<a><a><a>…` reads to the end
 * from each start.
 */
function restarts(pattern: AST.Pattern, flags: ReadonlyFlags): boolean {
  const cache = toCache(flags);
  return pattern.alternatives.some((alternative) => {
    if (isAnchored(alternative, flags)) return false;
    const start = getFirstConsumedChar(alternative, 'ltr', cache);
    return quantifiersOf(alternative).some(
      (quantifier) =>
        isLong(quantifier) &&
        canFailAfter(quantifier, cache) &&
        !getConsumedChars(quantifier.element, cache).chars.isDisjointWith(start.char),
    );
  });
}

/** Why an expression may take more than linear time, or is forbidden; empty for a safe one. */
export function problemsOf(source: string, flags: string): string[] {
  const { pattern, flags: parsedFlags } = new RegExpParser().parseLiteral(`/${source}/${flags}`);
  const problems = new Set<string>();
  for (const { type, exponential } of analyse({ source, flags }, { maxReports: 8 }).reports) {
    problems.add(exponential ? 'exponential' : type === 'Move' ? 'quadratic by start' : 'quadratic by backtracking');
  }
  if (restarts(pattern, parsedFlags)) problems.add('quadratic by start');
  for (const quantifier of quantifiersOf(pattern)) {
    const inner = quantifiersOf(quantifier.element).filter(isLong);
    if (isLong(quantifier) && inner.length > 0) problems.add('nested quantifiers');
  }
  visitRegExpAST(pattern, {
    onAssertionEnter: ({ kind }) => void (kind === 'lookbehind' && problems.add('look-behind')),
  });
  return [...problems].toSorted();
}

export interface FoundExpression {
  readonly path: string;
  /** `/expression/flags`, or `new RegExp(…)`. */
  readonly source: string;
  readonly problems: readonly string[];
}

/** The expressions in a source text. One that is assembled when the program runs can't be read and is a problem of its own. */
export function expressionsIn(path: string, text: string): FoundExpression[] {
  const found: FoundExpression[] = [];
  const addAssembled = ({ callee, start, end }: ESTree.NewExpression | ESTree.CallExpression) => {
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return;
    found.push({ path, source: text.slice(start, end).replaceAll(/\s+/g, ' '), problems: ['assembled'] });
  };
  const visitor = new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      const { pattern, flags } = node.regex;
      found.push({ path, source: `/${pattern}/${flags}`, problems: problemsOf(pattern, flags) });
    },
    NewExpression: addAssembled,
    CallExpression: addAssembled,
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}

type ModuleStatement = ESTree.ImportDeclaration | ESTree.ExportNamedDeclaration | ESTree.ExportAllDeclaration;

function importedBy(statement: ESTree.Program['body'][number]): string | null {
  const kinds = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration'];
  if (!kinds.includes(statement.type)) return null;
  const declaration = statement as ModuleStatement;
  const { importKind, exportKind } = declaration as { importKind?: string; exportKind?: string };
  const isType = importKind === 'type' || exportKind === 'type';
  const specifiers = declaration.type === 'ImportDeclaration' ? declaration.specifiers : [];
  const hasOnlyTypes =
    specifiers.length > 0 && specifiers.every((each) => 'importKind' in each && each.importKind === 'type');
  return isType || hasOnlyTypes ? null : (declaration.source?.value ?? null);
}

/** The files of the project that run in one process or thread: what its entry points import, types left out. */
export function filesReachedFrom(root: string, entries: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    const text = readFileSync(join(root, path), 'utf8');
    texts.set(path, text);
    if (!path.endsWith('.ts')) continue;
    for (const statement of parseSync(path, text).program.body) {
      const imported = importedBy(statement);
      if (imported?.startsWith('.')) waiting.push(normalize(join(dirname(path), imported)));
    }
  }
  return new Map([...texts].filter(([path]) => path.endsWith('.ts')));
}
