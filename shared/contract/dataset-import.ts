import { z } from 'zod';
import { auditFilter, auditSource } from './audit.ts';
import { checkList } from './checks.ts';
import { timestamp, uuid } from './common.ts';
import {
  columnName,
  dataset,
  datasetColumn,
  datasetColumnType,
  datasetName,
  maxDatasetBytes,
  maxDatasetRows,
  rowValues,
} from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';
import { fileId } from './files.ts';
import { judgeInput } from './judges.ts';

const tag = 'Datasets';

/** Formats of files that become datasets. */
export const datasetFormat = z
  .enum(['csv', 'jsonl', 'json', 'xlsx', 'promptfoo', 'openai-evals', 'github-models', 'langfuse'])
  .meta({ id: 'DatasetFormat' });
export type DatasetFormat = z.infer<typeof datasetFormat>;

const judgeProposal = judgeInput
  .pick({ name: true, promptText: true, verdict: true })
  .extend({ model: z.string().nullable().describe('As the file names it; null if it names none') })
  .meta({ id: 'JudgeProposal', description: 'A judge that a file describes. `POST /judges` creates it with a model' });
export type JudgeProposal = z.infer<typeof judgeProposal>;

const importEntry = z
  .object({
    outcome: z
      .enum(['imported', 'changed', 'skipped', 'missing'])
      .describe('`changed`: imported in another form. `missing`: rows that have no value'),
    field: z.string().describe('A column, or a field or an assertion of the file'),
    message: z.string(),
    rows: z.int().nullable().describe('Rows that it is about; null for the whole file'),
  })
  .meta({ id: 'DatasetImportEntry' });
export type ImportEntry = z.infer<typeof importEntry>;

const importReport = z
  .object({
    format: datasetFormat,
    sheets: z.array(z.string()).describe('Sheets of a workbook, or tables of a ZIP file; otherwise empty'),
    sheet: z.string().nullable().describe('The one that was read'),
    entries: z.array(importEntry).describe('What was read, changed and left out, and why'),
    checks: checkList.describe('Checks that the file describes, for comparisons over the dataset'),
    judges: z.array(judgeProposal),
  })
  .meta({ id: 'DatasetImportReport' });
export type ImportReport = z.infer<typeof importReport>;

const datasetPreview = z
  .object({
    name: z.string().describe('From the name of the file'),
    columns: z.array(
      z.object({
        ...datasetColumn.shape,
        missing: z.int().describe('Rows without a value'),
      }),
    ),
    rowCount: z.int(),
    rows: z.array(rowValues).describe('The first rows. Long texts are cut'),
    report: importReport,
  })
  .meta({ id: 'DatasetPreview' });
export type DatasetPreview = z.infer<typeof datasetPreview>;

const importedDataset = z.object({ ...dataset.shape, report: importReport }).meta({ id: 'ImportedDataset' });
export type ImportedDataset = z.infer<typeof importedDataset>;

/** A field of a form that is an object in JSON. */
const jsonField = <Schema extends z.ZodType>(schema: Schema, what: string) =>
  z.string().transform((text, context): z.output<Schema> => {
    try {
      const parsed = schema.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // The issue below covers it.
    }
    context.addIssue({ code: 'custom', message: `must be a JSON object of ${what} by name` });
    return z.NEVER;
  });

const formFields = {
  format: datasetFormat.optional().describe('Detected from the name and the content unless given'),
  sheet: z
    .string()
    .max(300)
    .optional()
    .describe('A sheet of a workbook or a table of a ZIP file; the first one unless given'),
  files: jsonField(z.record(z.string(), fileId), 'file IDs')
    .optional()
    .describe('Files that cells name, as JSON, such as `{"cat.png": "…"}`, with IDs of `POST /files`'),
  definition: z
    .string()
    .optional()
    .describe(
      'What belongs to the rows, as JSON or YAML: an eval of OpenAI with its graders, an entry of its registry, or a configuration of promptfoo',
    ),
};

const acceptedFiles =
  'Accepts CSV (commas, semicolons or tabs, with a header), a sheet of an Excel workbook (.xlsx), JSONL, a JSON list of objects, tests of promptfoo (YAML, JSON, CSV), samples of OpenAI Evals, `.prompt.yml` of GitHub Models and items of Langfuse, and a ZIP file of one of them with the files that its cells name, its definition, and the files that a configuration of promptfoo refers to, of at most 200 MB and 100,000 rows.';

export const previewDatasetImport = defineEndpoint({
  id: 'previewDatasetImport',
  method: 'post',
  path: '/datasets/import/preview',
  access: 'manage',
  tag,
  summary: 'Preview the dataset in a file',
  description: `${acceptedFiles} Returns the columns with their detected types, the first rows, and what an import would leave out. Nothing is stored.`,
  form: { fields: z.strictObject(formFields), maximumFileBytes: maxDatasetBytes },
  response: datasetPreview,
});

export const importDataset = defineEndpoint({
  id: 'importDataset',
  method: 'post',
  path: '/datasets/import',
  access: 'manage',
  tag,
  summary: 'Create a dataset from a file',
  description: `${acceptedFiles} Columns with names such as \`expected\` and \`ideal\` are for checks; others are text, or JSON if a value is not text.`,
  form: {
    fields: z.strictObject({
      ...formFields,
      name: datasetName.optional().describe('That of the file unless given'),
      types: jsonField(z.record(z.string(), datasetColumnType), 'column types')
        .optional()
        .describe('Types of columns as JSON, such as `{"answer": "expected"}`; the others are detected'),
      names: jsonField(z.record(z.string(), columnName.nullable()), 'column names')
        .optional()
        .describe('New names of columns as JSON, such as `{"Ticket text": "ticket"}`; null leaves a column out'),
    }),
    maximumFileBytes: maxDatasetBytes,
  },
  status: 201,
  response: importedDataset,
});

