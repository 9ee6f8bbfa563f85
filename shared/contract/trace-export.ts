import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';

/** Traces of runs that are sent to a collector of OpenTelemetry. */
export const traceExportSettings = z.strictObject({
  /** Of the collector, with the path: `http://localhost:4318/v1/traces`. Null sends nothing. */
  address: z
    .url({ protocol: /^https?$/, error: 'must be an address that starts with http:// or https://' })
    .max(2000)
    .nullable(),
  /** Whether the spans contain prompts and answers. */
  hasContent: z.boolean(),
});

const traceExportState = z.object({
  /** Runs since the start of the host. */
  sent: z.int(),
  waiting: z.int(),
  /** Runs that the collector didn't take in time, or rejected. */
  dropped: z.int(),
  /** The last failure; null after a success. */
  failure: z.string().nullable(),
});
export type TraceExportState = z.infer<typeof traceExportState>;

export const readTraceExport = defineEndpoint({
  id: 'readTraceExport',
  method: 'get',
  path: '/window/trace-export',
  access: 'window',
  tag: 'Window: settings and host',
  summary: 'How many runs were sent to the collector',
  response: traceExportState,
});
