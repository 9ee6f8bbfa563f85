import type { Draft, DraftChange } from './playground-drafts.ts';

/**
 * The prompt of a first start. The shipped model answers it well: `npm run benchmark -- example` tries it. It repeats a longer
 * passage, and worked examples confuse it.
 */
export const exampleDraft = {
  name: 'Answer from a passage',
  isExample: true,
  promptText: `Answer the question from the passage in one short sentence.

{{passage}}

{{question}}`,
  values: {
    passage: 'The workshop is open from Tuesday to Saturday. It repairs bicycles and clocks.',
    question: 'On which days is the workshop open?',
  },
  parameters: { max_tokens: '120', temperature: '0.2', top_p: '0.95', stop: String.raw`\n` },
};

/** The name of a new prompt. */
export const untitled = 'Untitled prompt';

const exampleLines = new Set(exampleDraft.promptText.split('\n').filter((line) => line !== ''));

/**
 * What an edit of the prompt changes. Where somebody puts a prompt of their own in the place of the example's, the example's
 * parameters go with it: they would cut every answer at its first line. So does its name, which says what the example asks.
 */
export function promptEdit({ isExample, name }: Pick<Draft, 'isExample' | 'name'>, promptText: string): DraftChange {
  const isAnother = isExample && promptText.split('\n').every((line) => !exampleLines.has(line));
  return {
    promptText,
    isExample: false,
    ...(isAnother && { parameters: {} }),
    ...(isAnother && name === exampleDraft.name && { name: untitled }),
  };
}