const runDatasetInput = z
  .strictObject({
    name: datasetName,
    selection: z
      .union([
        z.strictObject({ runIds: z.array(uuid).min(1, 'must not be empty').max(maxDatasetRows) }),
        z.strictObject({
          filter: auditFilter,
          source: auditSource
            .optional()
            .describe('`team` for the runs of all hosts that copy to the team database; `device` unless given'),
        }),
      ])
      .describe('The listed runs in this order, or those that match a filter, oldest first'),
    answer: z
      .enum(['expected', 'text', 'none'])
      .optional()
      .describe('Type of the column `run answer`; `expected` unless given, `none` leaves it out'),
    hasFeedback: z.boolean().optional().describe('Whether feedback becomes columns; true unless given'),
  })
  .meta({ id: 'RunDatasetInput' });
export type RunDatasetInput = z.infer<typeof runDatasetInput>;

const runDataset = z
  .object({
    ...dataset.shape,
    skippedRuns: z.int().describe('Runs whose texts were deleted, are only in part recorded, or are longer than 4 MB'),
  })
  .meta({ id: 'RunDataset' });
export type RunDataset = z.infer<typeof runDataset>;

export const createRunDataset = defineEndpoint({
  id: 'createRunDataset',
  method: 'post',
  path: '/datasets/from-runs',
  access: 'audit',
  tag,
  summary: 'Create a dataset from recorded runs',
  description:
    'Needs the scopes `audit` and `manage`. The variables of the runs become columns, as do their answer, model, feedback and ID. A run without variables has its prompt in the column `run prompt`; a recorded call has all of its conversation there. The rows are a copy, which stays when a run is deleted.',
  body: runDatasetInput,
  status: 201,
  response: runDataset,
});

/** Runs that are added to a dataset at once. */
export const maxAddedRuns = 1000;

const addedRunsInput = z
  .strictObject({
    runIds: z.array(uuid).min(1, 'must not be empty').max(maxAddedRuns),
    columns: z
      .strictObject({ prompt: columnName.optional(), answer: columnName.optional() })
      .optional()
      .describe(
        'Where the prompt of a run without variables and its answer go: `run prompt` and `run answer`, or if the dataset has none of that name, its first text column and its first column of type `expected`',
      ),
  })
  .meta({ id: 'AddedRunsInput' });
export type AddedRunsInput = z.infer<typeof addedRunsInput>;

export const addRunsToDataset = defineEndpoint({
  id: 'addRunsToDataset',
  method: 'post',
  path: '/datasets/{id}/from-runs',
  access: 'audit',
  tag,
  summary: 'Add recorded runs to a dataset',
  description:
    'Needs the scopes `audit` and `manage`. Adds a version with a row for each run. Columns that the dataset lacks are added; `run model` and `run ID` are filled if it has them.',
  parameters: z.object({ id: uuid }),
  body: addedRunsInput,
  status: 201,
  response: runDataset,
  errors: [404],
});

export const datasetJob = z
  .object({
    id: uuid,
    name: z.string().describe('Of the dataset'),
    state: z.enum(['running', 'stopped', 'failed', 'completed']),
    createdAt: timestamp,
    completedAt: timestamp.nullable().describe('When it ended; null while it runs'),
    runs: z.int().nullable().describe('Runs of the selection; null until they are counted'),
    readRuns: z.int().describe('Runs that were read so far'),
    skippedRuns: z.int().describe('Runs whose texts were deleted, are only in part recorded, or are longer than 4 MB'),
    datasetId: uuid.nullable().describe('The dataset; null unless the job completed'),
    failure: z.string().nullable().describe('Why it failed; otherwise null'),
  })
  .meta({ id: 'DatasetJob', description: 'Creates a dataset from recorded runs in the background' });
export type DatasetJob = z.infer<typeof datasetJob>;

const jobParameters = z.strictObject({ id: uuid });
const bothScopes = 'Needs the scopes `audit` and `manage`.';

export const startDatasetJob = defineEndpoint({
  id: 'startDatasetJob',
  method: 'post',
  path: '/dataset-jobs',
  access: 'audit',
  tag,
  summary: 'Create a dataset from recorded runs in the background',
  description: `${bothScopes} As \`POST /datasets/from-runs\`, but responds at once. The dataset exists when the job is completed; a job that is stopped, fails or ends with Touchstone leaves nothing. Jobs are listed until Touchstone closes, at most 100 of them.`,
  body: runDatasetInput,
  status: 202,
  response: datasetJob,
});

export const listDatasetJobs = defineEndpoint({
  id: 'listDatasetJobs',
  method: 'get',
  path: '/dataset-jobs',
  access: 'audit',
  tag,
  summary: 'List the jobs that create datasets',
  description: `${bothScopes} Newest first.`,
  response: z.object({ data: z.array(datasetJob) }),
});

export const readDatasetJob = defineEndpoint({
  id: 'readDatasetJob',
  method: 'get',
  path: '/dataset-jobs/{id}',
  access: 'audit',
  tag,
  summary: 'Read a job that creates a dataset',
  description: bothScopes,
  parameters: jobParameters,
  response: datasetJob,
});

export const stopDatasetJob = defineEndpoint({
  id: 'stopDatasetJob',
  method: 'post',
  path: '/dataset-jobs/{id}/stop',
  access: 'audit',
  tag,
  summary: 'Stop a job that creates a dataset',
  description: `${bothScopes} Responds when it has stopped; nothing of the dataset stays. A job that has ended stays as it is.`,
  parameters: jobParameters,
  response: datasetJob,
});
