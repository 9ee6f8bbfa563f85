import type { Draft, DraftChange } from './playground-drafts.ts';

/**
 * The prompt of a first start. Its shape is the one that the small on-device model answers well: a worked example
 * first, the question last, and a stop at the line's end.
 */
export const exampleDraft = {
  name: 'Answer from a passage',
  isExample: true,
  promptText: `Answer the question from the passage. If the passage
does not say, write "Not in the passage".

Passage: The bakery opens at 7:00. It sells bread and rolls.
Question: When does the bakery open?
Answer: At 7:00.

Passage: {{passage}}
Question: {{question}}
Answer:`,
  values: {
    passage:
      'The workshop in Leipzig is open from Tuesday to Saturday, 10:00 to 18:00. Repairs handed in before noon are ready the next day.',
    question: 'On which days is the workshop open?',
  },
  parameters: { max_tokens: '120', temperature: '0.2', top_p: '0.95', stop: String.raw`\n` },
};

/** What a prompt is called until somebody names it. */
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
