import type { z } from 'zod';
import { configuration } from '../../../shared/contract/completions.ts';
import { promptInput, type PromptInput } from '../../../shared/contract/prompts.ts';
import type { TransferEntry, VariableStyle } from '../../../shared/contract/prompt-transfer.ts';
import { joinMessages, type WrittenBlock } from '../../../shared/prompt-messages.ts';
import { parseTemplate, renderTemplate } from '../../../shared/prompt-template.ts';
import { type Draft, type DraftMessage, note } from './draft.ts';
import { lineAt, TransferError } from './source-text.ts';
import {
  assembleTemplate,
  handlebarsPath,
  hasJinjaTags,
  literalTemplate,
  type TemplatePart,
  translateJinja,
} from './templates/template-syntax.ts';

/** Whether a text seems to have variables in single braces, as in Python's `format`. */
function hasSingleBraces(text: string): boolean {
  return /(?:^|[^{])\{[A-Za-z_]\w*\}(?!\})/.test(text);
}

function tagOf(text: string, inner: string, offset: number): string {
  if (!/^[A-Za-z_]\w*$/.test(inner)) {
    const shown = inner.length > 40 ? `${inner.slice(0, 40)}…` : inner;
    throw new TransferError(`{${shown}} isn't a variable name`, lineAt(text, offset));
  }
  return `{{${handlebarsPath([inner])}}}`;
}

/** `{name}` becomes `{{name}}`, and doubled braces become single ones. Throws `TransferError` for anything else in braces. */
export function translateSingleBraces(text: string): string {
  const parts: TemplatePart[] = [];
  let done = 0;
  for (const match of text.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g)) {
    parts.push({ text: text.slice(done, match.index) });
    done = match.index + match[0].length;
    if (match[0] === '{{' || match[0] === '}}') parts.push({ text: match[0][0]! });
    else if (match[1] !== undefined) parts.push({ tag: tagOf(text, match[1], match.index) });
    else throw new TransferError(`Unmatched ${match[0]}`, lineAt(text, match.index));
  }
  return assembleTemplate([...parts, { text: text.slice(done) }]);
}

export interface FinishOptions {
  /** The default folder of the prompt. */
  readonly folder: string | null;
  readonly style: VariableStyle | null;
}

interface Template {
  readonly role: DraftMessage['role'];
  readonly template: string;
}

/** Longer prompts could not be changed or run: no request has room for them. */
const maxCharacters = 3_000_000;

function isRunnable(text: string): boolean {
  return parseTemplate(text).problems.length === 0;
}

function styleOf(text: string): VariableStyle {
  if (hasJinjaTags(text)) return 'jinja';
  if (text.includes('{{') && isRunnable(text)) return 'handlebars';
  return hasSingleBraces(text) ? 'single-brace' : text.includes('{{') ? 'handlebars' : 'none';
}

const conversions = {
  jinja: 'Converted from Jinja to Handlebars',
  'single-brace': 'Converted from single braces to Handlebars',
  none: 'Literal braces are escaped for Handlebars',
  handlebars: 'Converted to Handlebars',
} as const;

function translate(style: VariableStyle, text: string): string {
  if (style === 'jinja') return translateJinja(text);
  if (style === 'single-brace') return translateSingleBraces(text);
  return style === 'none' ? literalTemplate(text) : text;
}

/** The messages as Handlebars, all read in one style. Throws `TransferError` for a template that can't run. */
function templatesOf(draft: Draft, chosen: VariableStyle | null): Template[] {
  const style = draft.style ?? chosen ?? styleOf(draft.messages.map(({ text }) => text).join('\n'));
  return draft.messages.map(({ role, text, line }) => {
    const template = translated(style, text, line);
    if (template !== text) note(draft, 'translated', 'template', conversions[style], line);
    return { role, template };
  });
}

function translated(style: VariableStyle, text: string, line: number | null): string {
  const lineOf = (inner: number | null) => (line === null || inner === null ? (line ?? inner) : line + inner - 1);
  try {
    const template = translate(style, text);
    const [problem] = parseTemplate(template).problems;
    if (problem === undefined) return template;
    throw new TransferError(problem.issue, style === 'handlebars' ? problem.line : null);
  } catch (error) {
    if (error instanceof TransferError) throw new TransferError(error.message, lineOf(error.line));
    throw error;
  }
}

/** The text of a template without variables; null for one with variables. */
function fixedText(template: string): string | null {
  const parsed = parseTemplate(template);
  const isFixed = parsed.variables.length === 0 && parsed.objectTags.length === 0;
  return isFixed && !parsed.hasRoles && parsed.historyTags.length === 0 ? renderTemplate(parsed, {}).text : null;
}

interface PromptTexts {
  readonly promptText: string;
  readonly systemMessage: string | null;
}

/** The messages of the prompt, without blank ones. Throws `TransferError`. */
function usableMessages(draft: Draft, templates: readonly Template[]): WrittenBlock[] {
  const messages: WrittenBlock[] = [];
  for (const { role, template } of templates) {
    if (role === 'other')
      throw new TransferError('It contains messages with a role other than system, user or assistant');
    if (template.trim() !== '') messages.push({ role, text: template });
  }
  if (draft.isTrainingExample && messages.at(-1)?.role === 'assistant') {
    messages.pop();
    note(draft, 'refused', 'messages', 'The final assistant message is skipped: it is the expected answer');
  }
  return messages;
}

