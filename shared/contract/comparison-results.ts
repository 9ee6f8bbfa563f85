import { z } from 'zod';
import { checkResult } from './checks.ts';
import { timestamp, uuid } from './common.ts';
import { cellState, comparisonParameters, maxCells, variantName } from './comparisons.ts';
import { maxDatasetRows, rowValues, wholeNumber } from './datasets.ts';
import { defineEndpoint } from './endpoint.ts';
import { judgeVerdict } from './judges.ts';
import { cellVote } from './votes.ts';

/** What the cells of a comparison say, one by one and together. */

const tag = 'Comparisons';

const cellKey = {
  rowId: z.string(),
  variant: z.string(),
  repeat: z.int().describe('Counts from 1'),
};

export const cellVerdict = z
  .object({
    judgeId: uuid,
    judge: z.string().describe('The name of the judge'),
    verdict: judgeVerdict.shape.verdict,
    pass: z.boolean().nullable(),
    counts: z.boolean().describe('`false` for a judge that is not calibrated: its verdict decides nothing'),
    isStale: z.boolean().describe('Whether the judge has changed since'),
    reason: z.string().nullable().describe("Null for a run that the caller can't read, and if it was removed"),
    runId: uuid.describe('The run of the judge in the audit'),
  })
  .meta({ id: 'CellVerdict' });
export type CellVerdict = z.infer<typeof cellVerdict>;

export const comparisonCell = z
  .object({
    ...cellKey,
    runId: uuid.nullable().describe('The newest run of the cell, which the audit has; null before the first'),
    state: cellState,
    failure: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe(
        'Why the cell failed or was skipped. `interrupted`: the service ended during the run, which may have been charged',
      ),
    attempts: z.int(),
    cost: z.number().nullable().describe('US dollars'),
    firstTokenMs: z.number().nullable(),
    totalMs: z.number().nullable(),
    promptTokens: z.int().nullable(),
    completionTokens: z.int().nullable(),
    checks: z.array(checkResult).describe('In the order of the checks of the comparison'),
    verdicts: z.array(cellVerdict).describe('The newest verdict of each judge among the checks'),
    votes: z.array(cellVote).describe('Of people, the newest first'),
    passed: z.boolean().nullable().describe('Whether every check passed; null if that is unknown'),
    score: z.number().nullable().describe('The weighted mean of the checks, from 0 to 1'),
    answerHash: z.string().nullable().describe('The same for equal answers'),
    answer: z
      .string()
      .nullable()
      .describe('The first 2,000 characters of the answer; null for a run of another caller without the scope `audit`'),
  })
  .meta({ id: 'ComparisonCell' });
export type ComparisonCell = z.infer<typeof comparisonCell>;

export const comparisonCells = z
  .object({ data: z.array(comparisonCell), offset: z.int(), total: z.int() })
  .meta({ id: 'ComparisonCells' });
export type ComparisonCells = z.infer<typeof comparisonCells>;

export const readComparisonCells = defineEndpoint({
  id: 'readComparisonCells',
  method: 'get',
  path: '/comparisons/{id}/cells',
  access: 'run',
  tag,
  summary: 'Read cells of a comparison',
  description:
    'Returns up to `limit` cells from `offset` on, by row, variant and repeat. With a filter, `offset` and `total` count the cells that match. Texts of runs of other callers need the scope `audit`.',
  parameters: comparisonParameters,
  query: z.strictObject({
    offset: wholeNumber(0, maxCells).optional().describe('0 unless given'),
    limit: wholeNumber(1, 1000).optional().describe('100 unless given'),
    variant: variantName.optional(),
    state: cellState.optional(),
  }),
  response: comparisonCells,
  errors: [404],
});

const interval = z.tuple([z.number(), z.number()]).nullable().describe('95 % interval; null if there are too few rows');
const mean = { mean: z.number(), interval, rows: z.int() };

