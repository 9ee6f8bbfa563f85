import { AppError, type ErrorDetail } from '../../shared/app-error.ts';
import type { CallApi } from './read-request.ts';

/** Where each API has the messages and the system message. */
const fields: Readonly<Record<CallApi, { readonly messages: string; readonly system: string }>> = {
  'openai-chat': { messages: 'messages', system: 'messages' },
  'openai-responses': { messages: 'input', system: 'instructions' },
  'openai-embeddings': { messages: 'input', system: 'input' },
  'anthropic-messages': { messages: 'messages', system: 'system' },
  'gemini-content': { messages: 'contents', system: 'systemInstruction' },
};

/** Fields of a completion that hold what a program sends as messages. Results of tools have an index. */
const messageField = /^(?:promptText|replacements|conversationId|continueRunId|toolResults)(?![^.[])/;

/** Parts of the configuration that are checked together, without a name of their own. */
const unnamed = new Set(['configuration', 'configuration.other']);

function fieldOf(field: string, api: CallApi): string {
  if (messageField.test(field)) return fields[api].messages;
  return field === 'systemMessage' ? fields[api].system : field.replace(/^configuration\./, '');
}

/** An error about fields of a completion, with the names that the program's own request has for them. Other errors are unchanged. */
export function inProgramFields(error: unknown, api: CallApi): unknown {
  if (!(error instanceof AppError) || error.details.length === 0) return error;
  const named = error.details.filter(({ field }) => !unnamed.has(field));
  const details = named.map((detail): ErrorDetail => ({ ...detail, field: fieldOf(detail.field, api) }));
  const [first] = named;
  const isNamed = first !== undefined && error.message.startsWith(`${first.field}: `);
  const message = isNamed ? details[0]!.field + error.message.slice(first.field.length) : error.message;
  return error.withDetails(message, details);
}
