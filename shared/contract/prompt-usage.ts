import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

/** What is known of the runs that a version made and that are still kept. Averages are null where no run has such a value. */
export const promptVersionUsage = z
  .object({
    promptVersionId: uuid,
    versionNumber: z.int(),
    runs: z.int(),
    lastRunAt: timestamp.nullable(),
    averageScore: z.number().nullable().describe('Of the runs that were given a score, -10 to 10'),
    scoredRuns: z.int(),
    averageCost: z.number().nullable().describe('In US dollars, of the runs whose price is known'),
    averageMs: z.number().nullable().describe('From the request to the end of the answer'),
  })
  .meta({ id: 'PromptVersionUsage' });
export type PromptVersionUsage = z.infer<typeof promptVersionUsage>;

export const listPromptUsage = defineEndpoint({
  id: 'listPromptUsage',
  method: 'get',
  path: '/prompts/{id}/usage',
  access: 'manage',
  tag: 'Prompts',
  summary: 'List the usage of each version of a prompt',
  description: 'Runs, scores, cost and durations per version, newest version first.',
  parameters: z.object({ id: uuid }),
  query: listQuery,
  response: listOf(promptVersionUsage),
  errors: [404],
});

export const countDraftRuns = defineEndpoint({
  id: 'countDraftRuns',
  method: 'post',
  path: '/window/prompts/{id}/versions/{versionId}/draft-runs',
  access: 'window',
  tag: 'Window: prompts',
  summary: 'Count the earlier runs of a draft for the version saved from it',
  description:
    'Runs of the draft that sent the same text, system message, model and parameters become runs of the version. Runs of another version are unchanged. Returns how many were added; a repeated call adds none.',
  parameters: z.object({ id: uuid, versionId: uuid }),
  body: z.strictObject({ draftId: z.string().min(1, 'must not be empty').max(100) }),
  response: z.object({ runs: z.int() }),
  errors: [404],
});
