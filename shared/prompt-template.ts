import { AppError, type ErrorDetail } from './app-error.ts';
import { type Message, textMessage, textOfMessages } from './contract/messages.ts';
import { TemplateCompiler } from './prompt-template-compile.ts';
import type { Program } from './prompt-template-program.ts';
import { maxMessages } from './prompt-template-messages.ts';
import { RenderLimitError, type RenderInput, type RenderLimits, TemplateRenderer } from './prompt-template-render.ts';
import { parseSyntax, type Span, TemplateProblem } from './prompt-template-syntax.ts';
import {
  collectObjectPrints,
  collectVariables,
  createLineFinder,
  type TemplateVariable,
} from './prompt-template-variables.ts';

/**
 * The language of prompt templates: Handlebars with `if`, `unless`, `each`, `with` and `lookup`, and dotprompt's `role`, `history`,
 * `media`, `json`, `ifEquals` and `unlessEquals`, which are helpers only with their arguments. Never HTML-escaped, without other
 * helpers, partials, decorators or access to prototypes. Handlebars' own parser reads it; the template is then carried
 * out step by step, because `Handlebars.compile` makes code, which the window's content security policy forbids, and because
 * a run of steps can be bounded.
 */

/** Field of a request that holds the template. */
const field = 'promptText';

/** Max reported problems of one template; a response should not be larger than its request. */
const maxProblems = 50;

interface ObjectTag {
  /** As it is written, without its braces. */
  readonly written: string;
  readonly line: number;
  readonly column: number;
}

export interface ParsedTemplate {
  readonly text: string;
  /** Why the template cannot be run; empty when it can. `line` and `column` count from 1. */
  readonly problems: readonly (ErrorDetail & { line: number; column: number })[];
  /** What a person must fill, in the order of first use; empty for a template with problems in its syntax. */
  readonly variables: readonly TemplateVariable[];
  /** Tags that always print an object; a prompt would contain "[object Object]". */
  readonly objectTags: readonly ObjectTag[];
  /** Whether it sets roles: it may render to several messages. */
  readonly hasRoles: boolean;
  /** Every `{{history}}`, which is no variable unless the prompt or the request has one of that name. */
  readonly historyTags: readonly Span[];
  /** Null when the text has no tags or has problems. */
  readonly program: Program | null;
}

const nothingFound = { variables: [], objectTags: [], hasRoles: false, historyTags: [], program: null };

/** Enough for any prompt. A rendering that uses them up takes about 150 ms, and nothing else runs meanwhile. */
const renderLimits: RenderLimits = { steps: 600_000, characters: 4 * 1_048_576 };

/**
 * Reads a template. Never throws: what is wrong is in `problems`. A template may hold 20,000 words and signs inside its tags
 * and nest 100 blocks deep; a text of 4 MB takes at most about 200 ms, one without `{{` no time at all.
 */
export function parseTemplate(text: string): ParsedTemplate {
  if (!text.includes('{{')) return { text, problems: [], ...nothingFound };
  const positionOf = createLineFinder(text);
  const asDetails = (problems: readonly TemplateProblem[]) =>
    problems.slice(0, maxProblems).map(({ message, start }) => ({ field, issue: message, ...positionOf(start) }));
  try {
    const compiler = new TemplateCompiler(text);
    const program = compiler.compile(parseSyntax(text));
    const variables = collectVariables(compiler.occurrences, positionOf);
    const { hasRoles, historyTags } = compiler;
    if (compiler.problems.length > 0)
      return { ...nothingFound, text, problems: asDetails(compiler.problems), variables, hasRoles, historyTags };
    const objectTags = collectObjectPrints(compiler).map(({ start, end }) => ({
      written: text.slice(start, end),
      ...positionOf(start),
    }));
    return { text, problems: [], variables, objectTags, hasRoles, historyTags, program };
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    return { text, problems: asDetails([error]), ...nothingFound };
  }
}

/** Throws `invalid_request`, with line and column, for a template that cannot be run. */
export function requireRunnable(template: ParsedTemplate): void {
  if (template.problems.length > 0) throw templateError(template.problems);
}

