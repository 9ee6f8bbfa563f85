import type { RunDetail } from '../../../../shared/contract/runs.ts';

/** A message as a run sends it to the model. */
export interface SentMessage {
  role: 'system' | 'user' | 'assistant';
  text: string;
}

/** The messages of a prompt in the order in which they are sent: the system message is first. */
export function sentMessages(systemMessage: string | null, rendered: string): SentMessage[] {
  const system: SentMessage[] = systemMessage ? [{ role: 'system', text: systemMessage }] : [];
  return [...system, { role: 'user', text: rendered }];
}

/** The messages that a run sent; null when they aren't the prompt's own, because passages were added. */
export function messagesOfRun({ input }: Pick<RunDetail, 'input'>): SentMessage[] | null {
  if (input.dataspaceIds !== null && input.dataspaceIds.length > 0) return null;
  return sentMessages(input.systemMessage, input.renderedPrompt ?? input.promptText);
}
