import type { DatasetInput } from '../../../../shared/contract/datasets.ts';

const workshop = 'The workshop is open from Tuesday to Saturday. It repairs bicycles and clocks.';
const library =
  'The library lends books for three weeks. A reader can have eight books at a time. Late books cost 20 cents a day.';
const ferry =
  'The ferry leaves at 8:15 and 17:40. It takes 35 minutes. Dogs travel free of charge, bicycles cost four euros.';

/** Rows for the example prompt of a first start, which has the variables `passage` and `question`. */
export const exampleDataset: DatasetInput = {
  name: 'Answers from a passage',
  columns: [
    { name: 'passage', type: 'text' },
    { name: 'question', type: 'text' },
    { name: 'expected', type: 'expected' },
  ],
  rows: [
    { passage: workshop, question: 'On which days is the workshop open?', expected: 'Tuesday to Saturday' },
    { passage: workshop, question: 'What does the workshop repair?', expected: 'bicycles and clocks' },
    { passage: library, question: 'How long can I keep a book?', expected: 'three weeks' },
    { passage: library, question: 'How many books can I have?', expected: 'eight' },
    { passage: library, question: 'What does a late book cost?', expected: '20 cents' },
    { passage: ferry, question: 'When does the first ferry leave?', expected: '8:15' },
    { passage: ferry, question: 'How long is the crossing?', expected: '35 minutes' },
    { passage: ferry, question: 'What do I pay for my bicycle?', expected: 'four euros' },
  ],
};
