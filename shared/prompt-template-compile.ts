/** Compiles the syntax tree of a template to instructions for the renderer, and reports what the template language doesn't support. */

import type { AST } from '@handlebars/parser';
import {
  type BlockKind,
  dataPath,
  type Expression,
  findParameter,
  headPath,
  innerScope,
  type Instruction,
  isPath,
  isSimple,
  nameOf,
  type Occurrence,
  type PathExpression,
  pathResult,
  type ValuePath,
  type Program,
  type Resolved,
  type Scope,
  type Use,
  withParameters,
} from './prompt-template-program.ts';
import { compileJson, compileMedia, compileRole } from './prompt-template-helpers.ts';
import { nodeSpan, TemplateProblem, type Span } from './prompt-template-syntax.ts';

type Call = AST.MustacheStatement | AST.BlockStatement | AST.SubExpression;

const blockHelpers = ['if', 'unless', 'each', 'with'] as const;
/** Helpers only with values: alone, these names are variables. */
const equalityHelpers = ['ifEquals', 'unlessEquals'] as const;
const helperNames = 'if, unless, each, with, lookup, role, history, media, json, ifEquals and unlessEquals';
const isBlockHelper = (name: string): name is (typeof blockHelpers)[number] => blockHelpers.some((one) => one === name);

const isEqualityHelper = (name: string): name is (typeof equalityHelpers)[number] =>
  equalityHelpers.some((one) => one === name);

const uses: Record<BlockKind, Use> = {
  if: 'condition',
  unless: 'condition',
  ifEquals: 'text',
  unlessEquals: 'text',
  each: 'list',
  with: 'object',
  plain: 'section',
};

export class TemplateCompiler {
  readonly problems: TemplateProblem[] = [];
  readonly occurrences: Occurrence[] = [];
  /** Tags outside of any block that print all replacements at once, as `{{.}}` and `{{this}}` do. */
  readonly rootPrints: Span[] = [];
  /** Every `{{history}}`. */
  readonly historyTags: Span[] = [];
  hasRoles = false;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  compile(program: AST.Program): Program {
    return this.program(program, { valuePath: [], outer: null, parameters: null });
  }

  private program(program: AST.Program, scope: Scope): Program {
    const body: Instruction[] = [];
    for (const statement of program.body) {
      try {
        const instruction = this.statement(statement, scope);
        if (instruction) body.push(instruction);
      } catch (error) {
        if (!(error instanceof TemplateProblem)) throw error;
        this.problems.push(error);
      }
    }
    return { body, hasParameters: Boolean(program.blockParams?.length) };
  }

  private statement(statement: AST.Statement, scope: Scope): Instruction | null {
    const { start } = nodeSpan(statement);
    switch (statement.type) {
      case 'ContentStatement': {
        const text = (statement as AST.ContentStatement).value;
        return text === '' ? null : { type: 'content', text };
      }
      case 'CommentStatement':
        return null;
      case 'MustacheStatement': {
        const call = statement as AST.MustacheStatement;
        return this.dotpromptHelper(call, scope) ?? { type: 'value', value: this.mustache(call, scope) };
      }
      case 'BlockStatement':
        return this.block(statement as AST.BlockStatement, scope);
      case 'PartialStatement':
      case 'PartialBlockStatement':
        throw new TemplateProblem('Partials ({{> ...}}) are not available', start);
      default:
        throw new TemplateProblem('Decorators ({{* ...}}) are not available', start);
    }
  }

  /** dotprompt's helpers; null for any other tag. */
  private dotpromptHelper(call: AST.MustacheStatement, scope: Scope): Instruction | null {
    const path = headPath(call.path as AST.Expression);
    if (!isSimple(path) || findParameter(path.parts[0] as string, scope.parameters)) return null;
    const hasArguments = call.params.length > 0 || Boolean(call.hash);
    if (path.original === 'history') return hasArguments ? null : this.history(path, scope);
    if (!hasArguments) return null;
    if (path.original === 'role') {
      this.hasRoles = true;
      return compileRole(call);
    }
    if (path.original === 'media') return compileMedia(call, scope, this);
    return path.original === 'json' ? compileJson(call, scope, this) : null;
  }

  private history(path: AST.PathExpression, scope: Scope): Instruction {
    const { expression, valuePath } = this.path(path, scope);
    // Inside a block it is most likely a field of the block's subject.
    if (valuePath && valuePath.length > 1) this.use(valuePath, 'text', path);
    this.historyTags.push(nodeSpan(path));
    return { type: 'history', variable: expression as PathExpression, start: nodeSpan(path).start };
  }

