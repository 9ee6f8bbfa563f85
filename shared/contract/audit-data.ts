import { z } from 'zod';
import { timestamp } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const samplesTag = 'Window: samples';

/** The sample data: fictional conversations that are marked (`metadata.sample`) and can be removed exactly. */
export const auditSamples = z.object({
  isLoaded: z.boolean(),
  /** The number of loaded ones; 0 if the data is not loaded. */
  conversations: z.int(),
  runs: z.int(),
  loadedAt: timestamp.nullable(),
});
export type AuditSamples = z.infer<typeof auditSamples>;

export const readAuditSamples = defineEndpoint({
  id: 'readAuditSamples',
  method: 'get',
  path: '/window/audit/samples',
  access: 'window',
  tag: samplesTag,
  summary: 'Whether the sample set is loaded',
  response: auditSamples,
});

export const loadAuditSamples = defineEndpoint({
  id: 'loadAuditSamples',
  method: 'post',
  path: '/window/audit/samples',
  access: 'window',
  tag: samplesTag,
  summary: 'Load sample data, spread over the last 60 days; loading it again changes nothing',
  response: auditSamples,
});

export const removeAuditSamples = defineEndpoint({
  id: 'removeAuditSamples',
  method: 'delete',
  path: '/window/audit/samples',
  access: 'window',
  tag: samplesTag,
  summary: 'Remove the sample set and nothing else',
  response: auditSamples,
});

const retentionTag = 'Window: retention';

export const retentionModes = ['off', 'delete', 'anonymise'] as const;

/**
 * What happens to runs that are older than `days` (settings group `retention`). `delete` removes them with their texts and
 * feedback; `anonymise` blanks every text, header, metadata and feedback text and keeps counts, usage, cost and timing. Neither
 * changes credits, API keys, saved views and samples.
 */
export const retention = z.strictObject({
  mode: z.enum(retentionModes),
  days: z.int().min(1, 'must be from 1 to 36500').max(36_500, 'must be from 1 to 36500'),
});
export type Retention = z.infer<typeof retention>;

export const retentionPreview = z.object({
  /** Runs before this time are affected. */
  before: timestamp,
  runs: z.int(),
  /** Conversations with at least one of them. */
  conversations: z.int(),
  oldest: timestamp.nullable(),
  /** Approximate bytes of the removed texts. */
  bytes: z.int(),
});
export type RetentionPreview = z.infer<typeof retentionPreview>;

export const previewRetention = defineEndpoint({
  id: 'previewRetention',
  method: 'post',
  path: '/window/audit/retention/preview',
  access: 'window',
  tag: retentionTag,
  summary: 'Preview the runs that a retention would delete or anonymise now',
  body: z.strictObject({ mode: z.enum(['delete', 'anonymise']), days: retention.shape.days }),
  response: retentionPreview,
});

export const retentionState = z.object({
  ...retention.shape,
  isRunning: z.boolean(),
  /** The last time that it was applied; null if never. */
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
  tag: retentionTag,
  summary: 'Read the current retention and when it was last applied; change it in the settings group `retention`',
  response: retentionState,
});
