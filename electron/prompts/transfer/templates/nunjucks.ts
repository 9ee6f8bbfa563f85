import type { AST } from '@handlebars/parser';
import { nodeSpan, parseSyntax } from '../../../../shared/prompt-template-syntax.ts';
import { lineAt, Refusal } from '../refusal.ts';

const isName = (part: string) => /^[A-Za-z_]\w*$/.test(part);
/** Words that Nunjucks does not read as a name. */
const keywords = new Set(['true', 'false', 'none', 'null', 'not', 'and', 'or', 'in', 'is', 'if', 'else']);

/** Text that renders as itself in Nunjucks. Throws `Refusal` for the one sign that ends such a text. */
export function literalNunjucks(text: string): string {
  if (!/\{[{%#]|[{#]$|#\}/.test(text)) return text;
  if (/\{%-?\s*endraw/.test(text)) throw new Refusal("The text contains {% endraw %}, which Nunjucks can't print");
  return `{% raw %}${text}{% endraw %}`;
}

/** Writes statements one after the other; white space is settled already, as the parser settles it. */
class NunjucksWriter {
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  program({ body }: AST.Program): string {
    return body.map((statement: AST.Statement) => this.statement(statement)).join('');
  }

  private refuse(node: AST.Node): never {
    const { start, end } = nodeSpan(node);
    const written = this.text.slice(start, Math.min(end, start + 60)).split('\n')[0];
    throw new Refusal(`${written} has no exact equivalent in Nunjucks`, lineAt(this.text, start));
  }

  private statement(statement: AST.Statement): string {
    switch (statement.type) {
      case 'ContentStatement':
        return literalNunjucks((statement as AST.ContentStatement).value);
      case 'CommentStatement':
        return '';
      case 'MustacheStatement': {
        const { path, params, hash } = statement as AST.MustacheStatement;
        if (params.length > 0 || hash) this.refuse(statement);
        return `{{ ${this.path(path as AST.Expression)} }}`;
      }
      case 'BlockStatement':
        return this.block(statement as AST.BlockStatement);
      default:
        return this.refuse(statement);
    }
  }

  private path(node: AST.Expression): string {
    const { type, parts, data, depth } = node as AST.PathExpression;
    const names = (parts ?? []) as string[];
    const isPlain =
      type === 'PathExpression' && !data && depth === 0 && names.every((part) => typeof part === 'string');
    const [first, ...rest] = names;
    if (!isPlain || first === undefined || !isName(first) || keywords.has(first)) this.refuse(node);
    if (first === 'env') throw new Refusal('{{env}} reads environment variables in promptfoo; rename the variable');
    return first + rest.map((part) => (isName(part) ? `.${part}` : `[${JSON.stringify(part)}]`)).join('');
  }

  private block(block: AST.BlockStatement): string {
    const name = (block.path as { original?: unknown }).original;
    const [condition] = block.params;
    if ((name !== 'if' && name !== 'unless') || condition === undefined || block.params.length > 1 || block.hash) {
      this.refuse(block);
    }
    const otherwise = block.inverse ? `{% else %}${this.program(block.inverse)}` : '';
    const body = block.program ? this.program(block.program) : '';
    return `{% if ${name === 'unless' ? 'not ' : ''}${this.path(condition)} %}${body}${otherwise}{% endif %}`;
  }
}

/** The same template for Nunjucks. Throws `Refusal` for loops, `with`, `lookup` and names that Nunjucks cannot hold. */
export function toNunjucks(template: string): string {
  return template.includes('{{')
    ? new NunjucksWriter(template).program(parseSyntax(template))
    : literalNunjucks(template);
}
