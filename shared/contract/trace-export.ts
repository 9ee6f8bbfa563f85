import { z } from 'zod';
import { defineEndpoint } from './endpoint.ts';
import { addressConfirmation, confirmationBody } from './providers.ts';

const tag = 'Window: settings and host';

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
  /** What the user has to confirm before anything is sent; null if nothing. */
  confirmation: addressConfirmation.nullable(),
});
export type TraceExportState = z.infer<typeof traceExportState>;

export const readTraceExport = defineEndpoint({
  id: 'readTraceExport',
  method: 'get',
  path: '/window/trace-export',
  access: 'window',
  tag,
  summary: 'How many runs were sent to the collector',
  response: traceExportState,
});

export const confirmTraceCollector = defineEndpoint({
  id: 'confirmTraceCollector',
  method: 'post',
  path: '/window/trace-export/confirmation',
  access: 'window',
  tag,
  summary: 'Let runs be sent to the origin of the present collector',
  body: confirmationBody,
  response: traceExportState,
  errors: [409],
});