const difference = z.object({
  estimate: z.number(),
  interval,
  verdict: z.enum(['better', 'worse', 'unclear']),
  rows: z.int().describe('Rows that both variants have'),
  rowsNeeded: z
    .int()
    .nullable()
    .describe('About how many rows would tell; null if the interval tells, or no difference was seen'),
  sentence: z.string(),
});

const variantReport = z
  .object({
    name: z.string(),
    passRate: z
      .number()
      .nullable()
      .describe('Share of rows that pass; a row passes if most of its repeats do. Null without checks'),
    interval,
    passes: z.int(),
    rows: z.int().describe('Rows with a judged run'),
    checks: z
      .array(z.object({ passes: z.int(), judged: z.int() }))
      .describe('Answers that each check passed and judged, in the order of the checks of the comparison'),
    tokens: z.number().nullable().describe('Mean number of tokens of a run, prompt and answer'),
    repeatRates: z.array(
      z.object({
        repeats: z.int(),
        anyPasses: z.object(mean).describe('How likely at least one of so many repeats passes'),
        allPass: z.object(mean).describe('How likely all of so many repeats pass'),
      }),
    ),
    score: z.object(mean).nullable(),
    cost: z
      .object({ ...mean, total: z.number() })
      .nullable()
      .describe('US dollars per run'),
    latency: z
      .object({ ...mean, p50: z.number(), p95: z.number() })
      .nullable()
      .describe('Milliseconds'),
    difference: difference
      .nullable()
      .describe('Of the pass rate to that of the baseline, paired by row; null for the baseline'),
    differences: z
      .object({ passRate: difference, score: difference, cost: difference, latency: difference })
      .nullable()
      .describe('Null for the baseline'),
  })
  .meta({ id: 'VariantReport' });

export const comparisonReport = z
  .object({
    isFinal: z.boolean().describe('Whether the comparison has completed. Until then the numbers are those so far'),
    endedRows: z.int().describe('Rows of which every cell has completed, failed or was skipped'),
    baseline: z.string(),
    variants: z.array(variantReport),
  })
  .meta({ id: 'ComparisonReport' });
export type ComparisonReport = z.infer<typeof comparisonReport>;

export const readComparisonReport = defineEndpoint({
  id: 'readComparisonReport',
  method: 'get',
  path: '/comparisons/{id}/report',
  access: 'run',
  tag,
  summary: 'Compare the variants',
  description:
    'Returns rates, costs and latencies with their 95 % intervals, and for each variant its difference to the baseline, paired by row and as a sentence.',
  parameters: comparisonParameters,
  query: z.strictObject({
    baseline: variantName.optional().describe('Another variant to compare with; that of the comparison unless given'),
  }),
  response: comparisonReport,
  errors: [404],
});

export const comparisonTrend = z
  .object({
    earlier: z
      .object({ id: uuid, name: z.string(), completedAt: timestamp.nullable() })
      .nullable()
      .describe('The comparison that this one repeats; null if it repeats none, or if that was deleted'),
    sharedRows: z.int().describe('Rows that both comparisons have'),
    variants: z.array(
      z.object({
        name: z.string(),
        earlierPassRate: z.number().nullable(),
        passRate: z.number().nullable(),
        differences: z.object({ passRate: difference, score: difference, cost: difference, latency: difference }),
      }),
    ),
  })
  .meta({ id: 'ComparisonTrend' });
export type ComparisonTrend = z.infer<typeof comparisonTrend>;

export const readComparisonTrend = defineEndpoint({
  id: 'readComparisonTrend',
  method: 'get',
  path: '/comparisons/{id}/trend',
  access: 'run',
  tag,
  summary: 'Compare with the last time',
  description:
    'Compares a comparison with the one that it repeats (`basedOn`): variants of the same name, paired by row, each difference with its 95 % interval and as a sentence.',
  parameters: comparisonParameters,
  response: comparisonTrend,
  errors: [404],
});

export const fieldAgreement = z.object({
  agreeing: z.int(),
  total: z.int(),
  wrong: z.array(z.string()).describe('The fields that differ or are missing'),
});
export type FieldAgreement = z.infer<typeof fieldAgreement>;

