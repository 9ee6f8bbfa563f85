import { splitMessages } from '../../../shared/prompt-messages.ts';
import { parseTemplate } from '../../../shared/prompt-template.ts';
import type { PromptVersion } from '../../../shared/contract/prompts.ts';
import { literalTemplate } from './templates/template-syntax.ts';

/** The template of a `.prompt` file, and its system message and prompt. */

/**
 * Readers of `.prompt` files trim texts. Where the white space belongs to the prompt, comments protect it: one on its own line at
 * the start, which renders as nothing, and two at the end, on the last line. The first one also marks the roles after it as part of
 * the prompt.
 */
const startGuard = /^\{\{!\}\}\r?\n/;
const endGuard = '{{!}}{{!}}';

/** The text in a form in which readers keep the white space at its ends. */
export function guarded(text: string, isGuardNeeded = false): string {
  const needsStart = isGuardNeeded || text !== text.trimStart() || startGuard.test(text);
  const end = text !== text.trimEnd() || text.endsWith(endGuard) ? endGuard : '';
  return `${needsStart ? '{{!}}\n' : ''}${text}${end}`;
}

function unguarded(text: string): string {
  const started = text.trim().replace(startGuard, '');
  return started.endsWith(endGuard) ? started.slice(0, -endGuard.length) : started;
}

export interface BodyText {
  readonly role: 'system' | 'user';
  readonly text: string;
  /** Its offset in the body. */
  readonly start: number;
}

function textAt(role: BodyText['role'], body: string, from: number, to = body.length): BodyText {
  const raw = body.slice(from, to);
  return { role, text: unguarded(raw), start: from + raw.length - raw.trimStart().length };
}

/** A system message before a prompt, as `bodyOf` writes it. */
const writtenSystem = /^\s*\{\{role "system"~\}\}\n([\s\S]*?)\n\{\{~role "user"~\}\}\n/;

/** The texts of a body with at most one system message, followed by at most one user message; null for any other. */
function plainTexts(body: string): BodyText[] | null {
  const texts: BodyText[] = [];
  for (const { role, opening, start, end } of splitMessages(body) ?? []) {
    const { text, start: textStart } = textAt('user', body, start + opening.length, end);
    if (text === '') continue;
    if (
      role === 'assistant' ||
      texts.length === 2 ||
      texts.at(-1)?.role === 'user' ||
      (texts.length === 1 && role === 'system')
    )
      return null;
    texts.push({ role, text, start: textStart });
  }
  return texts.length === 0 ? null : texts;
}

/** A system message, if there is one, and the prompt, which keeps its roles if it has other messages than one of the user. */
export function readBody(body: string): BodyText[] {
  const whole = [textAt('user', body, 0)];
  const { hasRoles, historyTags } = parseTemplate(whole[0]!.text);
  if (!hasRoles || startGuard.test(body.trim())) return whole;
  const written = writtenSystem.exec(body);
  if (written !== null) {
    const prompt = textAt('user', body, written[0].length);
    const system = textAt('system', body, body.indexOf('\n') + 1, body.indexOf('\n') + 1 + written[1]!.length);
    if (historyTags.length > 0 || parseTemplate(prompt.text).hasRoles) return [system, prompt];
  }
  return (historyTags.length === 0 ? plainTexts(body) : null) ?? whole;
}

/** The template of a file, without the last line end. */
export function bodyOf({ promptText, systemMessage }: Pick<PromptVersion, 'promptText' | 'systemMessage'>): string {
  if (systemMessage === null || systemMessage === '') {
    const [only, ...others] = readBody(guarded(promptText));
    return guarded(promptText, others.length > 0 || only?.role !== 'user' || only.text !== promptText);
  }
  const system = guarded(literalTemplate(systemMessage));
  return `{{role "system"~}}\n${system}\n{{~role "user"~}}\n${guarded(promptText)}`;
}
