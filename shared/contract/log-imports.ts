import { z } from 'zod';
import { aiSystem, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Imported logs';

export const logFormat = z.enum(['otlp', 'langfuse', 'openai-chat', 'csv']).meta({ id: 'LogFormat' });
export type LogFormat = z.infer<typeof logFormat>;

/** The parts of a call that a column of a CSV file can have. */
export const csvFields = [
  'id',
  'conversation',
  'time',
  'system',
  'prompt',
  'answer',
  'provider',
  'model',
  'promptTokens',
  'completionTokens',
  'cost',
  'latencyMs',
  'error',
  'client',
] as const;
export const csvField = z.enum(csvFields).meta({ id: 'LogColumn' });
export type CsvField = z.infer<typeof csvField>;

/** 1 GB. */
export const maxLogBytes = 1024 * 1_048_576;

export const logReport = z
  .object({
    calls: z.int().describe('Calls that are not in the audit yet'),
    duplicates: z.int().describe('Calls that are in the audit, or more than once in the file'),
    conversations: z.int(),
    firstAt: timestamp.nullable(),
    lastAt: timestamp.nullable(),
    models: z
      .array(z.object({ aiSystem, model: z.string(), calls: z.int() }))
      .describe('The most used ones, at most 20'),
    withoutTime: z.int().describe('They get the time of the import'),
    withoutAnswer: z.int(),
    withoutUsage: z.int().describe('Their tokens and cost stay unknown, unless the log has the cost'),
    costFromLog: z.int(),
    costFromCatalogue: z.int().describe('Calculated from the tokens, with the prices of the catalogue'),
    leftOut: z.array(z.object({ reason: z.string(), entries: z.int() })).describe('What is not imported, and why'),
  })
  .meta({ id: 'LogReport' });
export type LogReport = z.infer<typeof logReport>;

const logColumns = z
  .array(z.object({ name: z.string(), field: csvField.nullable() }))
  .describe('The columns of a CSV file and what they are; empty for other formats');

export const logPreview = z
  .object({
    format: logFormat,
    columns: logColumns,
    report: logReport,
    examples: z
      .array(
        z.object({
          model: z.string(),
          createdAt: timestamp.nullable(),
          prompt: z.string(),
          answer: z.string(),
        }),
      )
      .describe('The first calls, with long texts cut'),
  })
  .meta({ id: 'LogPreview' });
export type LogPreview = z.infer<typeof logPreview>;

export const logImportStates = ['Running', 'Stopped', 'Completed', 'Failed', 'Removing'] as const;

export const logImport = z
  .object({
    id: uuid.describe('The filter `importId` of the audit finds its runs'),
    name: z.string(),
    format: logFormat,
    state: z.enum(logImportStates),
    createdAt: timestamp,
    progress: z.number().min(0).max(1).describe('The part of the file that was read'),
    imported: z.int().describe('Stored calls'),
    report: logReport.describe('What was found until now'),
    failure: z.string().nullable().describe('Why it failed'),
  })
  .meta({ id: 'LogImport' });
export type LogImport = z.infer<typeof logImport>;

export const logImportList = z.object({ data: z.array(logImport) });

const columnChoices = z
  .string()
  .max(60_000)
  .transform((text, context): Record<string, CsvField | null> => {
    try {
      const parsed = z.record(z.string(), csvField.nullable()).safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // The issue below covers it.
    }
    context.addIssue({ code: 'custom', message: 'must be a JSON object of fields by column' });
    return z.NEVER;
  });

const formFields = {
  format: logFormat.optional().describe('Detected from the content unless given'),
  columns: columnChoices
    .optional()
    .describe(
      'What columns of a CSV file are, as JSON, such as `{"Frage": "prompt", "Notes": null}`; others are detected',
    ),
};

const acceptedFiles =
  'Accepts traces of OpenTelemetry with the GenAI conventions (OTLP as JSON, one request per line or one in all), exported observations or traces of Langfuse (JSON, JSONL), chats in the format of OpenAI (JSONL) and CSV, of at most 1 GB.';

export const previewLogImport = defineEndpoint({
  id: 'previewLogImport',
  method: 'post',
  path: '/audit/imports/preview',
  access: 'manage',
  tag,
  summary: 'Preview the calls in a log',
  description: `${acceptedFiles} Returns what an import would store and leave out. Nothing is stored.`,
  form: { fields: z.strictObject(formFields), maximumFileBytes: maxLogBytes },
  response: logPreview,
});

export const createLogImport = defineEndpoint({
  id: 'createLogImport',
  method: 'post',
  path: '/audit/imports',
  access: 'manage',
  tag,
  summary: 'Import the calls of a log into the audit',
  description: `${acceptedFiles} The import runs in the background. A call that is in the audit already is not stored again.`,
  form: {
    fields: z.strictObject({
      ...formFields,
      name: z.string().trim().min(1, 'must not be empty').max(300).optional().describe('That of the file unless given'),
    }),
    maximumFileBytes: maxLogBytes,
  },
  status: 202,
  response: logImport,
});

export const listLogImports = defineEndpoint({
  id: 'listLogImports',
  method: 'get',
  path: '/audit/imports',
  access: 'manage',
  tag,
  summary: 'List imports, newest first',
  description: 'Traces that programs send are one import per API key and day.',
  response: logImportList,
});

export const followLogImports = defineEndpoint({
  id: 'followLogImports',
  method: 'get',
  path: '/window/audit/imports/events',
  access: 'window',
  tag,
  summary: 'Send the list again whenever it changes, at most five times a second',
  kinds: ['event-stream'],
  part: logImportList,
});

const importParameters = z.object({ id: uuid });

export const readLogImport = defineEndpoint({
  id: 'readLogImport',
  method: 'get',
  path: '/audit/imports/{id}',
  access: 'manage',
  tag,
  summary: 'Read the state and the report of an import',
  description: 'The report is complete when the state is `Completed`.',
  parameters: importParameters,
  response: logImport,
  errors: [404],
});

export const stopLogImport = defineEndpoint({
  id: 'stopLogImport',
  method: 'post',
  path: '/audit/imports/{id}/stop',
  access: 'manage',
  tag,
  summary: 'Stop an import',
  description: 'The calls that were stored stay, and the import can be resumed.',
  parameters: importParameters,
  response: logImport,
  errors: [404],
});

export const resumeLogImport = defineEndpoint({
  id: 'resumeLogImport',
  method: 'post',
  path: '/audit/imports/{id}/resume',
  access: 'manage',
  tag,
  summary: 'Resume a stopped or failed import',
  description: 'It continues after the last stored call.',
  parameters: importParameters,
  status: 202,
  response: logImport,
  errors: [404],
});

export const deleteLogImport = defineEndpoint({
  id: 'deleteLogImport',
  method: 'delete',
  path: '/audit/imports/{id}',
  access: 'manage',
  tag,
  summary: 'Delete an import with its runs',
  description:
    'Runs are removed in the background, with their feedback; until then the import has the state `Removing`. Other runs stay.',
  parameters: importParameters,
  status: 202,
  response: logImport,
  errors: [404],
});

export const receiveTraces = defineEndpoint({
  id: 'receiveTraces',
  method: 'post',
  path: '/v1/traces',
  access: 'run',
  tag,
  summary: 'Record the calls in OpenTelemetry traces',
  description:
    'Takes the JSON format of OTLP (`OTEL_EXPORTER_OTLP_PROTOCOL=http/json`), at most 4 MB; with gzip, at most 4 MB decompressed. Spans with the GenAI conventions become runs; others are ignored. The response is sent when they are stored.',
  acceptsGzip: true,
  body: z.looseObject({ resourceSpans: z.array(z.unknown()) }).meta({ id: 'OtlpTraces' }),
  response: z
    .object({ partialSuccess: z.object({ rejectedSpans: z.int().optional(), errorMessage: z.string().optional() }) })
    .meta({ id: 'OtlpTracesResponse' }),
});
