import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { wholeNumber } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';

/** What reviewers answer about a conversation or a run. */

const tag = 'Reviews';

export const maxRubricItems = 50;
export const maxCategories = 20;
/** Of the text of an answer, as of a feedback's comment. */
export const maxAnswerCharacters = 10_000;

const notEmpty = 'must not be empty';
const description = z.string().max(4000, 'must have at most 4,000 characters');
const label = z
  .string()
  .trim()
  .min(1, notEmpty)
  .max(100, 'must have at most 100 characters')
  // Feedback tags are separated by commas.
  .refine((text) => !/[,\p{Cc}]/u.test(text), 'must not have commas or control characters');

/** True or false for `yesNo`, a label for `category`, -10 to 10 for `score`, a text for `text`. */
export const answerValue = z
  .union([z.boolean(), z.int().min(-10).max(10), z.string().max(maxAnswerCharacters)])
  .describe('True or false for `yesNo`, a label for `category`, an integer from -10 to 10 for `score`, text for `text`')
  .meta({ id: 'AnswerValue' });
export type AnswerValue = z.infer<typeof answerValue>;

export const rubricItemKinds = ['yesNo', 'category', 'score', 'text'] as const;

const itemFields = {
  kind: z.enum(rubricItemKinds),
  question: z.string().trim().min(1, notEmpty).max(500, 'must have at most 500 characters'),
  description: description.nullish(),
  isRequired: z.boolean().optional().describe('True unless given'),
  isCorrection: z
    .boolean()
    .optional()
    .describe('Of one `text`: it says what the answer should have been, so exports may use it in place of the answer'),
  categories: z
    .array(z.strictObject({ label, description: description.nullish() }))
    .min(2, 'must have at least two')
    .max(maxCategories, `must have at most ${maxCategories}`)
    .optional()
    .describe('Of `category`, which needs them; in this order'),
  examples: z
    .array(
      z.strictObject({
        text: z.string().trim().min(1, notEmpty).max(4000, 'must have at most 4,000 characters'),
        value: answerValue.nullish().describe('The right answer for it'),
      }),
    )
    .max(20, 'must have at most 20')
    .optional(),
};

export const rubricItemInput = z
  .strictObject({
    id: uuid.optional().describe('Of the same item in an earlier version. New items get one'),
    ...itemFields,
  })
  .superRefine(({ kind, categories, isCorrection }, context) => {
    if (isCorrection === true && kind !== 'text')
      context.addIssue({ code: 'custom', path: ['isCorrection'], message: 'is only for `text`' });
    if (kind === 'category' && !categories)
      context.addIssue({ code: 'custom', path: ['categories'], message: 'is required for `category`' });
    if (kind !== 'category' && categories)
      context.addIssue({ code: 'custom', path: ['categories'], message: 'is only for `category`' });
    const labels = categories?.map((category) => category.label.toLowerCase()) ?? [];
    const twice = labels.findIndex((one, index) => labels.indexOf(one) < index);
    if (twice >= 0)
      context.addIssue({ code: 'custom', path: ['categories', twice, 'label'], message: 'is given more than once' });
  })
  .meta({ id: 'RubricItemInput' });
export type RubricItemInput = z.infer<typeof rubricItemInput>;

export const rubricItem = z
  .object({
    id: uuid.describe('The same in every version that has the item'),
    kind: z.enum(rubricItemKinds),
    question: z.string(),
    description: z.string().nullable(),
    isRequired: z.boolean(),
    isCorrection: z.boolean().optional().describe('Absent unless true'),
    categories: z
      .array(z.object({ label: z.string(), description: z.string().nullable() }))
      .describe('Empty unless `category`'),
    examples: z.array(z.object({ text: z.string(), value: answerValue.nullable() })),
  })
  .meta({ id: 'RubricItem' });
export type RubricItem = z.infer<typeof rubricItem>;

const items = z
  .array(rubricItemInput)
  .min(1, notEmpty)
  .max(maxRubricItems, `must have at most ${maxRubricItems}`)
  .superRefine((list, context) => {
    const ids = list.map(({ id }) => id?.toLowerCase());
    const twice = ids.findIndex((id, index) => id !== undefined && ids.indexOf(id) < index);
    if (twice >= 0) context.addIssue({ code: 'custom', path: [twice, 'id'], message: 'is given more than once' });
    const corrections = list.flatMap(({ isCorrection }, index) => (isCorrection === true ? [index] : []));
    if (corrections.length > 1)
      context.addIssue({ code: 'custom', path: [corrections[1]!, 'isCorrection'], message: 'is given for two items' });
  });

const rubricName = z.string().trim().min(1, notEmpty).max(200, 'must have at most 200 characters');

export const rubric = z
  .object({
    id: uuid,
    name: z.string(),
    version: z.int().describe('Counts from 1'),
    latestVersion: z.int(),
    description: z.string().nullable(),
    items: z.array(rubricItem),
    createdAt: timestamp,
    updatedAt: timestamp.describe('When this version was created'),
    queueCount: z.int().describe('Review queues that pin any of its versions'),
  })
  .meta({ id: 'Rubric', description: 'A rubric in one of its versions, the latest one unless another is asked for' });
export type Rubric = z.infer<typeof rubric>;

const versionInput = { description: description.nullish(), items };

export const rubricVersionInput = z.strictObject(versionInput).meta({ id: 'RubricVersionInput' });
export type RubricVersionInput = z.infer<typeof rubricVersionInput>;

export const rubricInput = z.strictObject({ name: rubricName, ...versionInput }).meta({ id: 'RubricInput' });
export type RubricInput = z.infer<typeof rubricInput>;

const parameters = z.object({ id: uuid });

export const listRubrics = defineEndpoint({
  id: 'listRubrics',
  method: 'get',
  path: '/rubrics',
  access: 'audit',
  tag,
  summary: 'List rubrics',
  description: 'Newest first, each with its latest version.',
  query: listQuery,
  response: listOf(rubric),
});

export const createRubric = defineEndpoint({
  id: 'createRubric',
  method: 'post',
  path: '/rubrics',
  access: 'audit',
  tag,
  summary: 'Create a rubric with its first version',
  description: 'Needs `manage`, too.',
  body: rubricInput,
  status: 201,
  response: rubric,
});

export const readRubric = defineEndpoint({
  id: 'readRubric',
  method: 'get',
  path: '/rubrics/{id}',
  access: 'audit',
  tag,
  summary: 'Read a rubric in one of its versions',
  description: 'The latest version unless another is asked for. Versions never change.',
  parameters,
  query: z.strictObject({ version: wholeNumber(1, 1_000_000).optional() }),
  response: rubric,
  errors: [404],
});

export const createRubricVersion = defineEndpoint({
  id: 'createRubricVersion',
  method: 'post',
  path: '/rubrics/{id}/versions',
  access: 'audit',
  tag,
  summary: 'Add a version to a rubric',
  description:
    'Takes all items of the new version; an item with the ID of an earlier one stays the same item and keeps its kind. Queues keep the version that they were made with. Needs `manage`, too.',
  parameters,
  body: rubricVersionInput,
  status: 201,
  response: rubric,
  errors: [404],
});

export const deleteRubric = defineEndpoint({
  id: 'deleteRubric',
  method: 'delete',
  path: '/rubrics/{id}',
  access: 'audit',
  tag,
  summary: 'Delete a rubric with all its versions',
  description: 'Status 409 while a review queue uses it. Needs `manage`, too.',
  parameters,
  status: 204,
  kinds: ['empty'],
  errors: [404, 409],
});
