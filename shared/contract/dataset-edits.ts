import { z } from 'zod';
import { uuid } from './common.ts';
import {
  columnIssue,
  dataset,
  datasetColumn,
  maxDatasetBytes,
  maxDatasetColumns,
  maxDatasetRows,
  rowValues,
  wholeNumber,
} from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Datasets';
const version = wholeNumber(1, 1_000_000);

const editedColumn = datasetColumn.extend({
  from: z
    .string()
    .nullish()
    .describe('The column of the base version whose values it has; null for none, the one with its name unless given'),
});
export type EditedColumn = z.infer<typeof editedColumn>;

/** The first line of a file of edits. */
export const editedColumns = z.strictObject({
  columns: z
    .array(editedColumn)
    .min(1, 'must not be empty')
    .max(maxDatasetColumns)
    .superRefine((columns, context) => {
      const found = columnIssue(columns);
      if (found) context.addIssue({ code: 'custom', path: [found.index, 'name'], message: found.issue });
    }),
});

const offset = z.int().min(0).max(maxDatasetRows);

/** Every further line: rows of the base version, one of its rows with other values, or a new row. */
export const editedRows = z.union([
  z.strictObject({ keep: z.tuple([offset, z.int().min(1).max(maxDatasetRows)]) }),
  z.strictObject({ row: offset, values: rowValues }),
  z.strictObject({ values: rowValues }),
]);
export type EditedRows = z.infer<typeof editedRows>;

export const editDataset = defineEndpoint({
  id: 'editDataset',
  method: 'post',
  path: '/datasets/{id}/edits',
  access: 'manage',
  tag,
  summary: 'Add a version to a dataset from a file of edits',
  description:
    'For versions of up to 200 MB. The file is JSONL. Its first line has the columns, which may be renamed and retyped: `{"columns": [{"name", "type", "from"}]}`. The next lines are the rows in order: `{"keep": [offset, count]}` for rows of the base version, `{"row": offset, "values": {…}}` for one of them with changed values, `{"values": {…}}` for a new row.',
  parameters: z.object({ id: uuid }),
  form: {
    fields: z.strictObject({
      baseVersion: version.describe('The version whose rows the file refers to'),
      latestVersion: version.optional().describe('Status 409 if a newer version than this one exists'),
      note: z.string().max(10_000).optional(),
    }),
    maximumFileBytes: maxDatasetBytes,
  },
  status: 201,
  response: dataset,
  errors: [404, 409],
});

export const datasetDifference = z
  .object({
    base: z.int(),
    version: z.int(),
    addedRows: z.int(),
    removedRows: z.int(),
    changedRows: z.int().describe('Removed rows that other rows replaced in the same position'),
    addedColumns: z.array(z.string()),
    removedColumns: z.array(z.string()),
  })
  .meta({ id: 'DatasetDifference' });
export type DatasetDifference = z.infer<typeof datasetDifference>;

export const compareDatasetVersions = defineEndpoint({
  id: 'compareDatasetVersions',
  method: 'get',
  path: '/datasets/{id}/versions/{version}/difference',
  access: 'run',
  tag,
  summary: 'Count the differences between two versions of a dataset',
  description: 'Counts the rows and names the columns that a version has and an earlier one has not, and the reverse.',
  parameters: z.object({ id: uuid, version }),
  query: z.strictObject({ base: version.optional().describe('The version before it unless given') }),
  response: datasetDifference,
  errors: [404],
});
