import { z } from 'zod';
import { withCommas } from '../with-commas.ts';
import { uuid } from './common.ts';
import { maxDatasetBytes } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';
import { maxDiscussionCharacters } from './review-items.ts';
import { reviewQueue } from './review-queues.ts';

/** Review queues as files, which go to other installations and come back. */

const tag = 'Reviews';
const parameters = z.object({ id: uuid });

export const downloadReviewQueue = defineEndpoint({
  id: 'downloadReviewQueue',
  method: 'get',
  path: '/review-queues/{id}/file',
  access: 'audit',
  tag,
  summary: 'Download a review queue as a file for another installation',
  description:
    'JSONL with the texts of the items that still need reviews. Of a queue that came as a file, it has the reviews instead, to be merged where the queue was made. Needs `manage`, too.',
  parameters,
  kinds: ['file'],
  errors: [404],
});

export const importReviewQueue = defineEndpoint({
  id: 'importReviewQueue',
  method: 'post',
  path: '/review-queues/import',
  access: 'audit',
  tag,
  summary: 'Import a review queue of another installation',
  description: 'Its items are reviewed here as any others. 409 if the queue is here already. Needs `manage`, too.',
  form: { fields: z.strictObject({}), maximumFileBytes: maxDatasetBytes },
  status: 201,
  response: reviewQueue,
  errors: [409],
});

export const mergeReviewQueue = defineEndpoint({
  id: 'mergeReviewQueue',
  method: 'post',
  path: '/review-queues/{id}/merge',
  access: 'audit',
  tag,
  summary: 'Merge the reviews of a file into the queue',
  description:
    "Adds the new reviews and comments, by their IDs, and requests for second reviews of items that still need reviews: merging a file twice adds nothing. A file has what its reviewers replaced, too, so no clock decides which of two reviews is later. Between files that don't know of each other's reviews it is the one that is merged later. A file of another queue, or with unknown items, is rejected with the reason. Needs `manage`, too.",
  parameters,
  form: { fields: z.strictObject({}), maximumFileBytes: maxDatasetBytes },
  response: z.object({
    added: z.int(),
    known: z.int().describe('Reviews that were here already, or that a later file has replaced'),
    comments: z.int().describe('New ones of discussions'),
    commentsLeftOut: z
      .int()
      .describe(
        `Comments that the discussion of their item, which can have ${withCommas(maxDiscussionCharacters)} characters, has no room for`,
      ),
  }),
  errors: [404, 409],
});
