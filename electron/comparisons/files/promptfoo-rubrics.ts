import { isMap, readJson, textIn } from '../../prompts/transfer/bounded-values.ts';
import { readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';

/** A chat in JSON as a list; any other text as it is. */
function chatIn(text: string): unknown {
  if (!/^\s*\[\s*\{/.test(text)) return text;
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof TransferError) return text;
    throw error;
  }
}

/**
 * The prompt of a judge that a configuration writes: a text, a chat, or a file with one. Returns what makes the prompt with a
 * criterion. Throws `TransferError` for images and for templates with more than variables.
 */
export function rubricText(given: unknown, files: ReferencedFiles): (criterion: string) => string {
  const value = typeof given === 'string' && given.startsWith('file://') ? readValueFile(given, files) : given;
  const chat = typeof value === 'string' ? chatIn(value) : value;
  const parts = (Array.isArray(chat) ? chat : [chat]).map((part) => (isMap(part) ? textIn(part, 'content') : part));
  if (!parts.every((part) => typeof part === 'string')) throw new TransferError('has a rubric prompt that is no text');
  const text = parts.map((part) => part.trim()).join('\n\n');
  if (/\{%|\{\{(?!-?\s*[\w.]+\s*-?\}\})/.test(text))
    throw new TransferError('has a rubric prompt with more than variables');
  const answered = text.replaceAll(/\{\{-?\s*output\s*-?\}\}/g, '{{answer}}');
  if (!answered.includes('{{answer}}')) throw new TransferError('has a rubric prompt without {{output}}');
  return (criterion) => answered.replaceAll(/\{\{-?\s*(?:rubric|criteria)\s*-?\}\}/g, () => criterion);
}
