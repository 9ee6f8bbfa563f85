import type { AST } from '@handlebars/parser';
import { writePromptfooProvider } from '../model-names.ts';
import { type ExportNote, present, valuesOf, type WritablePrompt, type Written } from './exported-prompt.ts';
import { yamlText } from './yaml-text.ts';
import { nodeSpan, parseSyntax } from '../../../../shared/prompt-template-syntax.ts';
import { splitMessages, type WrittenBlock } from '../../../../shared/prompt-messages.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import type { AiSystem } from '../../../../shared/contract/common.ts';
import type { PromptVersion } from '../../../../shared/contract/prompts.ts';
import { toolParameters } from '../../../../shared/contract/tools.ts';
import { providerName } from '../../../../shared/provider-names.ts';
import { lineAt, TransferError } from '../source-text.ts';

const isName = (part: string) => /^[A-Za-z_]\w*$/.test(part);
/** Words that Nunjucks doesn't read as a name. */
const keywords = new Set(['true', 'false', 'none', 'null', 'not', 'and', 'or', 'in', 'is', 'if', 'else']);

/** Text that renders unchanged in Nunjucks. Throws `TransferError` for the one sequence that ends such a text. */
export function literalNunjucks(text: string): string {
  if (!/\{[{%#]|[{#]$|#\}/.test(text)) return text;
  if (/\{%-?\s*endraw/.test(text))
    throw new TransferError("The text contains {% endraw %}, which Nunjucks can't print");
  return `{% raw %}${text}{% endraw %}`;
}

/** Writes statements one after the other. The parser has already applied white-space control. */
class NunjucksWriter {
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  program({ body }: AST.Program): string {
    return body.map((statement: AST.Statement) => this.statement(statement)).join('');
  }

  private reject(node: AST.Node): never {
    const { start, end } = nodeSpan(node);
    const written = this.text.slice(start, Math.min(end, start + 60)).split('\n')[0];
    throw new TransferError(`${written} has no exact equivalent in Nunjucks`, lineAt(this.text, start));
  }

  private statement(statement: AST.Statement): string {
    switch (statement.type) {
      case 'ContentStatement':
        return literalNunjucks((statement as AST.ContentStatement).value);
      case 'CommentStatement':
        return '';
      case 'MustacheStatement': {
        const { path, params, hash } = statement as AST.MustacheStatement;
        if (params.length > 0 || hash) this.reject(statement);
        return `{{ ${this.path(path as AST.Expression)} }}`;
      }
      case 'BlockStatement':
        return this.block(statement as AST.BlockStatement);
      default:
        return this.reject(statement);
    }
  }

  private path(node: AST.Expression): string {
    const { type, parts, data, depth } = node as AST.PathExpression;
    const names = (parts ?? []) as string[];
    const isPlain =
      type === 'PathExpression' && !data && depth === 0 && names.every((part) => typeof part === 'string');
    const [first, ...rest] = names;
    if (!isPlain || first === undefined || !isName(first) || keywords.has(first)) this.reject(node);
    if (first === 'env')
      throw new TransferError('{{env}} reads environment variables in promptfoo; rename the variable');
    return first + rest.map((part) => (isName(part) ? `.${part}` : `[${JSON.stringify(part)}]`)).join('');
  }

  private block(block: AST.BlockStatement): string {
    const name = (block.path as { original?: unknown }).original;
    const [condition] = block.params;
    if ((name !== 'if' && name !== 'unless') || condition === undefined || block.params.length > 1 || block.hash) {
      this.reject(block);
    }
    const otherwise = block.inverse ? `{% else %}${this.program(block.inverse)}` : '';
    const body = block.program ? this.program(block.program) : '';
    return `{% if ${name === 'unless' ? 'not ' : ''}${this.path(condition)} %}${body}${otherwise}{% endif %}`;
  }
}

/** The same template for Nunjucks. Throws `TransferError` for loops, `with`, `lookup` and names that Nunjucks can't express. */
export function toNunjucks(template: string): string {
  return template.includes('{{')
    ? new NunjucksWriter(template).program(parseSyntax(template))
    : literalNunjucks(template);
}

/** Prefixes of texts that promptfoo runs or fetches, with any number of lines. */
const commands = /^\s*(?:exec|file|package|python|ruby|golang|javascript|https?|langfuse|portkey|helicone):/i;
const fileEnding = /\.(?:[cm]?[jt]sx?|py|rb|go|sh|bash|bat|cmd|ps1|exe|txt|md|json|jsonl|ya?ml|csv|xlsx?|j2)(?::|$)/i;

/** Whether promptfoo would read a text as a command or as the path of a file. */
function isActive(text: string): boolean {
  if (commands.test(text)) return true;
  const line = text.trim();
  return !line.includes('\n') && (fileEnding.test(line) || (line.includes('*') && /[/\\]/.test(line)));
}

/** The messages of a prompt. Throws `TransferError` for messages that only a conversation or a loop produces. */
function messagesOf({ promptText, variables }: WritablePrompt['version']): WrittenBlock[] {
  const { hasRoles, historyTags } = parseTemplate(promptText);
  const [history] = historyTags;
  if (history && variables.every(({ name }) => name !== 'history'))
    throw new TransferError('{{history}} has no equivalent in promptfoo', lineAt(promptText, history.start));
  if (!hasRoles) return [{ role: 'user', text: promptText }];
  const blocks = splitMessages(promptText);
  if (blocks === null) throw new TransferError('Roles inside of blocks have no equivalent in promptfoo');
  return blocks.filter(({ text }) => text.trim() !== '');
}

/** The template; as a chat in JSON if there is a system message, or if promptfoo wouldn't read the bare text as text. */
function rawOf({ version }: WritablePrompt): string {
  const prompt = messagesOf(version).map(({ role, text }) => ({ role, content: toNunjucks(text) }));
  const system = literalNunjucks(version.systemMessage ?? '');
  const [only] = prompt;
  if (system === '' && prompt.length === 1 && only!.role === 'user' && !isActive(only!.content)) return only!.content;
  const messages = [...(system === '' ? [] : [{ role: 'system', content: system }]), ...prompt];
  return JSON.stringify(messages, null, 2);
}

const loads = (text: string) =>
  /^\s*(?:file:\/\/|package:)/i.test(text) || (text.includes('{{') && /\benv\b/.test(text));

/** Values without those for which promptfoo would load a file, which are reported. */
function safeValues(values: ReadonlyMap<string, string>, kind: string, notes: ExportNote[]): Map<string, string> {
  const safe = new Map(values);
  for (const [name, text] of values) {
    if (!loads(text)) continue;
    safe.delete(name);
    const message = `The ${kind} is skipped because promptfoo would load a file or an environment variable`;
    notes.push({ field: `variables.${name}`, message });
  }
  return safe;
}

/** Providers to which promptfoo sends tools in their own form. */
const ownToolForms: ReadonlySet<AiSystem> = new Set(['Anthropic', 'GoogleGemini', 'Cohere']);

function withToolsOf(
  aiSystem: AiSystem,
  configuration: PromptVersion['configuration'],
  notes: ExportNote[],
): PromptVersion['configuration'] {
  if (configuration === null || configuration['tools'] == null || !ownToolForms.has(aiSystem)) return configuration;
  notes.push({
    field: 'configuration.tools',
    message: `promptfoo needs the tools of ${providerName(aiSystem)} in another form`,
  });
  const rest = Object.entries(configuration).filter(([key]) => !toolParameters.some((name) => name === key));
  return rest.length === 0 ? null : Object.fromEntries(rest);
}

/** A `promptfooconfig.yaml` with one prompt. Throws `TransferError` for a template that Nunjucks would render differently. */
export function writePromptfoo(exported: WritablePrompt): Written {
  const { prompt, version } = exported;
  const notes: ExportNote[] = [];
  const { aiSystem, model } = version;
  const provider = aiSystem === null || model === null ? null : writePromptfooProvider(aiSystem, model);
  if (model !== null && provider === null) {
    notes.push({ field: 'model', message: `promptfoo has no provider for ${model}; add one to the file` });
  }
  if (provider === null && version.configuration !== null) {
    notes.push({ field: 'configuration', message: 'Parameters are skipped because the file has no provider' });
  }
  const configuration = aiSystem === null ? version.configuration : withToolsOf(aiSystem, version.configuration, notes);
  const defaults = safeValues(valuesOf(version, 'defaultValue'), 'default', notes);
  const samples = safeValues(valuesOf(version, 'sampleValue'), 'sample', notes);
  const extension = present([
    ['folder', prompt.folder],
    ['tags', prompt.tags],
    ['description', prompt.description],
    ['note', version.note],
    ['variables', new Map(version.variables.map(({ name, description }) => [name, description]))],
  ]);
  const fields = present([
    ['description', prompt.name],
    ['prompts', [{ label: prompt.name, raw: rawOf(exported) }]],
    [
      'providers',
      provider === null
        ? null
        : [
            present([
              ['id', provider],
              ['config', configuration],
            ]),
          ],
    ],
    ['defaultTest', defaults.size === 0 ? null : { vars: defaults }],
    ['tests', samples.size === 0 ? null : [{ vars: samples }]],
    ['metadata', extension.size === 0 ? null : { touchstone: extension }],
  ]);
  return { content: yamlText(fields), notes };
}