  private mustache(statement: AST.MustacheStatement, scope: Scope): Expression {
    const path = headPath(statement.path as AST.Expression);
    if (this.isHelper(path, scope)) {
      if (path.original === 'lookup' && statement.params.length > 0) return this.lookup(statement, scope).expression;
      if (path.original === 'lookup')
        throw this.problem(path, `lookup needs a value and a key; a variable of that name is {{this.lookup}}`);
      throw this.problem(
        path,
        `${path.original} opens a block: write {{#${path.original} ...}}, or {{this.${path.original}}} for a variable`,
      );
    }
    this.rejectArguments(statement, path);
    const { expression, valuePath } = this.path(path, scope);
    this.use(valuePath, 'text', path);
    return expression;
  }

  private isHelper(path: AST.PathExpression, scope: Scope): boolean {
    if (!isSimple(path) || findParameter(path.parts[0] as string, scope.parameters)) return false;
    return isBlockHelper(path.original) || path.original === 'lookup';
  }

  /** Values and options after a name make it a helper, and there are no others. */
  private rejectArguments(call: Call, path: AST.PathExpression): void {
    if (call.params.length === 0 && !call.hash) return;
    const written = this.text.slice(nodeSpan(path).start, nodeSpan(call.hash ?? call.params.at(-1) ?? path).end);
    const advice = /^[\w -]{1,60}$/.test(written) ? `; a name with spaces is written {{[${written}]}}` : '';
    throw this.problem(path, `There is no helper "${path.original}", only ${helperNames}${advice}`);
  }

  private lookup(call: Call, scope: Scope): Resolved {
    const [target, key] = call.params;
    if (!target || !key || call.params.length !== 2 || call.hash) {
      throw this.problem(call.path, 'lookup takes a value and a key, no more');
    }
    const of = this.argument(target, scope);
    const by = this.argument(key, scope);
    const isIndex = by.expression.type === 'path' && by.expression.name === '@index';
    const literal = by.expression.type === 'literal' ? String(by.expression.value) : null;
    const part = literal ?? (isIndex ? '*' : null);
    const valuePath = of.valuePath && part !== null ? [...of.valuePath, part] : null;
    if (isPath(key)) this.use(by.valuePath, 'text', key);
    if (isPath(target) && literal !== null) this.use(valuePath, 'text', target);
    else if (isPath(target)) this.use(of.valuePath, isIndex ? 'list' : 'object', target);
    const name = nameOf(valuePath ?? of.valuePath, 'name' in of.expression ? of.expression.name : 'lookup');
    return { expression: { type: 'lookup', target: of.expression, key: by.expression, name }, valuePath };
  }

  argument(node: AST.Expression, scope: Scope): Resolved {
    switch (node.type) {
      case 'PathExpression':
        return this.path(node as AST.PathExpression, scope);
      case 'StringLiteral':
      case 'NumberLiteral':
      case 'BooleanLiteral':
        return { expression: { type: 'literal', value: (node as AST.StringLiteral).value }, valuePath: null };
      case 'NullLiteral':
        return { expression: { type: 'literal', value: null }, valuePath: null };
      case 'UndefinedLiteral':
        return { expression: { type: 'literal', value: undefined }, valuePath: null };
      case 'SubExpression': {
        const call = node as AST.SubExpression;
        const path = headPath(call.path as AST.Expression);
        if (path.original === 'lookup' && this.isHelper(path, scope)) return this.lookup(call, scope);
        throw this.problem(path, `"${path.original}" cannot stand in parentheses, only lookup can`);
      }
      default:
        throw this.problem(node, 'This cannot be used as a value here');
    }
  }

