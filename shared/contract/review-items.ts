import { z } from 'zod';
import { withCommas } from '../with-commas.ts';
import { timestamp, uuid } from './common.ts';
import { wholeNumber } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';
import { maxQueueItems } from './review-queues.ts';
import { answerValue } from './rubrics.ts';

/** The conversations and runs of a review queue, with their reviews. */

const tag = 'Reviews';

export const reviewAnswer = z
  .object({
    rubricItemId: uuid,
    value: answerValue,
    note: z.string().nullable(),
  })
  .meta({ id: 'ReviewAnswer' });
export type ReviewAnswer = z.infer<typeof reviewAnswer>;

export const review = z
  .object({
    id: uuid,
    reviewerId: uuid,
    reviewer: z.string(),
    isYours: z.boolean(),
    kind: z.enum(['review', 'skip']),
    answers: z.array(reviewAnswer).describe('Empty for a skip'),
    note: z.string().nullable().describe('On the whole; the reason of a skip'),
    seconds: z.number().describe('From the reservation to the review'),
    createdAt: timestamp,
    replaces: uuid.nullable().describe("The reviewer's review of the item before it"),
  })
  .meta({ id: 'Review' });
export type Review = z.infer<typeof review>;

export const maxCommentCharacters = 10_000;
/** Of all comments on an item, which are read at once. */
export const maxDiscussionCharacters = 500_000;
export const maxRequestReasonCharacters = 2000;

/** An entry of the discussion of an item. Entries never change. */
export const reviewComment = z
  .object({
    id: uuid,
    reviewerId: uuid,
    reviewer: z.string(),
    isYours: z.boolean(),
    text: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: 'ReviewComment' });
export type ReviewComment = z.infer<typeof reviewComment>;

const secondReview = z
  .object({
    requestedBy: z.string(),
    requestedAt: timestamp,
    reason: z.string().nullable().describe('Null without one, and for who may not see the reviews of the item'),
  })
  .meta({ id: 'SecondReview' });

const gold = z
  .object({
    answers: z.array(reviewAnswer),
    decidedBy: z.string(),
    decidedAt: timestamp,
  })
  .meta({ id: 'GoldAnswers' });

export const itemStates = ['open', 'done', 'removed'] as const;

/** Parts of a queue. */
export const itemViews = ['all', 'open', 'mine', 'done', 'skipped', 'flagged', 'secondReview'] as const;
export type ItemView = (typeof itemViews)[number];

const itemFields = {
  id: uuid,
  position: z.int().describe('From 0'),
  conversationId: uuid,
  runId: uuid.nullable().describe('The run, or the newest matching run of the conversation'),
  title: z.string().describe('Start of the prompt, or `Removed`'),
  caller: z.string().nullable().describe('Who made the run; null if it is not on this device'),
  runAt: timestamp.nullable().describe('When the run was created; null after it was deleted'),
  stratum: z.string(),
  isFlagged: z.boolean().describe('Whether the guard flagged the run, or any run of the conversation'),
  state: z.enum(itemStates).describe('`removed`: the run was deleted'),
  reviewsNeeded: z.int(),
  reviewsDone: z.int(),
  reservedBy: z.array(z.string()).describe('Reviewers who have it reserved now'),
  yours: z
    .enum(['open', 'reserved', 'reviewed', 'skipped', 'closed'])
    .describe('For the caller. `closed`: enough others review it, or the caller is not one of the reviewers'),
  gold: gold.nullable(),
  secondReview: secondReview
    .nullable()
    .describe('Whether a reviewer asked for one more review than the plan says, which `reviewsNeeded` includes'),
};

export const reviewItem = z.object(itemFields).meta({ id: 'ReviewItem' });
export type ReviewItem = z.infer<typeof reviewItem>;

/** Characters, passages and earlier runs that a queue file has no room for. */
const leftOut = z.object({
  inputCharacters: z.int().describe('At its start'),
  answerCharacters: z.int().describe('At its end'),
  passages: z.int(),
  passageCharacters: z.int().describe('At the ends of the passages that are there'),
  earlierRuns: z.int().describe('Of the conversation, before this run'),
});
export type LeftOut = z.infer<typeof leftOut>;

