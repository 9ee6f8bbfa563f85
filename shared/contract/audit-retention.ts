import { z } from 'zod';
import { timestamp } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: retention';

export const retentionModes = ['off', 'delete', 'anonymise'] as const;

/**
 * What happens to runs that are older than `days` (settings group `retention`). `delete` removes them with their texts and
 * feedback; `anonymise` blanks every text, header, metadata and feedback text and keeps counts, usage, cost and timing. Both
 * leave the credits, API keys, saved views and samples as they are.
 */
export const retention = z.strictObject({
  mode: z.enum(retentionModes),
  days: z.int().min(1, 'must be from 1 to 36500').max(36_500, 'must be from 1 to 36500'),
});
export type Retention = z.infer<typeof retention>;

export const retentionPreview = z.object({
  /** Runs made before this moment are affected. */
  before: timestamp,
  runs: z.int(),
  /** Conversations with at least one of them. */
  conversations: z.int(),
  oldest: timestamp.nullable(),
  /** About how many bytes of texts would go. */
  bytes: z.int(),
});
export type RetentionPreview = z.infer<typeof retentionPreview>;

export const previewRetention = defineEndpoint({
  id: 'previewRetention',
  method: 'post',
  path: '/window/audit/retention/preview',
  access: 'window',
  tag,
  summary: 'Preview what a retention would delete or anonymise now',
  body: z.strictObject({ mode: z.enum(['delete', 'anonymise']), days: retention.shape.days }),
  response: retentionPreview,
});

export const retentionState = z.object({
  ...retention.shape,
  isRunning: z.boolean(),
  /** The last time that it was applied; null when it never was. */
  last: z
    .object({
      mode: z.enum(['delete', 'anonymise']),
      startedAt: timestamp,
      endedAt: timestamp.nullable(),
      runs: z.int(),
    })
    .nullable(),
});
export type RetentionState = z.infer<typeof retentionState>;

export const readRetention = defineEndpoint({
  id: 'readRetention',
  method: 'get',
  path: '/window/audit/retention',
  access: 'window',
  tag,
  summary: 'Read the current retention and when it was last applied; change it in the settings group `retention`',
  response: retentionState,
});
