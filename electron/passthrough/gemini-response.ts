import { randomUUID } from 'node:crypto';
import type { Usage } from '../../shared/contract/completions.ts';
import {
  countOf,
  type Fields,
  hasRepeatedFields,
  isObject,
  jsonOf,
  listOf,
  objectOf,
  readJson,
  parseObject,
  textOf,
} from './fields.ts';
import { providerText } from './provider-items.ts';
import { type Choice, maxChoices, type Reading } from './reading.ts';

/** Reasons that mean a rule of Google's stopped the answer. */
const filterReasons = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);

/** Under the names of OpenAI's API; null for an answer that isn't whole for another reason. */
function reasonOf(name: string): string | null {
  if (name === 'STOP' || name === 'FINISH_REASON_UNSPECIFIED') return 'stop';
  if (name === 'MAX_TOKENS') return 'length';
  return filterReasons.has(name) ? 'content_filter' : null;
}

/** The signature of a call goes back to Gemini with its result. */
export function signedBy(thoughtSignature: unknown) {
  if (typeof thoughtSignature !== 'string' || thoughtSignature === '') return {};
  return { providerState: { options: { google: { thoughtSignature } } } };
}

/** What Gemini ran or made itself, in a part; null for any other part. */
export function geminiPartText({ inlineData, executableCode, codeExecutionResult }: Fields): string | null {
  if (isObject(inlineData)) return providerText(textOf(inlineData['mimeType']) || 'file', inlineData['data']);
  if (isObject(executableCode)) return providerText('executableCode', executableCode['code']);
  if (isObject(codeExecutionResult))
    return providerText('codeExecutionResult', codeExecutionResult['output'] ?? codeExecutionResult['outcome']);
  return null;
}

function readPart(reading: Choice, value: unknown): void {
  const part = objectOf(value);
  const text = textOf(part['text']);
  if (part['thought'] === true) reading.reasoning.push(text);
  else if (text !== '') reading.texts.push(text);
  const other = geminiPartText(part);
  if (other !== null) reading.texts.push(other);
  if (part['functionCall'] === undefined) return;
  const { id, name, args } = objectOf(part['functionCall']);
  Object.assign(reading.call(reading.calls.size), {
    id: textOf(id) || `call_${randomUUID()}`,
    name: textOf(name),
    arguments: jsonOf(args ?? {}),
    ...signedBy(part['thoughtSignature']),
  });
}

/** A whole response, or one chunk of a streamed one. */
export function readGemini(reading: Reading, value: Fields): void {
  if (value['error'] !== undefined && value['error'] !== null) reading.noteError(value);
  reading.id ??= textOf(value['responseId']) || null;
  reading.noteUsage(value['usageMetadata']);
  if (textOf(objectOf(value['promptFeedback'])['blockReason']) !== '') {
    reading.reason = 'content_filter';
    reading.isComplete = true;
  }
  for (const [position, one] of listOf(value['candidates']).entries()) {
    const candidate = objectOf(one);
    const index = countOf(candidate['index']) ?? position;
    if (index >= maxChoices) continue;
    for (const part of listOf(objectOf(candidate['content'])['parts'])) readPart(reading.choice(index), part);
    const name = textOf(candidate['finishReason']);
    if (name === '' || (index > 0 && reading.reason !== null)) continue;
    reading.isComplete = true;
    reading.reason = reasonOf(name);
    if (reading.reason === null) reading.error = textOf(candidate['finishMessage']) || `The answer ended with ${name}.`;
  }
}

/** A stream as one JSON array. Of one that broke off, the complete elements are read. Returns whether all of it was. */
export function readGeminiArray(reading: Reading, text: string, judge: ((value: Fields) => void) | null): boolean {
  let elements: readonly unknown[];
  let isWhole = false;
  try {
    const { value, isCut } = readJson(text);
    elements = listOf(value);
    isWhole = !isCut && (judge === null || !hasRepeatedFields(text, value));
  } catch {
    // Gemini puts the comma between two elements at the start of a line.
    elements = text.slice(1).split('\n,').map(parseObject);
  }
  for (const element of elements) {
    readGemini(reading, objectOf(element));
    judge?.(objectOf(element));
  }
  return isWhole;
}

/** Thoughts are billed as output. */
export function geminiUsage(raw: Fields): Usage | null {
  const prompt = countOf(raw['promptTokenCount']);
  if (prompt === null) return null;
  const input = prompt + (countOf(raw['toolUsePromptTokenCount']) ?? 0);
  const thoughts = countOf(raw['thoughtsTokenCount']);
  const output = (countOf(raw['candidatesTokenCount']) ?? 0) + (thoughts ?? 0);
  const cached = countOf(raw['cachedContentTokenCount']);
  const totals = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  if (cached === null && thoughts === null) return totals;
  return { ...totals, details: { cached_tokens: cached, cache_write_tokens: null, reasoning_tokens: thoughts } };
}
