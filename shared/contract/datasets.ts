import { z } from 'zod';
import { listOf, listQuery, timestamp, uuid } from './common.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Datasets';
const notEmpty = 'must not be empty';

export const maxDatasetRows = 100_000;
/** 200 MB: of an imported file, and of the rows of one version as JSON. */
export const maxDatasetBytes = 200 * 1_048_576;
/** 4 MB: of one row as JSON. */
export const maxRowBytes = 4 * 1_048_576;
export const maxDatasetColumns = 200;

/** `expected` columns are for checks. The others fill the variables of prompts. */
export const datasetColumnType = z.enum(['text', 'json', 'file', 'expected']).meta({ id: 'DatasetColumnType' });

export const columnName = z
  .string()
  .min(1, notEmpty)
  .max(200)
  .refine((name) => !/\p{Cc}/u.test(name), 'must not have control characters')
  .refine((name) => name !== '__proto__', 'is a name that no column can have');

export const datasetColumn = z
  .strictObject({ name: columnName, type: datasetColumnType })
  .meta({ id: 'DatasetColumn' });
export type DatasetColumn = z.infer<typeof datasetColumn>;

/** What is wrong with a list of columns, with its index; null if nothing. */
export function columnIssue(columns: readonly DatasetColumn[]): { index: number; issue: string } | null {
  const names = new Set<string>();
  for (const [index, { name }] of columns.entries()) {
    if (names.has(name)) return { index, issue: 'is given more than once' };
    names.add(name);
  }
  return null;
}

const datasetColumns = z
  .array(datasetColumn)
  .min(1, notEmpty)
  .max(maxDatasetColumns)
  .superRefine((columns, context) => {
    const found = columnIssue(columns);
    if (found) context.addIssue({ code: 'custom', path: [found.index, 'name'], message: found.issue });
  });

/** Checked against the columns by the service: one schema for each of 100,000 rows would take too long. */
export const rowValues = z
  .record(z.string(), z.unknown())
  .describe(
    'Values by column. Text for `text`, any JSON for `json` and `expected`, `{"fileId"}` for `file`; absent and null are no value',
  )
  .meta({ id: 'DatasetRowValues' });
export type RowValues = z.infer<typeof rowValues>;

const rowList = z.array(rowValues).max(maxDatasetRows);

export const datasetName = z.string().min(1, notEmpty).max(300);
const note = z.string().max(10_000).nullish();

export const datasetInput = z
  .strictObject({ name: datasetName, columns: datasetColumns, rows: rowList, note })
  .meta({ id: 'DatasetInput', description: 'A dataset with its first version' });
export type DatasetInput = z.infer<typeof datasetInput>;

const rowId = z.string().min(1, notEmpty).max(100);

const rowChanges = z
  .strictObject({
    updated: z.record(rowId, rowValues).optional().describe('New values by row ID'),
    removed: z.array(rowId).max(maxDatasetRows).optional(),
    added: rowList.optional().describe('Appended at the end'),
  })
  .describe('Changes to the rows of `baseVersion`; all other rows stay');

export const datasetVersionInput = z
  .strictObject({
    columns: datasetColumns.optional().describe('Those of `baseVersion` unless given'),
    baseVersion: z.int().min(1).optional().describe('The latest version unless given'),
    rows: rowList.optional().describe('All rows of the new version'),
    changes: rowChanges.optional(),
    note,
  })
  .refine(({ rows, changes }) => (rows === undefined) !== (changes === undefined), {
    path: ['rows'],
    error: 'is required unless `changes` is given',
  })
  .meta({ id: 'DatasetVersionInput' });
export type DatasetVersionInput = z.infer<typeof datasetVersionInput>;

export const datasetVersion = z
  .object({
    version: z.int().describe('Counts from 1 within its dataset'),
    columns: z.array(datasetColumn),
    rowCount: z.int(),
    bytes: z.int().describe('Of its rows as JSON'),
    note: z.string().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'DatasetVersion' });
export type DatasetVersion = z.infer<typeof datasetVersion>;

export const dataset = z
  .object({
    id: uuid,
    name: z.string(),
    createdAt: timestamp,
    latestVersion: z.int(),
    ...datasetVersion.omit({ createdAt: true }).shape,
    updatedAt: timestamp.describe('When the version was created'),
    comparisonCount: z.int().describe('Comparisons that use any of its versions'),
  })
  .meta({
    id: 'Dataset',
    description: 'A dataset and one of its versions, the latest one unless another is asked for',
  });
