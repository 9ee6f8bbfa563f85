import { z } from 'zod';
import { timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { review, reviewItemDetail } from './review-items.ts';
import { answerValue, maxAnswerCharacters } from './rubrics.ts';

/** What reviewers do with the items of a queue. */

const tag = 'Reviews';

const parameters = z.object({ id: uuid });
const itemParameters = z.object({ id: uuid, itemId: uuid });

const reservation = z
  .object({ item: reviewItemDetail, reservedAt: timestamp, expiresAt: timestamp })
  .meta({ id: 'ReviewReservation' });
export type ReviewReservation = z.infer<typeof reservation>;

export const reserveItem = defineEndpoint({
  id: 'reserveItem',
  method: 'post',
  path: '/review-queues/{id}/reservations',
  access: 'audit',
  tag,
  summary: 'Reserve the next item',
  description:
    'Returns the item that the caller has reserved in this queue with more time, otherwise the next one, or 204 when none is left. With `itemId` that item; what the caller had reserved before becomes free. 409 if other reviewers have it or have done it.',
  parameters,
  isBodyOptional: true,
  body: z.strictObject({ itemId: uuid.optional() }),
  kinds: ['json', 'empty'],
  response: reservation,
  errors: [404, 409],
});

export const releaseItem = defineEndpoint({
  id: 'releaseItem',
  method: 'delete',
  path: '/review-queues/{id}/reservations',
  access: 'audit',
  tag,
  summary: "End the caller's reservation",
  description: 'Another reviewer can then have the item. Without a reservation nothing changes.',
  parameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});

const reviewNote = z.string().max(maxAnswerCharacters, `must have at most 10,000 characters`).nullish();

export const answersInput = z
  .array(z.strictObject({ rubricItemId: uuid, value: answerValue, note: reviewNote }))
  .max(50, 'must have at most 50');
export type AnswersInput = z.infer<typeof answersInput>;

export const submitReview = defineEndpoint({
  id: 'submitReview',
  method: 'post',
  path: '/review-queues/{id}/items/{itemId}/reviews',
  access: 'audit',
  tag,
  summary: 'Review an item',
  description:
    'Needs a valid reservation of the item: without one it is 409, with a message that says who has it. All required items of the rubric need an answer. A second review of the same reviewer replaces the first one, which stays in the history.',
  parameters: itemParameters,
  body: z.strictObject({ answers: answersInput, note: reviewNote }).meta({ id: 'ReviewInput' }),
  status: 201,
  response: review,
  errors: [404, 409],
});

export const skipItem = defineEndpoint({
  id: 'skipItem',
  method: 'post',
  path: '/review-queues/{id}/items/{itemId}/skip',
  access: 'audit',
  tag,
  summary: 'Skip an item',
  description:
    'Needs a valid reservation, which ends. The item is for other reviewers then; the caller can still reserve it by its ID.',
  parameters: itemParameters,
  body: z.strictObject({ reason: z.string().trim().min(1, 'must not be empty').max(2000) }),
  status: 201,
  response: review,
  errors: [404, 409],
});

export const adjudicateItem = defineEndpoint({
  id: 'adjudicateItem',
  method: 'put',
  path: '/review-queues/{id}/items/{itemId}/gold',
  access: 'audit',
  tag,
  summary: 'Decide the answers of an item',
  description:
    'Writes the gold values, which become the feedback of the run; all reviews stay. Rubric items that are left out keep their earlier gold value. 409 until the item has all its reviews. Needs `manage`, too.',
  parameters: itemParameters,
  body: z.strictObject({ answers: answersInput.min(1, 'must not be empty') }).meta({ id: 'GoldInput' }),
  response: reviewItemDetail,
  errors: [404, 409],
});
