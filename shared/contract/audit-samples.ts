import { z } from 'zod';
import { timestamp } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Window: samples';

/** The sample set: made-up conversations that are marked as such (`metadata.sample`) and can be removed exactly. */
export const auditSamples = z.object({
  isLoaded: z.boolean(),
  /** How many are here; 0 when the set is not loaded. */
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
  tag,
  summary: 'Whether the sample set is loaded',
  response: auditSamples,
});

export const loadAuditSamples = defineEndpoint({
  id: 'loadAuditSamples',
  method: 'post',
  path: '/window/audit/samples',
  access: 'window',
  tag,
  summary: 'Load sample data, spread over the last 60 days; loading it again changes nothing',
  response: auditSamples,
});

export const removeAuditSamples = defineEndpoint({
  id: 'removeAuditSamples',
  method: 'delete',
  path: '/window/audit/samples',
  access: 'window',
  tag,
  summary: 'Remove the sample set and nothing else',
  response: auditSamples,
});
