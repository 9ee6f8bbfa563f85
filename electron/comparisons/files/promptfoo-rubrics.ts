import { isMap, readJson, textIn } from '../../prompts/transfer/bounded-values.ts';
import { readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';

const rubrics: Readonly<Record<string, string>> = {
  'llm-rubric': 'Does the answer meet this criterion?',
  'g-eval': 'Does the answer meet this criterion?',
  'model-graded-closedqa': 'Does the answer meet this criterion?',
  factuality: 'Is the answer consistent with these facts?',
  'model-graded-factuality': 'Is the answer consistent with these facts?',
  'answer-relevance': 'Is the answer relevant to what was asked?',
};

/** Questions about the variable `context`, of which promptfoo takes the score of a model. */
const contextRubrics: Readonly<Record<string, string>> = {
  'context-faithfulness': 'Does the context say everything that the answer says?',
  'context-recall': 'Does the context say all of this? The answer is not to be judged.',
  'context-relevance': 'Is the context relevant to the question? The answer is not to be judged.',
};

/** Kinds of assertions that a judge decides. */
export const judgedKinds = [...Object.keys(rubrics), ...Object.keys(contextRubrics)];

/** What the judge of a kind is asked. Throws `TransferError` without the variables that it is about. */
export function questionOf(type: string, criterion: string, vars: ReadonlyMap<string, unknown>): string {
  const question = contextRubrics[type];
  if (question === undefined) return `${rubrics[type]}\n\n${criterion}\n\nThe answer:\n\n{{answer}}`;
  const missing = ['context', ...(type === 'context-recall' ? [] : ['query'])].find((name) => !vars.has(name));
  if (missing !== undefined) throw new TransferError(`needs the variable ${missing}`);
  const subject = type === 'context-recall' ? criterion : 'The question:\n\n{{query}}';
  return `${question}\n\n${subject}\n\nThe context:\n\n{{context}}\n\nThe answer:\n\n{{answer}}`;
}

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
