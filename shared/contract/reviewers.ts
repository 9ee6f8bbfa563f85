import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/** The people who review: names of this installation, or API keys that a name belongs to. */

const tag = 'Reviews';

/** The header by which the window says who reviews; its value comes from `actAsReviewer`. */
export const reviewerHeader = 'x-touchstone-reviewer';

const name = z.string().trim().min(1, 'must not be empty').max(100, 'must have at most 100 characters');
const pin = z
  .string()
  .regex(/^\d{4,12}$/, 'must have 4 to 12 digits')
  .describe('Stored as a hash. The window asks for it before someone reviews under this name');

export const reviewer = z
  .object({
    id: uuid,
    name: z.string(),
    hasPin: z.boolean(),
    apiKeyId: uuid.nullable().describe('The API key that reviews under this name; null for a person at the window'),
    isYou: z.boolean().describe('Whether the caller reviews under this name'),
    createdAt: timestamp,
  })
  .meta({ id: 'Reviewer' });
export type Reviewer = z.infer<typeof reviewer>;

const reviewerInput = z
  .strictObject({
    name,
    pin: pin.nullish(),
    apiKeyId: uuid.nullish().describe('Of `GET /window/api-keys`. A key has one name'),
  })
  .meta({ id: 'ReviewerInput' });
export type ReviewerInput = z.infer<typeof reviewerInput>;

const reviewerChange = z
  .strictObject({
    name: name.optional(),
    pin: pin.nullable().optional(),
    currentPin: z
      .string()
      .max(12)
      .optional()
      .describe('The PIN until now. The window needs it for a reviewer with a PIN under whose name it does not review'),
  })
  .meta({ id: 'ReviewerChange' });
export type ReviewerChange = z.infer<typeof reviewerChange>;

const parameters = z.object({ id: uuid });

export const listReviewers = defineEndpoint({
  id: 'listReviewers',
  method: 'get',
  path: '/reviewers',
  access: 'audit',
  tag,
  summary: 'List reviewers',
  description:
    'Newest first. An API key that reviews for the first time is added with its own name, unless another reviewer is set for it.',
  query: listQuery,
  response: listOf(reviewer),
});

export const createReviewer = defineEndpoint({
  id: 'createReviewer',
  method: 'post',
  path: '/reviewers',
  access: 'audit',
  tag,
  summary: 'Add a reviewer',
  description:
    'A person of this installation, or a name for an API key. Needs `manage`, too. 409 if the name or the key is taken.',
  body: reviewerInput,
  status: 201,
  response: reviewer,
  errors: [409],
});

export const updateReviewer = defineEndpoint({
  id: 'updateReviewer',
  method: 'patch',
  path: '/reviewers/{id}',
  access: 'audit',
  tag,
  summary: 'Change a reviewer',
  description:
    'Absent fields stay; `"pin": null` removes the PIN. Needs `manage`, too. An API key can reset a forgotten PIN; the window needs the PIN (wrong or absent: 403) or reviews under the name. Earlier feedback keeps the earlier name.',
  parameters,
  body: reviewerChange,
  response: reviewer,
  errors: [404, 409, 429],
});

export const deleteReviewer = defineEndpoint({
  id: 'deleteReviewer',
  method: 'delete',
  path: '/reviewers/{id}',
  access: 'audit',
  tag,
  summary: 'Remove a reviewer',
  description:
    'The reviews stay, with the name. What the reviewer has reserved becomes free. Needs `manage`, too. The window removes a reviewer with a PIN only while it reviews under the name (403).',
  parameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

export const actAsReviewer = defineEndpoint({
  id: 'actAsReviewer',
  method: 'post',
  path: '/window/reviewers/{id}/act',
  access: 'window',
  tag: 'Window: reviews',
  summary: 'Let the window act as a reviewer',
  parameters,
  /** Needed if the reviewer has one. Wrong: 403. */
  body: z.strictObject({ pin: z.string().max(12).optional() }),
  /** `token` is the value of the header `x-touchstone-reviewer`. It is valid until the PIN changes or the reviewer is removed. */
  response: z.object({ reviewer, token: z.string() }),
  errors: [404, 429],
});
