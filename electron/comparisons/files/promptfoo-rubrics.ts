import { isMap, plain, readJson, textIn } from '../../prompts/transfer/bounded-values.ts';
import { readValueFile } from '../../prompts/transfer/formats/promptfoo-files.ts';
import type { ReferencedFiles } from '../../prompts/transfer/referenced-files.ts';
import { TransferError } from '../../prompts/transfer/source-text.ts';
import { namedModel } from './comparison-file.ts';
import { type Assertion, expecting, type RowAssertion, UnsupportedAssertion } from './row-assertion.ts';

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
function questionOf(type: string, criterion: string, vars: ReadonlyMap<string, unknown>): string {
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
function rubricText(given: unknown, files: ReferencedFiles): (criterion: string) => string {
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

/** Throws for an assertion whose judge nobody has. */
function modelOf({ map, context }: Assertion) {
  const named = textIn(map, 'provider') ?? context.grader;
  if (named === null) throw new UnsupportedAssertion('needs a model that judges; name one with --judge');
  const model = namedModel(named) ?? (context.fallbackJudge === null ? null : namedModel(context.fallbackJudge));
  if (model === null)
    throw new UnsupportedAssertion(`needs a model that judges, and "${named.slice(0, 100)}" is unknown`);
  return { named, aiSystem: model.aiSystem, model: model.model };
}

export function judged(assertion: Assertion): RowAssertion {
  const { type, map, common, context } = assertion;
  if (map.has('contextTransform')) throw new UnsupportedAssertion('has a context that code takes from a response');
  const { named, ...model } = modelOf(assertion);
  const given = map.get('rubricPrompt') ?? context.rubricPrompt;
  const own = given === undefined ? null : rubricText(given, context.files);
  // Throws for what is missing before there is a check.
  if (own === null) questionOf(type, '', context.vars);
  return expecting(
    assertion,
    (expected) => {
      const criterion = 'column' in expected ? `{{${expected.column}}}` : expected.value;
      const promptText = own === null ? questionOf(type, criterion, context.vars) : own(criterion);
      const judgeId = context.judges.idOf({
        name: `${type}: ${'column' in expected ? expected.column : expected.value}`.slice(0, 200),
        promptText,
        ...model,
        verdict: { kind: 'passOrFail' },
      });
      return { kind: 'judge', ...common, judgeId };
    },
    [named, given === undefined ? null : plain(given)],
  );
}

/** A judge that compares two answers. promptfoo shows it all answers at once; each pair in both orders is less partial to a place. */
export function selectBest(assertion: Assertion): RowAssertion {
  const { type, common, map, context } = assertion;
  if (common.not === true) throw new UnsupportedAssertion('has no opposite');
  if ((map.get('rubricPrompt') ?? context.rubricPrompt) !== undefined)
    throw new UnsupportedAssertion('has a rubric prompt, which is about all answers at once');
  const { named, ...model } = modelOf(assertion);
  return expecting(
    assertion,
    (expected) => {
      const criterion = 'column' in expected ? `{{${expected.column}}}` : expected.value;
      const judgeId = context.judges.idOf({
        name: `${type}: ${'column' in expected ? expected.column : expected.value}`.slice(0, 200),
        promptText: `Which answer meets this criterion better?\n\n${criterion}\n\nThe first answer:\n\n{{first}}\n\nThe second answer:\n\n{{second}}`,
        ...model,
        verdict: { kind: 'preference' },
      });
      return { kind: 'judge', judgeId };
    },
    named,
  );
}
