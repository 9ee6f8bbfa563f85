/** Compiles dotprompt's helpers. */

import type { AST } from '@handlebars/parser';
import { roleNamed } from './prompt-messages.ts';
import {
  type Instruction,
  isPath,
  type Resolved,
  type Scope,
  type Use,
  type ValuePath,
} from './prompt-template-program.ts';
import { nodeSpan, TemplateProblem } from './prompt-template-syntax.ts';

/** The parts of the compiler that helpers need. */
interface Compiler {
  argument(node: AST.Expression, scope: Scope): Resolved;
  use(valuePath: ValuePath, use: Use, node: AST.Node): void;
}

function problem(node: AST.Node, message: string): TemplateProblem {
  return new TemplateProblem(message, nodeSpan(node).start);
}

function optionsOf({ hash }: AST.MustacheStatement, names: readonly string[]): Map<string, AST.Expression> {
  const pairs: readonly AST.HashPair[] = hash?.pairs ?? [];
  for (const pair of pairs) {
    if (!names.includes(pair.key)) throw problem(pair, `There is no option "${pair.key}" here`);
  }
  return new Map(pairs.map(({ key, value }) => [key, value]));
}

/** The role must be a literal in the template, so that no value decides the role of a message. */
export function compileRole(call: AST.MustacheStatement): Instruction {
  const [word] = call.params;
  const role = word?.type === 'StringLiteral' ? roleNamed((word as AST.StringLiteral).value) : null;
  if (role === null || call.params.length > 1 || call.hash)
    throw problem(word ?? call.path, 'role takes one of the words "system", "user" and "model", in quotes');
  return { type: 'role', role };
}

export function compileMedia(call: AST.MustacheStatement, scope: Scope, compiler: Compiler): Instruction {
  const options = optionsOf(call, ['url', 'contentType']);
  const url = options.get('url');
  if (!url || call.params.length > 0)
    throw problem(call.path, 'media takes url=, the variable that holds the file, and contentType=');
  const { expression, valuePath } = compiler.argument(url, scope);
  if (isPath(url)) compiler.use(valuePath, 'file', url);
  const contentType = options.get('contentType');
  return {
    type: 'media',
    url: expression,
    contentType: contentType ? compiler.argument(contentType, scope).expression : null,
    name: 'name' in expression ? expression.name : 'url',
    start: nodeSpan(url).start,
  };
}

export function compileJson(call: AST.MustacheStatement, scope: Scope, compiler: Compiler): Instruction {
  const [value] = call.params;
  if (!value || call.params.length > 1) throw problem(call.path, 'json takes one value, and indent=');
  const { expression, valuePath } = compiler.argument(value, scope);
  if (isPath(value)) compiler.use(valuePath, 'object', value);
  const indent = optionsOf(call, ['indent']).get('indent');
  return {
    type: 'json',
    value: expression,
    indent: indent ? compiler.argument(indent, scope).expression : null,
    start: nodeSpan(call.path).start,
  };
}