/** What an imported item has instead of a run in the audit. */
export const importedRun = z.object({
  runId: uuid,
  createdAt: timestamp,
  model: z.string(),
  input: z.string(),
  answer: z.string(),
  passages: z.array(z.object({ sourceName: z.string(), text: z.string() })),
  leftOut: leftOut.optional().describe('Absent if the texts are whole'),
});
export type ImportedRun = z.infer<typeof importedRun>;

export const reviewItemDetail = z
  .object({
    ...itemFields,
    reviews: z
      .array(review)
      .describe(
        "The current ones. Those of others are included when the caller's own is in and the item is done, when the queue is complete, and for who may not review it",
      ),
    hiddenReviews: z.int().describe('Reviews of others that the caller must not see yet'),
    comments: z.array(reviewComment).describe('Oldest first, for who may see the reviews of others'),
    runs: z
      .array(importedRun)
      .nullable()
      .describe('Of an item from another installation; null if `GET /conversations/{id}` has it'),
  })
  .meta({ id: 'ReviewItemDetail' });
export type ReviewItemDetail = z.infer<typeof reviewItemDetail>;

export const requestSecondReview = defineEndpoint({
  id: 'requestSecondReview',
  method: 'post',
  path: '/review-queues/{id}/items/{itemId}/second-review',
  access: 'audit',
  tag,
  summary: 'Ask for one more review of an item',
  description:
    'While the item still needs reviews. Needs a valid reservation of it, or `manage`. The item then needs one review more, once. Other reviewers see that somebody asked, and the reason only with the reviews. The agreement leaves the additional review out, because such items are no random sample.',
  parameters: z.object({ id: uuid, itemId: uuid }),
  isBodyOptional: true,
  body: z
    .strictObject({
      reason: z
        .string()
        .trim()
        .max(maxRequestReasonCharacters, `must have at most ${maxRequestReasonCharacters} characters`)
        .nullish(),
    })
    .meta({ id: 'SecondReviewInput' }),
  status: 201,
  response: reviewItemDetail,
  errors: [404, 409],
});

export const addReviewComment = defineEndpoint({
  id: 'addReviewComment',
  method: 'post',
  path: '/review-queues/{id}/items/{itemId}/comments',
  access: 'audit',
  tag,
  summary: 'Discuss an item',
  description:
    'Adds to the discussion, of which nothing changes or is removed while the item is there. For who may see the reviews of others: 409 before, and when the discussion has 500,000 characters.',
  parameters: z.object({ id: uuid, itemId: uuid }),
  body: z
    .strictObject({
      text: z
        .string()
        .trim()
        .min(1, 'must not be empty')
        .max(maxCommentCharacters, `must have at most ${withCommas(maxCommentCharacters)} characters`),
    })
    .meta({ id: 'ReviewCommentInput' }),
  status: 201,
  response: reviewComment,
  errors: [404, 409],
});

const parameters = z.object({ id: uuid });
const itemParameters = z.object({ id: uuid, itemId: uuid });

export const listReviewItems = defineEndpoint({
  id: 'listReviewItems',
  method: 'get',
  path: '/review-queues/{id}/items',
  access: 'audit',
  tag,
  summary: 'List the items of a review queue',
  description: 'In their order. `offset` and `limit` choose any part of it, `total` counts what `view` shows.',
  parameters,
  query: z.strictObject({
    offset: wholeNumber(0, maxQueueItems).optional().describe('0 unless given'),
    limit: wholeNumber(1, 200).optional().describe('50 unless given'),
    view: z
      .enum(itemViews)
      .optional()
      .describe(
        '`open`: what still needs reviews and the caller has neither reviewed nor skipped; `mine`: what the caller has reviewed or reserved; `done`: with all reviews; `skipped`: by the caller; `flagged`: by the guard; `secondReview`: for which a reviewer asked for one more review. All unless given',
      ),
  }),
  response: z.object({ data: z.array(reviewItem), offset: z.int(), total: z.int() }),
  errors: [404],
});

export const readReviewItem = defineEndpoint({
  id: 'readReviewItem',
  method: 'get',
  path: '/review-queues/{id}/items/{itemId}',
  access: 'audit',
  tag,
  summary: 'Read an item with the reviews that the caller may see',
  description: 'Reviewers are blind to each other until they are done with the item.',
  parameters: itemParameters,
  response: reviewItemDetail,
  errors: [404],
});