export type Dataset = z.infer<typeof dataset>;

export const datasetRow = z
  .object({
    id: z.string().describe('Stays the same across versions while its values do'),
    values: rowValues,
  })
  .meta({ id: 'DatasetRow' });
export type DatasetRow = z.infer<typeof datasetRow>;

export const datasetRows = z
  .object({
    data: z.array(datasetRow).describe('Fewer than `limit` if they are large'),
    offset: z.int(),
    total: z.int(),
  })
  .meta({ id: 'DatasetRows' });
export type DatasetRows = z.infer<typeof datasetRows>;

/** A whole number in a query string. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

const version = wholeNumber(1, 1_000_000).optional().describe('The latest one unless given');
const datasetParameters = z.object({ id: uuid });

export const listDatasets = defineEndpoint({
  id: 'listDatasets',
  method: 'get',
  path: '/datasets',
  access: 'run',
  tag,
  summary: 'List datasets',
  description: 'Newest first, each with its latest version.',
  query: listQuery,
  response: listOf(dataset),
});

export const createDataset = defineEndpoint({
  id: 'createDataset',
  method: 'post',
  path: '/datasets',
  access: 'manage',
  tag,
  summary: 'Create a dataset with its first version',
  description:
    'A dataset has at most 100,000 rows, 200 columns and 200 MB, and a row at most 4 MB. A body of more than 4 MB is rejected: import a file instead.',
  body: datasetInput,
  status: 201,
  response: dataset,
});

export const readDataset = defineEndpoint({
  id: 'readDataset',
  method: 'get',
  path: '/datasets/{id}',
  access: 'run',
  tag,
  summary: 'Read a dataset and one of its versions',
  description: 'Returns the columns and the number of rows of a version. The rows are at `/datasets/{id}/rows`.',
  parameters: datasetParameters,
  query: z.strictObject({ version }),
  response: dataset,
  errors: [404],
});

export const readDatasetRows = defineEndpoint({
  id: 'readDatasetRows',
  method: 'get',
  path: '/datasets/{id}/rows',
  access: 'run',
  tag,
  summary: 'Read rows of a version of a dataset',
  description: 'Returns up to `limit` rows from `offset` on, in their order. Large rows end a page earlier.',
  parameters: datasetParameters,
  query: z.strictObject({
    version,
    offset: wholeNumber(0, maxDatasetRows).optional().describe('0 unless given'),
    limit: wholeNumber(1, 1000).optional().describe('100 unless given'),
  }),
  response: datasetRows,
  errors: [404],
});

export const listDatasetVersions = defineEndpoint({
  id: 'listDatasetVersions',
  method: 'get',
  path: '/datasets/{id}/versions',
  access: 'run',
  tag,
  summary: 'List the versions of a dataset',
  description: 'Newest first.',
  parameters: datasetParameters,
  query: listQuery,
  response: listOf(datasetVersion),
  errors: [404],
});

export const createDatasetVersion = defineEndpoint({
  id: 'createDatasetVersion',
  method: 'post',
  path: '/datasets/{id}/versions',
  access: 'manage',
  tag,
  summary: 'Add a version to a dataset',
  description:
    'Takes all rows of the new version, or changes to the rows of an earlier one. Versions never change, and a row whose values stay the same keeps its ID.',
  parameters: datasetParameters,
  body: datasetVersionInput,
  status: 201,
  response: dataset,
  errors: [404],
});

export const renameDataset = defineEndpoint({
  id: 'renameDataset',
  method: 'patch',
  path: '/datasets/{id}',
  access: 'manage',
  tag,
  summary: 'Rename a dataset',
  description: 'The name belongs to the dataset and not to a version.',
  parameters: datasetParameters,
  body: z.strictObject({ name: datasetName }).meta({ id: 'DatasetChange' }),
  response: dataset,
  errors: [404],
});

export const deleteDataset = defineEndpoint({
  id: 'deleteDataset',
  method: 'delete',
  path: '/datasets/{id}',
  access: 'manage',
  tag,
  summary: 'Delete a dataset with all its versions',
  description: 'Status 409 while a comparison uses it. Runs that were made from its rows are kept.',
  parameters: datasetParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404, 409],
});
