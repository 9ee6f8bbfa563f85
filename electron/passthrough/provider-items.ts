import { createHash } from 'node:crypto';
import { type Fields, isObject, jsonOf, textOf } from './fields.ts';

/** Fields that say nothing to a reader, or only to the provider. */
const hiddenFields = new Set(
  (
    'id call_id tool_use_id container_id caller status signature thoughtSignature encrypted_content encrypted_index ' +
    'encrypted_stdout cache_control'
  ).split(' '),
);

/** Shorter texts are as readable as their hash. */
const minFileCharacters = 512;
const base64 = /^[\w+/=-]+$/;

/** The length and the hash of a file in base64, or in a `data:` URL; null for other texts. */
function fileIn(text: string): string | null {
  if (text.length < minFileCharacters) return null;
  const comma = text.startsWith('data:') ? text.indexOf(',') : -1;
  if (!base64.test(comma === -1 ? text : text.slice(comma + 1))) return null;
  const bytes = Buffer.from(text.slice(comma + 1), 'base64');
  const mediaType = comma === -1 ? '' : `${text.slice('data:'.length, comma).split(';', 1)[0]}, `;
  return `${mediaType}${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** A value without what a reader doesn't need, and with the hashes of its files. It has at most 256 levels. */
function readable(value: unknown): unknown {
  if (typeof value === 'string') return fileIn(value) ?? value;
  if (Array.isArray(value)) return value.map(readable);
  if (!isObject(value)) return value;
  const shown = Object.entries(value).filter(([name, field]) => field !== null && !hiddenFields.has(name));
  return Object.fromEntries(shown.map(([name, field]) => [name, readable(field)]));
}

/**
 * What a provider ran or made itself, such as a search, code or an image, as a text on a line of its own. It is the same in an answer and in
 * a later request, so that the answer's conversation is found.
 */
export function providerText(name: string, value: unknown): string {
  const details = jsonOf(readable(value));
  return details === '' || details === '{}' ? `\n[${name}]\n` : `\n[${name}] ${details}\n`;
}

/** Whether a block of Anthropic's is a call that the provider runs. */
export const isServerCall = ({ type }: Fields): boolean => type === 'server_tool_use' || type === 'mcp_tool_use';

/** What Anthropic ran or made, and what Touchstone doesn't know. */
export function blockText({ type, ...block }: Fields): string {
  if (isServerCall({ type })) return providerText(textOf(block['name']), block['input'] ?? {});
  const isResult = textOf(type).endsWith('_result') && block['content'] !== undefined;
  return providerText(textOf(type) || 'block', isResult ? block['content'] : block);
}