export const comparisonFields = z
  .object({
    rows: z.int().describe('Rows with an expected JSON object that were compared'),
    isComplete: z.boolean().describe('Whether all rows were compared, and not only the first ones'),
    fields: z.array(
      z.object({
        name: z.string(),
        variants: z
          .array(z.object({ agreeing: z.int(), answers: z.int() }))
          .describe('In the order of the variants: answers that have the expected value, of all answers'),
      }),
    ),
  })
  .meta({ id: 'ComparisonFields' });
export type ComparisonFields = z.infer<typeof comparisonFields>;

export const readComparisonFields = defineEndpoint({
  id: 'readComparisonFields',
  method: 'get',
  path: '/comparisons/{id}/fields',
  access: 'run',
  tag,
  summary: 'Compare JSON answers field by field',
  description:
    'Counts for each field of the expected JSON objects how many answers of each variant have its value; of each object, the first 100 fields. The expected object is in a column of type `expected`. At most 20,000 answers are compared, those of the first rows.',
  parameters: comparisonParameters,
  response: comparisonFields,
  errors: [404],
});

const exportFormat = z
  .enum(['csv', 'jsonl', 'junit', 'markdown', 'html', 'preferences'])
  .meta({ id: 'ComparisonExportFormat' });
export type ExportFormat = z.infer<typeof exportFormat>;

export const exportComparison = defineEndpoint({
  id: 'exportComparison',
  method: 'get',
  path: '/comparisons/{id}/export',
  access: 'run',
  tag,
  summary: 'Download the results',
  description:
    'CSV and JSONL have a line for each cell with the values of its row and the whole answer, JUnit XML a test case for each cell, Markdown the report, and HTML a page with the report and all cells that needs nothing else. `preferences` is JSONL of chosen and rejected answers by the votes of people (`source` is `votes` or `blind vote`) and by calibrated judges of preferences (`judge`), for training; `prompt` has the messages that were sent, and prompts with files are left out. Texts of runs of other callers need the scope `audit`.',
  parameters: comparisonParameters,
  query: z.strictObject({ format: exportFormat }),
  kinds: ['file'],
  errors: [404],
});

/** A row with its cells, for the table. */
const comparedRow = z.object({
  id: z.string(),
  /** Counts from 0 in the dataset. */
  position: z.int(),
  /** Long texts are cut, and JSON that is longer becomes a text. */
  values: rowValues,
  cells: z.array(
    comparisonCell.extend({
      /** Null unless the row has an expected JSON object, and the cell an answer. */
      fields: fieldAgreement.nullable(),
    }),
  ),
});
export type ComparedRow = z.infer<typeof comparedRow>;
export type ComparedCell = ComparedRow['cells'][number];

export const rowFilter = z.enum(['all', 'differs', 'fails', 'disagrees']);
export type RowFilter = z.infer<typeof rowFilter>;
export const rowSort = z.enum(['row', 'difference', 'cost', 'latency']);
export type RowSort = z.infer<typeof rowSort>;

export const readComparedRows = defineEndpoint({
  id: 'readComparedRows',
  method: 'get',
  path: '/window/comparisons/{id}/rows',
  access: 'window',
  tag,
  summary:
    'Rows with their cells; `differs` are rows whose cells differ in their result, `fails` those with a failed cell, `disagrees` those where a judge and a person disagree. Sorted by row, or the largest first',
  parameters: comparisonParameters,
  query: z.strictObject({
    offset: wholeNumber(0, maxDatasetRows).optional(),
    limit: wholeNumber(1, 100).optional(),
    filter: rowFilter.optional(),
    sort: rowSort.optional(),
    /** Of each text; 2,000 unless given. */
    characters: wholeNumber(1, 100_000).optional(),
  }),
  response: z.object({
    data: z.array(comparedRow),
    offset: z.int(),
    total: z.int(),
    /** Rows by filter; null until all cells are loaded. */
    counts: z.record(rowFilter, z.int()).nullable(),
  }),
  errors: [404],
});
