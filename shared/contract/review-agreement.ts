import { z } from 'zod';
import { uuid } from './common.ts';
import { wholeNumber } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';
import { review, reviewItem } from './review-items.ts';
import { maxQueueItems } from './review-queues.ts';
import { rubricItemKinds } from './rubrics.ts';

/** How far the reviewers of a queue agree with each other, with judges and with the guard. */

const tag = 'Reviews';

const interval = z.tuple([z.number(), z.number()]);

const matrix = z
  .object({
    labels: z
      .array(z.string())
      .describe(
        '`yes` and `no`, the categories, or the scores; against a judge `pass` and `fail`, against the guard `flagged` and `notFlagged`',
      ),
    rows: z
      .array(z.array(z.int()))
      .describe('One row for each label of the first, with counts of the labels of the second'),
  })
  .meta({ id: 'ConfusionMatrix' });

const measures = {
  ratedItems: z.int().describe('Items with two values or more'),
  percent: z
    .number()
    .nullable()
    .describe(
      'Share of equal pairs of values, from 0 to 1. As in alpha, an item counts by its values, not by its pairs as in the matrix',
    ),
  kappa: z.number().nullable().describe("Cohen's kappa; for more than two reviewers the mean of their pairs"),
  alpha: z
    .number()
    .nullable()
    .describe("Krippendorff's alpha: ordinal for scores, nominal otherwise. Null for two raters, which have kappa"),
  interval: interval
    .nullable()
    .describe('95 % interval of alpha, by a seeded bootstrap over items; of two raters that of kappa'),
  matrix: matrix.nullable().describe('Sum over all pairs of reviewers'),
  reason: z.string().nullable().describe('Why one of them is null'),
};

const agreementPair = z.object({
  first: z.string(),
  second: z.string(),
  firstId: z.string(),
  secondId: z.string(),
  ...measures,
});

/** The longest label of a category. */
const maxLabel = 100;

/** An answer to an item of the rubric that the caller chooses. */
export const chosenAnswer = z.string().max(maxLabel).optional();

const meaning = {
  passValue: chosenAnswer.describe("The answer that stands for a judge's pass: `yes`, `no` or a category"),
  flaggedValue: chosenAnswer.describe('The answer that stands for a flag of the guard'),
};

const outsideKind = z.enum(['judge', 'moderation']);

export const itemAgreement = z
  .object({
    rubricItemId: uuid,
    question: z.string(),
    kind: z.enum(rubricItemKinds),
    ...measures,
    passValue: z
      .string()
      .nullable()
      .describe(
        "The answer that stands for a judge's pass: `yes` unless chosen. Null for a category: nothing is compared",
      ),
    flaggedValue: z.string().nullable().describe('The answer that stands for a flag of the guard, likewise'),
    pairs: z.array(agreementPair).describe('Of two reviewers each'),
    against: z
      .array(
        z.object({
          kind: outsideKind,
          id: z
            .string()
            .describe('Of the judge; `flagged` for the guard, and `flagged:CATEGORY` for one category of it'),
          name: z.string(),
          ...measures,
        }),
      )
      .describe(
        'The final values of the reviewers in rows, those of a judge or the guard in columns. A category of the guard is flagged if the prompt or the answer reached its threshold of that time',
      ),
  })
  .meta({ id: 'RubricItemAgreement' });
export type ItemAgreement = z.infer<typeof itemAgreement>;

export const reviewAgreement = z
  .object({
    doneItems: z.int().describe('Only done items count, so that no one sees others’ values too early'),
    judgedItems: z.int().describe('Done items with a verdict of a judge'),
    moderatedItems: z.int().describe('Done items that the guard checked'),
    reviewers: z.array(z.object({ id: uuid, name: z.string() })),
    items: z.array(itemAgreement),
  })
  .meta({ id: 'ReviewAgreement' });
export type ReviewAgreement = z.infer<typeof reviewAgreement>;

const parameters = z.object({ id: uuid });

export const readReviewAgreement = defineEndpoint({
  id: 'readReviewAgreement',
  method: 'get',
  path: '/review-queues/{id}/agreement',
  access: 'audit',
  tag,
  summary: 'Read how far the reviewers agree',
  description:
    "Per item of the rubric: the share of equal values, Cohen's kappa, Krippendorff's alpha with its interval, and a confusion matrix. What can't be computed is null, with the reason. `rubricItemId` with `passValue` or `flaggedValue` chooses which answer to that item is compared with a judge's pass and with flags of the guard.",
  parameters,
  query: z
    .strictObject({
      rubricItemId: uuid.optional().describe('The item of the rubric that the values are for'),
      ...meaning,
    })
    .refine(
      ({ rubricItemId, passValue, flaggedValue }) =>
        rubricItemId !== undefined || (passValue === undefined && flaggedValue === undefined),
      { path: ['rubricItemId'], message: 'is required with `passValue` or `flaggedValue`' },
    ),
  response: reviewAgreement,
  errors: [404],
});

export const listDisagreements = defineEndpoint({
  id: 'listDisagreements',
  method: 'get',
  path: '/review-queues/{id}/disagreements',
  access: 'audit',
  tag,
  summary: 'List done items whose reviews differ in an item of the rubric',
  description:
    'With their reviews, in their order. With two reviewers and two values only the items of that cell of the confusion matrix; with `against` the first value is the final one and the second that of the judge or the guard.',
  parameters,
  query: z.strictObject({
    rubricItemId: uuid,
    first: uuid.optional().describe('A reviewer'),
    second: uuid.optional(),
    against: z
      .string()
      .max(100)
      .optional()
      .describe('A judge, `flagged` or `flagged:CATEGORY` instead of two reviewers'),
    ...meaning,
    firstValue: z.string().max(100).optional().describe('A label of the matrix'),
    secondValue: z.string().max(100).optional(),
    isUndecided: z
      .enum(['true', 'false'])
      .optional()
      .describe('Only items without, or with a gold value for this item of the rubric'),
    offset: wholeNumber(0, maxQueueItems).optional(),
    limit: wholeNumber(1, 100).optional().describe('20 unless given'),
  }),
  response: z.object({
    data: z.array(
      z.object({
        item: reviewItem,
        reviews: z.array(review),
        outside: z
          .array(z.object({ kind: outsideKind, name: z.string(), value: z.string() }))
          .describe(
            'What judges and the guard say, as labels of the matrix. Of the categories of the guard only those that flagged it',
          ),
      }),
    ),
    offset: z.int(),
    total: z.int(),
  }),
  errors: [404],
});