  private path(path: AST.PathExpression, scope: Scope): Resolved {
    const parts = (path.parts as (string | AST.SubExpression)[]).filter((part) => typeof part === 'string');
    if (
      parts.length !== path.parts.length ||
      parts.some((part) => part.startsWith('#') && path.original.includes(`.${part}`))
    ) {
      throw this.problem(path, 'A path is made of names, dots and slashes only');
    }
    if (path.data) return dataPath(path, parts);
    const [head] = parts;
    const parameter =
      path.depth === 0 &&
      !/^\.|this\b/.test(path.original) &&
      head !== undefined &&
      findParameter(head, scope.parameters);
    if (parameter) {
      const valuePath = parameter.valuePath && [...parameter.valuePath, ...parts.slice(1)];
      return pathResult('parameter', parameter.up, [String(parameter.index), ...parts.slice(1)], valuePath, path);
    }
    let from: Scope | null = scope;
    for (let depth = path.depth; depth > 0 && from; depth--) from = from.outer;
    // An empty name, as in {{[]}}, is the context itself to Handlebars.
    const names = head === '' ? [] : parts;
    return pathResult('context', path.depth, names, from?.valuePath ? [...from.valuePath, ...names] : null, path);
  }

  private block(block: AST.BlockStatement, scope: Scope): Instruction {
    const path = headPath(block.path);
    if (this.isEquality(block, path, scope)) return this.equality(block, path.original, scope);
    const isHelper = this.isHelper(path, scope);
    if (isHelper && path.original === 'lookup') throw this.problem(path, 'lookup gives a value and opens no block');
    if (!isHelper) this.rejectArguments(block, path);
    const kind: BlockKind = isHelper && isBlockHelper(path.original) ? path.original : 'plain';
    const subject = isHelper ? this.onlyArgument(block, kind) : path;
    const { expression, valuePath } = this.argument(subject, scope);
    const isCondition = kind === 'if' || kind === 'unless';
    if (isPath(subject)) this.use(valuePath, uses[kind], subject);
    const includeZero = this.options(block, isCondition, scope);
    const names = block.program?.blockParams ?? block.inverse?.blockParams ?? [];
    if (isCondition && names.length > 0) throw this.problem(path, `${kind} gives no block parameters`);
    const inner = isCondition ? scope : innerScope(kind, valuePath, scope);
    return {
      type: 'block',
      kind,
      value: expression,
      other: null,
      includeZero,
      program: block.program ? this.program(block.program, withParameters(block.program, kind, inner)) : null,
      inverse: block.inverse ? this.program(block.inverse, withParameters(block.inverse, null, scope)) : null,
    };
  }

  private isEquality(
    block: AST.BlockStatement,
    path: AST.PathExpression,
    scope: Scope,
  ): path is AST.PathExpression & { original: (typeof equalityHelpers)[number] } {
    return (
      block.params.length > 0 &&
      isEqualityHelper(path.original) &&
      isSimple(path) &&
      !findParameter(path.original, scope.parameters)
    );
  }

  private equality(block: AST.BlockStatement, kind: (typeof equalityHelpers)[number], scope: Scope): Instruction {
    const [one, other] = block.params;
    const names = block.program?.blockParams ?? block.inverse?.blockParams;
    if (!one || !other || block.params.length > 2 || block.hash || names)
      throw this.problem(block.path, `{{#${kind} ...}} takes two values, no more`);
    const [value, compared] = [one, other].map((node) => {
      const { expression, valuePath } = this.argument(node, scope);
      if (isPath(node)) this.use(valuePath, uses[kind], node);
      return expression;
    });
    return {
      type: 'block',
      kind,
      value: value!,
      other: compared!,
      includeZero: null,
      program: block.program ? this.program(block.program, scope) : null,
      inverse: block.inverse ? this.program(block.inverse, scope) : null,
    };
  }

  private onlyArgument(block: AST.BlockStatement, kind: BlockKind): AST.Expression {
    const [only] = block.params;
    if (only && block.params.length === 1) return only;
    throw this.problem(
      block.path,
      `{{#${kind} ...}} takes one value; a name with spaces is written in brackets, {{#${kind} [first name]}}`,
    );
  }

  private options(block: AST.BlockStatement, isCondition: boolean, scope: Scope): Expression | null {
    const pairs = block.hash?.pairs ?? [];
    for (const pair of pairs) {
      if (!isCondition || pair.key !== 'includeZero') throw this.problem(pair, `There is no option "${pair.key}" here`);
    }
    const last = pairs.at(-1);
    return last ? this.argument(last.value, scope).expression : null;
  }

  use(valuePath: ValuePath, use: Use, node: AST.Node): void {
    if (valuePath && valuePath.length > 0) this.occurrences.push({ valuePath, use, ...nodeSpan(node) });
    else if (valuePath && use === 'text') this.rootPrints.push(nodeSpan(node));
  }

  private problem(node: AST.Node, message: string): TemplateProblem {
    return new TemplateProblem(message, nodeSpan(node).start);
  }
}
