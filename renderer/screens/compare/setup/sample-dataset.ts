import type { DatasetInput } from '../../../../shared/contract/datasets.ts';
import { parseTemplate } from '../../../../shared/prompt-template.ts';
import { readFileValues } from '../../../drafts/file-values.ts';
import { readFields } from '../../../drafts/variable-model.ts';
import type { Draft } from '../../../stores/playground-drafts.ts';

const passages = {
  workshop: 'The workshop is open from Tuesday to Saturday. It repairs bicycles and clocks. A repair takes four days.',
  library: 'The library lends books for three weeks. A card costs 12 euros a year. It is closed on Mondays.',
  ferry: 'The ferry leaves at 7:40 and at 16:20. The crossing takes 50 minutes. Dogs travel free of charge.',
  garden: 'The garden opens in April. The roses flower in June. Guided walks start at the north gate.',
};

const questions: readonly [passage: keyof typeof passages, question: string, expected: string][] = [
  ['workshop', 'On which days is the workshop open?', 'Tuesday'],
  ['workshop', 'What does the workshop repair besides bicycles?', 'clocks'],
  ['workshop', 'How long does a repair take?', 'four days'],
  ['library', 'For how long does the library lend books?', 'three weeks'],
  ['library', 'How much does a card cost a year?', '12'],
  ['library', 'On which day is the library closed?', 'Monday'],
  ['ferry', 'When does the first ferry leave?', '7:40'],
  ['ferry', 'How long does the crossing take?', '50 minutes'],
  ['ferry', 'What does a dog pay on the ferry?', 'free'],
  ['garden', 'In which month does the garden open?', 'April'],
  ['garden', 'When do the roses flower?', 'June'],
  ['garden', 'Where do guided walks start?', 'north gate'],
];

/** Rows for the example prompt of the playground, with a word that a good answer contains. */
export const sampleDataset: DatasetInput = {
  name: 'Questions about a passage (sample)',
  columns: [
    { name: 'question', type: 'text' },
    { name: 'passage', type: 'text' },
    { name: 'expected', type: 'expected' },
  ],
  rows: questions.map(([passage, question, expected]) => ({ question, passage: passages[passage], expected })),
};

/** A dataset with the values of the open prompt as its first row; null if it has no variables. */
export function valuesDataset(draft: Draft): DatasetInput | null {
  const fields = readFields(parseTemplate(draft.promptText).variables, draft);
  if (fields.length === 0) return null;
  const columns = fields.map(({ name, kind, isJson }) => ({
    name,
    type: kind === 'file' ? ('file' as const) : isJson ? ('json' as const) : ('text' as const),
  }));
  const row = Object.fromEntries(
    fields.flatMap(({ name, kind, isJson, isFilled, problem, text }) => {
      if (!isFilled || problem !== null) return [];
      if (kind === 'file') return (readFileValues(text) ?? []).map(({ fileId }) => [name, { fileId }]);
      return [[name, isJson ? (JSON.parse(text) as unknown) : text]];
    }),
  ) as Record<string, unknown>;
  return { name: `Values of ${draft.name}`.slice(0, 300), columns, rows: [row] };
}
