import { z } from 'zod';
import { withCommas } from '../with-commas.ts';
import { auditFilter, auditSource } from './audit.ts';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';
import { rubricItem } from './rubrics.ts';

/** Conversations or runs that several people review. */

const tag = 'Reviews';

export const maxQueueItems = 50_000;
export const maxReviewersPerItem = 20;

const share = z.number().gt(0, 'must be above 0').max(1, 'must be at most 1');
const itemCount = z.int().min(1, 'must be at least 1').max(maxQueueItems);

const oneOf = ({ count, share: part }: { count?: number | undefined; share?: number | undefined }) =>
  (count === undefined) !== (part === undefined);
const oneOfIssue = { path: ['count'], error: 'is required unless `share` is given' };

/** Values by which a population is divided. */
export const strataFields = ['model', 'tag', 'scoreBand', 'moderation'] as const;

export const samplingPlan = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('all') }).describe('Everything that matches'),
    z
      .strictObject({ kind: z.literal('random'), count: itemCount.optional(), share: share.optional() })
      .refine(oneOf, oneOfIssue)
      .describe('So many, or a share'),
    z
      .strictObject({
        kind: z.literal('stratified'),
        by: z.enum(strataFields),
        count: itemCount.optional(),
        share: share.optional(),
      })
      .refine(oneOf, oneOfIssue)
      .describe(
        'So many of each stratum, or a share of each. Strata are models, the first tags of the feedback, its scores from -10 to -4, -3 to 3 and 4 to 10, or whether the guard flagged',
      ),
    z
      .strictObject({ kind: z.literal('flagged'), share: z.number().min(0).max(1) })
      .describe('All that the guard flagged, and a share of the rest'),
    z
      .strictObject({ kind: z.literal('newest'), perDay: itemCount })
      .describe(
        'The newest of each day, in UTC. While the queue is open, each day that ends adds its newest, until the day has so many',
      ),
  ])
  .meta({ id: 'SamplingPlan' });
export type SamplingPlan = z.infer<typeof samplingPlan>;

export const itemTypes = ['conversation', 'run'] as const;

const name = z.string().trim().min(1, 'must not be empty').max(200, 'must have at most 200 characters');

export const reviewQueueInput = z
  .strictObject({
    name,
    filter: auditFilter.describe('As in the audit: all conditions hold for one run'),
    source: auditSource
      .optional()
      .describe(
        "Where the filter searches: this device unless given. Queues of the team's runs are shared with the team",
      ),
    itemType: z.enum(itemTypes).describe('Whole conversations with a matching run, or the matching runs'),
    plan: samplingPlan,
    seed: z.int().min(0).max(4_294_967_295).optional().describe('Of the random choices; random unless given'),
    rubricId: uuid,
    rubricVersion: z.int().min(1).optional().describe('The latest one unless given'),
    reviewersPerItem: z
      .int()
      .min(1)
      .max(maxReviewersPerItem)
      .optional()
      .describe('1 unless given; with `reviewerIds` all of them unless given'),
    reviewerIds: z
      .array(uuid)
      .min(1)
      .max(maxReviewersPerItem)
      .optional()
      .describe('The only ones who may review; everyone unless given'),
    secondShare: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Share of the items that one more reviewer reviews, such as 0.15 of them twice; 0 unless given'),
    reservationMinutes: z.int().min(1).max(1440).optional().describe('15 unless given'),
    isShared: z
      .boolean()
      .optional()
      .describe('Whether people review it on all hosts of the team database; unless given only with the source `team`'),
  })
  .meta({ id: 'ReviewQueueInput' });
export type ReviewQueueInput = z.infer<typeof reviewQueueInput>;

export const reviewStratum = z
  .object({
    name: z.string().describe('`all`, a model, a tag, a band, `flagged`, `not flagged` or a day'),
    population: z.int().describe('Conversations or runs that matched'),
    items: z.int().describe('Of these, how many are in the queue'),
  })
  .meta({ id: 'ReviewStratum' });
export type ReviewStratum = z.infer<typeof reviewStratum>;

const counts = z.object({
  items: z.int().describe('Without removed ones'),
  done: z.int().describe('With as many reviews as they need'),
  reviews: z.int().describe('Without skips'),
  reviewsNeeded: z.int(),
  disagreeing: z
    .int()
    .describe('Done ones with a question that reviewers answered in different ways and that has no gold value yet'),
  adjudicated: z.int(),
  removed: z.int().describe('Whose runs were deleted'),
});

const progress = z
  .object({
    reviewerId: uuid,
    reviewer: z.string(),
    isYou: z.boolean(),
    reviewed: z.int(),
    skipped: z.int(),
    assigned: z.int().nullable().describe('Items that a named reviewer should review; null if anyone may review'),
    secondsPerItem: z.number().nullable().describe('The median of the last 50; null without reviews'),
    reviewsPerHour: z
      .number()
      .nullable()
      .describe('While reviewing: from the mean time of the last 50, without pauses; null without reviews'),
    lastReviewAt: timestamp.nullable(),
  })
  .meta({ id: 'ReviewProgress' });
