import { z } from 'zod';
import { uuid } from './common.ts';
import { datasetJob } from './dataset-import.ts';
import { datasetName } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';
import { chosenAnswer } from './review-agreement.ts';

/** What leaves a review queue: for people, for comparisons, judges and training. */

const tag = 'Reviews';
const parameters = z.object({ id: uuid });

const onlyDone = 'Only done items are in it. Needs `manage`, too, until the queue is complete.';

export const reviewExportFormats = ['csv', 'preferences', 'evidence'] as const;
export type ReviewExportFormat = (typeof reviewExportFormats)[number];

export const exportReviewQueue = defineEndpoint({
  id: 'exportReviewQueue',
  method: 'get',
  path: '/review-queues/{id}/export',
  access: 'audit',
  tag,
  summary: 'Download the reviews',
  description: `CSV has a line for each item and item of the rubric, with two columns per reviewer: the answer, and its notes or why the item was skipped. \`preferences\` is JSONL in OpenAI's format for preferences, for training: \`input\` with all messages that the run sent (the system message and the earlier turns, too) and its tools, \`preferred_output\` and \`non_preferred_output\`. Its pairs are corrections (answers to the item of the rubric with \`isCorrection\`), and the best and the worst answer to the same input by the first score of the rubric, otherwise by its first yes or no item, where Yes is better. Runs whose input isn't recorded whole, or has files, are left out. \`evidence\` is a page that needs nothing else: the plan, the seed, the population, shares of the population with intervals, agreement, and every review, skip and discussion. ${onlyDone}`,
  parameters,
  query: z.strictObject({ format: z.enum(reviewExportFormats) }),
  kinds: ['file'],
  errors: [404],
});

const passValue = chosenAnswer.describe(
  'The answer that passes: `yes`, `no` or a category. `yes` unless given; required for a category, and not for a score',
);
const passFrom = z.int().min(-9).max(10).optional().describe('The lowest score that passes; 1 unless given');

export const createReviewDataset = defineEndpoint({
  id: 'createReviewDataset',
  method: 'post',
  path: '/review-queues/{id}/dataset',
  access: 'audit',
  tag,
  summary: 'Create a dataset from the reviewed runs',
  description: `Its rows have the variables of the prompts, the answer, the feedback that the queue gave, and a column for each item of the rubric, such as \`review: Is it right?\`, with its final value: what was decided, otherwise the median of the scores, what more than half of the reviewers chose, or a text that all gave. It is empty where there is none. An answer is never expected only because it was reviewed: see \`expected\`. The job is one of \`/dataset-jobs\`. ${onlyDone}`,
  parameters,
  body: z.strictObject({
    name: datasetName,
    answer: z.enum(['text', 'none']).optional().describe('Type of the column `run answer`; `text` unless given'),
    ratings: z
      .boolean()
      .optional()
      .describe(
        'Whether it has the columns of the rubric; true unless given. A run’s variable can’t have the name of one',
      ),
    expected: z
      .strictObject({
        rubricItemId: uuid
          .optional()
          .describe('A yes or no item, a category or a score: answers that pass are expected'),
        passFrom,
        passValue,
      })
      .optional()
      .describe(
        'Adds the column `expected answer`: the correction, otherwise the answer if it passes. It is empty for other answers. ' +
          'Needs `rubricItemId` unless the rubric has an item with `isCorrection`',
      ),
  }),
  status: 202,
  response: datasetJob,
  errors: [404, 409],
});

export const calibrateFromReviews = defineEndpoint({
  id: 'calibrateFromReviews',
  method: 'post',
  path: '/review-queues/{id}/calibration',
  access: 'audit',
  tag,
  summary: 'Label answers for a judge by the reviews',
  description: `The final value of an item of the rubric becomes the label of the run: \`pass\` for \`passValue\`, or for a score from \`passFrom\` on, otherwise \`fail\`. Labels that the judge has stay; it can have 200. ${onlyDone}`,
  parameters,
  body: z.strictObject({
    judgeId: uuid,
    rubricItemId: uuid.describe('A yes or no item, a category or a score'),
    passFrom,
    passValue,
  }),
  response: z.object({
    added: z.int(),
    skipped: z.int().describe('Items without a final value or a run, and those beyond the limit'),
  }),
  errors: [404],
});