/** The prompt, with roles if it has more than one message beside its system message. Throws `TransferError` for an empty one. */
function promptTexts(draft: Draft, templates: readonly Template[]): PromptTexts {
  const messages = usableMessages(draft, templates);
  const [first, ...others] = messages;
  if (first === undefined) throw new TransferError('The prompt is empty');
  if (others.length === 0 && first.role === 'system') {
    note(draft, 'translated', 'messages', 'The only message is a system message; it becomes the prompt');
    return { promptText: first.text, systemMessage: null };
  }
  if (messages.every(({ role }) => role !== 'user')) throw new TransferError('It has no user message');
  const isSystemFirst = first.role === 'system' && others[0]!.role !== 'system';
  const systemMessage = isSystemFirst ? fixedText(first.text) : null;
  const blocks = systemMessage === null ? messages : others;
  if (blocks.length > 1) note(draft, 'translated', 'messages', `${blocks.length} messages become roles of the prompt`);
  const [only] = blocks;
  return {
    promptText: blocks.length === 1 && only!.role === 'user' ? only!.text : joinMessages(blocks),
    systemMessage: systemMessage || null,
  };
}

/** Why a value is rejected, without the schema library's own terms for limits and types. */
function issueText(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'too_big') return `Must be at most ${issue.maximum}`;
  if (issue?.code === 'too_small') return `Must be at least ${issue.minimum}`;
  if (issue?.code === 'invalid_type') return `Must be of type ${issue.expected}`;
  return issue?.message ?? 'Invalid value';
}

function configurationOf(draft: Draft): Pick<PromptInput, 'configuration'> {
  const accepted: [string, unknown][] = [];
  for (const [key, value] of draft.parameters) {
    // The choice of a tool has a meaning only beside the tools.
    const tools = key === 'tool_choice' ? draft.parameters.get('tools') : undefined;
    const result = configuration.safeParse({ ...(tools !== undefined && { tools }), [key]: value });
    if (result.success) accepted.push([key, value]);
    else note(draft, 'refused', key, issueText(result.error.issues[0]));
  }
  return accepted.length === 0 ? {} : { configuration: Object.fromEntries(accepted) };
}

function taken(text: string | null, max: number, field: string, draft: Draft): string | null {
  if (text === null || text.trim() === '') return null;
  if (text.length <= max) return text;
  note(draft, 'refused', field, `Longer than ${max.toLocaleString('en')} characters`);
  return null;
}

function storedTags(draft: Draft): string[] {
  const given = draft.tags.filter((tag) => tag !== '');
  const accepted = given.filter((tag) => tag.length <= 100).slice(0, 100);
  if (accepted.length < given.length)
    note(draft, 'refused', 'tags', 'Only the first 100 tags of up to 100 characters are imported');
  return accepted;
}

function detailsOf(
  draft: Draft,
  { folder }: FinishOptions,
): Pick<PromptInput, 'name' | 'folder' | 'tags' | 'description'> {
  return {
    name: draft.name.trim().slice(0, 300) || 'Imported prompt',
    folder: taken(draft.folder ?? folder, 1000, 'folder', draft),
    tags: storedTags(draft),
    description: taken(draft.description, 10_000, 'description', draft),
  };
}

/** The draft's own variables, and values of the suite for variables that the template uses. */
function variablesOf({ variables, suiteVariables }: Draft, promptText: string): Draft['variables'] {
  const used = new Set(parseTemplate(promptText).variables.map(({ name }) => name));
  const accepted = new Map(variables);
  for (const [name, details] of suiteVariables) {
    if (used.has(name) || variables.has(name)) accepted.set(name, { ...variables.get(name), ...details });
  }
  return accepted;
}

function warnOfObjects(draft: Draft, promptText: string): void {
  for (const { written } of parseTemplate(promptText).objectTags.slice(0, 5)) {
    const tag = `{{${written.slice(0, 60)}}}`;
    note(draft, 'warning', 'template', `${tag} prints "[object Object]"; name one of the object's fields`);
  }
}

/** An importable prompt without its model, which is resolved elsewhere. */
export interface FinishedPrompt {
  readonly prompt: PromptInput;
  readonly model: Draft['model'];
  /** The position of the model's entry among the entries. */
  readonly modelEntry: number;
  readonly entries: TransferEntry[];
}

/** Null for a draft that can't be imported; its entries have the reason. */
export function finishDraft(draft: Draft, options: FinishOptions): FinishedPrompt | null {
  try {
    if (draft.rejection !== null) throw new TransferError(draft.rejection.message, draft.rejection.line);
    if (draft.messages.reduce((sum, { text }) => sum + text.length, 0) > maxCharacters)
      throw new TransferError(`Longer than ${maxCharacters.toLocaleString('en')} characters`);
    const texts = promptTexts(draft, templatesOf(draft, options.style));
    const variables = variablesOf(draft, texts.promptText);
    warnOfObjects(draft, texts.promptText);
    const details = detailsOf(draft, options);
    const modelEntry = draft.entries.length;
    const input = promptInput.safeParse({
      ...details,
      ...texts,
      ...configurationOf(draft),
      variables: [...variables].map(([name, variable]) => ({ ...variable, name })),
      note: taken(draft.note, 10_000, 'note', draft),
    });
    if (input.success) return { prompt: input.data, model: draft.model, modelEntry, entries: draft.entries };
    const [issue] = input.error.issues;
    throw new TransferError(`${issue?.path.join('.')}: ${issue?.message}`);
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    note(draft, 'refused', 'prompt', `${(draft.file ?? draft.name).slice(0, 100)}: ${error.message}`, error.line);
    return null;
  }
}
