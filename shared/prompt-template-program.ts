import type { AST } from '@handlebars/parser';
import type { PromptRole } from './prompt-messages.ts';
import { nodeSpan, type Span, TemplateProblem } from './prompt-template-syntax.ts';

/** The compiled form of a template. */

/** A path from the replacements to a value; `*` matches every item of a list. Null if it depends on the run. */
export type ValuePath = readonly string[] | null;

export interface PathExpression {
  readonly type: 'path';
  readonly source: 'context' | 'data' | 'parameter';
  /** Contexts, data frames or parameter lists to go up before the lookup. */
  readonly up: number;
  readonly parts: readonly string[];
  /** Keys that match the path in its written form, `customer.name` for `{{customer.name}}`. */
  readonly literalKeys: readonly string[];
  /** Its name in messages. */
  readonly name: string;
}

export type Expression =
  | PathExpression
  | { readonly type: 'literal'; readonly value: unknown }
  | { readonly type: 'lookup'; readonly target: Expression; readonly key: Expression; readonly name: string };

export type BlockKind = 'if' | 'unless' | 'each' | 'with' | 'ifEquals' | 'unlessEquals' | 'plain';

export type Instruction =
  | { readonly type: 'content'; readonly text: string }
  | { readonly type: 'value'; readonly value: Expression }
  | { readonly type: 'json'; readonly value: Expression; readonly indent: Expression | null; readonly start: number }
  | { readonly type: 'role'; readonly role: PromptRole }
  /** The variable of that name, if there is one. */
  | { readonly type: 'history'; readonly variable: PathExpression; readonly start: number }
  | {
      readonly type: 'media';
      readonly url: Expression;
      readonly contentType: Expression | null;
      readonly start: number;
      /** Its text in an error. */
      readonly name: string;
    }
  | {
      readonly type: 'block';
      readonly kind: BlockKind;
      readonly value: Expression;
      /** The value that `ifEquals` and `unlessEquals` compare with. */
      readonly other: Expression | null;
      readonly includeZero: Expression | null;
      readonly program: Program | null;
      readonly inverse: Program | null;
    };

export interface Program {
  readonly body: readonly Instruction[];
  /** Whether it declares parameters (`as |item index|`). */
  readonly hasParameters: boolean;
}

/** How a template uses a value. */
export type Use = 'text' | 'file' | 'list' | 'object' | 'condition' | 'section';

export interface Occurrence extends Span {
  readonly valuePath: readonly string[];
  readonly use: Use;
}

/** Scopes of names in a template. */

interface ParameterScope {
  readonly names: readonly string[];
  readonly valuePaths: readonly ValuePath[];
  readonly outer: ParameterScope | null;
}

export interface Scope {
  readonly valuePath: ValuePath;
  readonly outer: Scope | null;
  readonly parameters: ParameterScope | null;
}

export interface Resolved {
  readonly expression: Expression;
  readonly valuePath: ValuePath;
}

export function isPath(node: AST.Expression): node is AST.PathExpression {
  return node.type === 'PathExpression';
}

/** Handlebars reads a literal at the start of a tag, `{{"first name"}}`, as the name of a variable. */
export function headPath(node: AST.Expression): AST.PathExpression {
  if (isPath(node)) return node;
  if (!node.type.endsWith('Literal') || node.type === 'HashLiteral' || node.type === 'ArrayLiteral') {
    throw new TemplateProblem(
      'A tag starts with the name of a variable or with if, unless, each, with or lookup',
      nodeSpan(node).start,
    );
  }
  const text = String('original' in node ? node.original : node.type === 'NullLiteral' ? null : undefined);
  return {
    type: 'PathExpression',
    data: false,
    depth: 0,
    parts: [text],
    head: text,
    tail: [],
    original: text,
    loc: node.loc,
  };
}

/** Whether the path is one plain name. Only such a path can be a helper or a block parameter. */
export function isSimple(path: AST.PathExpression): boolean {
  return path.parts.length === 1 && path.depth === 0 && !path.data && !/^\.|this\b/.test(path.original);
}

export function findParameter(
  name: string,
  from: ParameterScope | null,
): { up: number; index: number; valuePath: ValuePath } | null {
  let up = 0;
  for (let scope = from; scope; scope = scope.outer, up++) {
    const index = scope.names.indexOf(name);
    if (index >= 0) return { up, index, valuePath: scope.valuePaths[index] ?? null };
  }
  return null;
}

/** The name of a value in messages: its path without the marks for items. */
export function nameOf(valuePath: ValuePath, written: string): string {
  return valuePath?.filter((part) => part !== '*').join('.') || written;
}

export function pathResult(
  source: PathExpression['source'],
  up: number,
  parts: string[],
  valuePath: ValuePath,
  path: AST.PathExpression,
): Resolved {
  const literalKeys = source === 'context' && parts.length > 1 ? [...new Set([parts.join('.'), path.original])] : [];
  return {
    expression: { type: 'path', source, up, parts, literalKeys, name: nameOf(valuePath, path.original) },
    valuePath,
  };
}

export function dataPath(path: AST.PathExpression, parts: string[]): Resolved {
  const valuePath = parts[0] === 'root' ? parts.slice(1) : null;
  return pathResult('data', path.depth, parts, valuePath, path);
}

export function innerScope(kind: BlockKind, valuePath: ValuePath, scope: Scope): Scope {
  if (kind === 'with')
    return valuePath === scope.valuePath ? scope : { valuePath, outer: scope, parameters: scope.parameters };
  return { valuePath: valuePath && [...valuePath, '*'], outer: scope, parameters: scope.parameters };
}

/** Parameters of a body. Only the main body of `each`, `with` and a plain block gets values for them. */
export function withParameters(program: AST.Program, kind: BlockKind | null, scope: Scope): Scope {
  const names = program.blockParams ?? [];
  if (names.length === 0) return scope;
  const valuePaths = kind === null ? [] : [scope.valuePath, null];
  return { ...scope, parameters: { names, valuePaths, outer: scope.parameters } };
}
