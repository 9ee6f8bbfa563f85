import { setImmediate as nextTurn } from 'node:timers/promises';
import { invalidField } from '../../shared/app-error.ts';
import type { Warning } from '../../shared/contract/completions.ts';
import { type Message, textMessage } from '../../shared/contract/messages.ts';
import { filePartsOf, type PromptFiles } from './prompt-file.ts';
import { createTemplateCache, renderMessages, requireRunnable } from '../../shared/prompt-template.ts';

export interface RenderedPrompt {
  /** Everything that is sent, the history of a conversation included. */
  readonly messages: readonly Message[];
  /** The messages without the history. */
  readonly ownMessages: readonly Message[];
  /** A `variable-unfilled` for each placeholder without a replacement. */
  readonly warnings: Warning[];
}

const parse = createTemplateCache();

/** Characters from which parsing a template may take more than a few milliseconds. */
const longTemplate = 8192;

/**
 * Parses a long template, which takes up to 150 ms, in a separate turn of the event loop. Rendering or storing it then uses the cached
 * result.
 */
export async function parseAhead(promptText: string): Promise<void> {
  if (promptText.length <= longTemplate) return;
  parse(promptText);
  await nextTurn();
}

/** Throws `invalid_request` with line and column for an invalid template. */
export function requirePrompt(promptText: string): void {
  requireRunnable(parse(promptText));
}

function unfilledWarning(variable: string): Warning {
  return { code: 'variable-unfilled', message: `{{${variable}}} has no value and renders empty.`, variable };
}

/** No provider answers a prompt with nothing but system messages. */
function requireUserMessage(messages: readonly Message[]): void {
  if (messages.some(({ role }) => role === 'user')) return;
  const message = 'The prompt has no user message. Add {{role "user"}} and the text of the message.';
  throw invalidField('promptText', 'renders to no user message', message);
}

interface RenderOptions {
  readonly isHistoryVariable?: boolean | undefined;
  readonly files?: PromptFiles | undefined;
}

/**
 * Renders a prompt template. `isHistoryVariable` means that `{{history}}` is a variable even without a value. Throws
 * `invalid_request` for an invalid template, with line and column if there are any.
 */
export function renderPrompt(
  promptText: string,
  replacements: Readonly<Record<string, unknown>>,
  { isHistoryVariable = false, files }: RenderOptions = {},
): RenderedPrompt {
  const { messages, unfilled } = renderMessages(parse(promptText), replacements, {
    isHistoryVariable,
    filesOf: (value) => filePartsOf(value, files),
  });
  requireUserMessage(messages);
  return { messages, ownMessages: messages, warnings: unfilled.map(unfilledWarning) };
}

/** The messages to store; null for a single user message, which equals the rendered prompt. */
export function recordedMessages(messages: readonly Message[]): readonly Message[] | null {
  const isPlain = messages.length === 1 && messages[0]!.role === 'user';
  const { content } = messages[0]!;
  return isPlain && content.length === 1 && content[0]!.type === 'text' ? null : messages;
}

/** Avoids parsing other prompts of agents, which may contain any text. */
const roleStart = /\{\{~?[{&]?\s*role\s/;

/** Whether an agent's prompt is a template, because it sets roles. Any other prompt is a system message and sent unchanged. */
export function isConversationTemplate(prompt: string): boolean {
  return roleStart.test(prompt) && parse(prompt).hasRoles;
}

/** A turn of a conversation. */
export interface RenderedTurn {
  readonly message: string;
  readonly history: readonly Message[];
  /** The agent's prompt, if it sets roles. */
  readonly template?: string | undefined;
}

/**
 * The messages of a turn. In a template, `{{history}}` is the conversation so far and `{{message}}` the new message. A template without
 * `{{message}}` is followed by it.
 */
export function renderTurn({ message, history, template }: RenderedTurn): RenderedPrompt {
  const last = textMessage('user', message);
  if (template === undefined) return { messages: [...history, last], ownMessages: [last], warnings: [] };
  const parsed = parse(template);
  const rendered = renderMessages(parsed, { message }, { history });
  const hasMessage = parsed.variables.some(({ name }) => name === 'message');
  const messages = hasMessage ? rendered.messages : [...rendered.messages, last];
  const earlier = new Set(history);
  const ownMessages = messages.filter((one) => !earlier.has(one));
  requireUserMessage(ownMessages);
  return { messages, ownMessages, warnings: rendered.unfilled.map(unfilledWarning) };
}