function templateError(problems: ParsedTemplate['problems']): AppError {
  const { line, column, issue } = problems[0]!;
  return new AppError(
    'invalid_request',
    `The prompt template has a mistake in line ${line}, column ${column}: ${issue}`,
    { details: [...problems] },
  );
}

export interface RenderOptions extends Partial<Omit<RenderInput, 'replacements'>> {
  readonly limits?: RenderLimits;
}

export interface RenderedMessages {
  /** The conversation, the history in its place. Empty when all roles are blank. */
  readonly messages: readonly Message[];
  /** Placeholders that had no replacement and rendered empty, each once. */
  readonly unfilled: string[];
  /** Placeholders that printed "[object Object]", each once. */
  readonly objects: string[];
}

/** Without files, no replacement holds one. */
const noFiles = (): null => null;

/**
 * Fills a template. Without roles it is one message of the user. Throws `invalid_request` for a template with problems, for one that
 * takes too many steps or gives too long a text or too many messages, for `{{history}}` outside of a conversation, and for
 * `{{media}}` without a file.
 */
export function renderMessages(
  template: ParsedTemplate,
  replacements: Readonly<Record<string, unknown>> | null | undefined,
  options: RenderOptions = {},
): RenderedMessages {
  requireRunnable(template);
  const { limits = renderLimits, history = null, isHistoryVariable = false } = options;
  if (!template.program)
    return { messages: [...(history ?? []), textMessage('user', template.text)], unfilled: [], objects: [] };
  const input = { replacements: replacements ?? {}, history, isHistoryVariable, filesOf: options.filesOf ?? noFiles };
  const renderer = new TemplateRenderer(input, limits);
  try {
    const messages = renderer.render(template.program);
    return { messages, unfilled: [...renderer.unfilled], objects: [...renderer.printedObjects] };
  } catch (error) {
    if (error instanceof RenderLimitError) throw tooMuch(error, limits);
    if (!(error instanceof TemplateProblem)) throw error;
    const position = createLineFinder(template.text)(error.start);
    throw templateError([{ field, issue: error.message, ...position }]);
  }
}

/** Fills a template as `renderMessages` does; `text` is that of all messages, separated by empty lines. */
export function renderTemplate(
  template: ParsedTemplate,
  replacements: Readonly<Record<string, unknown>> | null | undefined,
  limits: RenderLimits = renderLimits,
): { text: string; unfilled: string[]; objects: string[] } {
  const { messages, unfilled, objects } = renderMessages(template, replacements, { limits });
  return { text: textOfMessages(messages), unfilled, objects };
}

function tooMuch({ limit }: RenderLimitError, limits: RenderLimits): AppError {
  const issues = {
    steps: `takes more than ${limits.steps} steps to fill; use fewer loops or shorter lists`,
    characters: `becomes longer than ${limits.characters} characters when it is filled`,
    messages: `becomes more than ${maxMessages} messages when it is filled`,
  };
  const issue = issues[limit];
  return new AppError('invalid_request', `The prompt template ${issue}`, { details: [{ field, issue }] });
}

/**
 * Remembers the templates that were parsed last, as the same prompt is usually run many times. Texts without tags are not
 * kept: parsing them costs less than looking them up.
 */
export function createTemplateCache(
  limits = { templates: 200, characters: 4 * 1_048_576 },
): (text: string) => ParsedTemplate {
  const cache = new Map<string, ParsedTemplate>();
  let characters = 0;
  return (text) => {
    if (!text.includes('{{')) return parseTemplate(text);
    const known = cache.get(text);
    // A map keeps the order of insertion: what was used last goes to the end.
    if (known) cache.delete(text);
    else characters += text.length;
    const template = known ?? parseTemplate(text);
    cache.set(text, template);
    for (const oldest of cache.keys()) {
      if (cache.size <= limits.templates && characters <= limits.characters) break;
      cache.delete(oldest);
      characters -= oldest.length;
    }
    return template;
  };
}
