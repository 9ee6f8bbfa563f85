import { z } from 'zod';
import { comparison, comparisonParameters, variantName } from './comparisons.ts';
import { maxDatasetRows } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';

/** What starts and stops the cells of a comparison. */

const tag = 'Comparisons';

const cellChoice = {
  variant: variantName.optional().describe('Only the cells of a variant'),
  cell: z
    .strictObject({ rowId: z.string().max(100), variant: variantName, repeat: z.int().min(1) })
    .optional()
    .describe('Only one cell'),
};

export const stopInput = z.strictObject(cellChoice).meta({ id: 'ComparisonStop' });
export type StopInput = z.infer<typeof stopInput>;
export const retryInput = z.strictObject(cellChoice).meta({ id: 'ComparisonRetry' });
export type RetryInput = z.infer<typeof retryInput>;

export const startInput = z
  .strictObject({
    maxRows: z.int().min(1).max(maxDatasetRows).optional().describe('Stops after the first rows, such as for a test'),
  })
  .meta({ id: 'ComparisonStart' });
export type StartInput = z.infer<typeof startInput>;

export const startComparison = defineEndpoint({
  id: 'startComparison',
  method: 'post',
  path: '/comparisons/{id}/start',
  access: 'manage',
  tag,
  summary: 'Start or resume a comparison',
  description:
    'Runs every cell that waits or was stopped. A cell that has completed, failed or was interrupted is not run again. Each cell is a run of the caller, which costs one credit.',
  parameters: comparisonParameters,
  body: startInput,
  isBodyOptional: true,
  status: 202,
  response: comparison,
  errors: [404],
});

export const stopComparison = defineEndpoint({
  id: 'stopComparison',
  method: 'post',
  path: '/comparisons/{id}/stop',
  access: 'manage',
  tag,
  summary: 'Stop a comparison, a variant or a cell',
  description: 'Running calls are aborted. Cells that wait stay for the next start.',
  parameters: comparisonParameters,
  body: stopInput,
  isBodyOptional: true,
  response: comparison,
  errors: [404],
});

export const retryComparison = defineEndpoint({
  id: 'retryComparison',
  method: 'post',
  path: '/comparisons/{id}/retry',
  access: 'manage',
  tag,
  summary: 'Run failed cells again',
  description:
    'Runs the cells that failed, were skipped or were interrupted, of the whole comparison, a variant or one cell, and resumes the comparison.',
  parameters: comparisonParameters,
  body: retryInput,
  isBodyOptional: true,
  status: 202,
  response: comparison,
  errors: [404],
});