export type ReviewProgress = z.infer<typeof progress>;

const summary = {
  id: uuid,
  name: z.string(),
  itemType: z.enum(itemTypes),
  counts,
  isComplete: z.boolean().describe('Whether all items are done'),
  isImported: z.boolean().describe('Whether another installation made it'),
  isShared: z.boolean().describe('Whether people review it on all hosts of the team database'),
  plan: samplingPlan,
  isOpen: z.boolean().describe('Whether each day that ends adds items. False for other plans than `newest`'),
  createdAt: timestamp,
};

export const reviewQueueItem = z.object(summary).meta({ id: 'ReviewQueueSummary' });
export type ReviewQueueSummary = z.infer<typeof reviewQueueItem>;

export const reviewQueue = z
  .object({
    ...summary,
    filter: z.record(z.string(), z.unknown()).describe('As it was given'),
    source: auditSource,
    seed: z.int(),
    population: z
      .int()
      .describe('Conversations or runs that matched when the queue was made, or last took the items of a day'),
    strata: z.array(reviewStratum),
    rubric: z.object({
      id: uuid,
      name: z.string(),
      version: z.int(),
      description: z.string().nullable(),
      items: z.array(rubricItem),
    }),
    reviewersPerItem: z.int(),
    reviewerIds: z.array(uuid).nullable(),
    secondShare: z.number(),
    reservationMinutes: z.int(),
    installationId: uuid.describe('Of the Touchstone that made the queue'),
    secondsPerItem: z
      .number()
      .nullable()
      .describe('The median of the last 50 reviews of each reviewer; null without reviews'),
    progress: z.array(progress).describe('Of everyone who may review or has reviewed'),
    reservation: z.object({ itemId: uuid, expiresAt: timestamp }).nullable().describe('What the caller has reserved'),
  })
  .meta({ id: 'ReviewQueue' });
export type ReviewQueue = z.infer<typeof reviewQueue>;

const parameters = z.object({ id: uuid });

export const reviewQueueChange = z
  .strictObject({
    name: name.optional(),
    isOpen: z.boolean().optional().describe('Whether each day that ends adds items. Needs the plan `newest`'),
  })
  .meta({ id: 'ReviewQueueChange' });
export type ReviewQueueChange = z.infer<typeof reviewQueueChange>;

export const listReviewQueues = defineEndpoint({
  id: 'listReviewQueues',
  method: 'get',
  path: '/review-queues',
  access: 'audit',
  tag,
  summary: 'List review queues',
  description: 'Newest first.',
  query: listQuery,
  response: listOf(reviewQueueItem),
});

export const createReviewQueue = defineEndpoint({
  id: 'createReviewQueue',
  method: 'post',
  path: '/review-queues',
  access: 'audit',
  tag,
  summary: 'Create a review queue',
  description: `Chooses at most ${withCommas(maxQueueItems)} items from everything that matches the filter now. The same seed chooses the same ones of the same runs. Needs \`manage\`, too.`,
  body: reviewQueueInput,
  status: 201,
  response: reviewQueue,
  errors: [404],
});

export const previewReviewQueue = defineEndpoint({
  id: 'previewReviewQueue',
  method: 'post',
  path: '/review-queues/preview',
  access: 'audit',
  tag,
  summary: 'Count what a plan would choose',
  description: 'The population and the items of each stratum, without creating anything.',
  body: reviewQueueInput.pick({ filter: true, source: true, itemType: true, plan: true }),
  response: z.object({ population: z.int(), items: z.int(), strata: z.array(reviewStratum) }),
});

export const readReviewQueue = defineEndpoint({
  id: 'readReviewQueue',
  method: 'get',
  path: '/review-queues/{id}',
  access: 'audit',
  tag,
  summary: 'Read a review queue',
  description: 'With its plan, the seed and the size of the population, its rubric, and the progress of each reviewer.',
  parameters,
  response: reviewQueue,
  errors: [404],
});

export const updateReviewQueue = defineEndpoint({
  id: 'updateReviewQueue',
  method: 'patch',
  path: '/review-queues/{id}',
  access: 'audit',
  tag,
  summary: 'Rename a review queue, or open or close it for new items',
  description:
    'Absent fields stay. A queue of the newest of each day is open until it is closed. Open again, it takes the days in between, too. A shared queue changes only on the host that made it. Needs `manage`, too.',
  parameters,
  body: reviewQueueChange,
  response: reviewQueue,
  errors: [404, 409],
});

export const deleteReviewQueue = defineEndpoint({
  id: 'deleteReviewQueue',
  method: 'delete',
  path: '/review-queues/{id}',
  access: 'audit',
  tag,
  summary: 'Delete a review queue with its reviews',
  description: 'The runs stay, with the feedback that the queue gave them. Needs `manage`, too.',
  parameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
