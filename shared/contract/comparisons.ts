import { z } from 'zod';
import { checkList } from './checks.ts';
import { aiSystem, listOf, listQuery, timestamp, uuid } from './common.ts';
import { configuration } from './completions.ts';
import { defineEndpoint } from './endpoint.ts';

const tag = 'Comparisons';
const notEmpty = 'must not be empty';

export const maxVariants = 26;
/** Rows × variants × repeats. */
export const maxCells = 1_000_000;

export const variantName = z.string().min(1, notEmpty).max(100);

const inlinePrompt = z
  .strictObject({ promptText: z.string().min(1, notEmpty), systemMessage: z.string().nullish() })
  .describe('A prompt that is not in the library');

const variantFields = {
  name: variantName.describe('Unique within the comparison'),
  promptVersionId: uuid.nullish(),
  prompt: inlinePrompt.nullish(),
  aiSystem: aiSystem.nullish().describe('That of the prompt version unless given'),
  model: z.string().min(1, notEmpty).max(300).nullish().describe('That of the prompt version unless given'),
  configuration: configuration.nullish().describe('That of the prompt version if absent'),
  dataspaceIds: z.array(uuid).max(100).nullish(),
};

export const variantInput = z
  .strictObject(variantFields)
  .superRefine((variant, context) => {
    const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    const isStored = variant.promptVersionId != null;
    if (isStored === (variant.prompt != null))
      issue(
        'promptVersionId',
        isStored ? "can't be given together with `prompt`" : 'is required unless `prompt` is given',
      );
    if (variant.aiSystem != null && variant.model == null) issue('model', 'is required when aiSystem is given');
    if (!isStored && variant.model != null && variant.aiSystem == null)
      issue('aiSystem', 'is required when model is given without a prompt version');
    if (!isStored && variant.model == null) issue('model', 'is required without a prompt version');
  })
  .meta({ id: 'VariantInput' });
export type VariantInput = z.infer<typeof variantInput>;

const settings = {
  variables: z
    .record(z.string().max(200), z.string().max(200))
    .nullish()
    .describe('Column by variable, such as `{"ticket.text": "ticket_text"}`. Columns fill variables of their own name'),
  repeats: z.int().min(1).max(100).optional().describe('Runs per row and variant; 1 unless given'),
  concurrency: z.int().min(1).max(64).optional().describe('Runs at a time per provider; 4 unless given'),
  maxCost: z
    .number()
    .positive()
    .max(1_000_000)
    .nullish()
    .describe('US dollars. The comparison stops before it spends more'),
  attempts: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe(
      'Runs of a cell until one succeeds, if the provider fails; 1 unless given. A rate limit is waited for and not counted',
    ),
  timeLimitSeconds: z.int().min(1).max(3600).optional().describe('Of one run; 300 unless given'),
  titleColumn: z.string().max(200).nullish().describe('The column whose values name the rows in the results'),
  seed: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .nullish()
    .describe('Runs the rows in a random order; in their own order unless given'),
};

export const comparisonName = z.string().min(1, notEmpty).max(300);

export const comparisonFields = {
  datasetId: uuid,
  datasetVersion: z.int().min(1).optional().describe('The latest one unless given'),
  variants: z.array(variantInput).min(1, notEmpty).max(maxVariants),
  baseline: variantName.optional().describe('The variant that the others are compared with; the first unless given'),
  checks: checkList.optional(),
  basedOn: uuid.nullish().describe('An earlier comparison that this one repeats'),
  ...settings,
};

export function checkVariantNames(
  { variants, baseline }: { variants: readonly VariantInput[]; baseline?: string | undefined },
  context: z.RefinementCtx,
): void {
  const names = new Set<string>();
  for (const [index, { name }] of variants.entries()) {
    if (names.has(name)) {
      context.addIssue({ code: 'custom', path: ['variants', index, 'name'], message: 'is given more than once' });
    }
    names.add(name);
  }
  if (baseline !== undefined && !names.has(baseline))
    context.addIssue({ code: 'custom', path: ['baseline'], message: 'is not the name of a variant' });
}

export const comparisonInput = z
  .strictObject({ name: comparisonName, ...comparisonFields })
  .superRefine(checkVariantNames)
  .meta({ id: 'ComparisonInput' });
export type ComparisonInput = z.infer<typeof comparisonInput>;

export const cellState = z
  .enum(['Waiting', 'Running', 'Completed', 'Failed', 'Skipped', 'Stopped'])
  .describe(
    '`Skipped`: the row has no value for a variable. `Stopped`: by a person, and run when the comparison is started again',
  )
  .meta({ id: 'CellState' });
export type CellState = z.infer<typeof cellState>;

export const comparisonState = z.enum(['Ready', 'Running', 'Stopped', 'Completed']).meta({ id: 'ComparisonState' });
export type ComparisonState = z.infer<typeof comparisonState>;

const variant = z.object({
  name: z.string(),
  promptVersionId: uuid.nullable(),
  prompt: inlinePrompt.nullable().describe('Null for a key with neither the scope `manage` nor `audit`'),
  aiSystem,
  model: z.string(),
  configuration: z.record(z.string(), z.unknown()).nullable(),
  dataspaceIds: z.array(uuid).nullable(),
});
/** As it is stored. */
export type Variant = z.infer<typeof variant>;

const shownVariant = variant.extend({
  promptId: uuid.nullable().describe('The prompt of the version, which may be deleted'),
  versionNumber: z.int().nullable(),
});

const cellCounts = z.object({
  total: z.int(),
  waiting: z.int(),
  running: z.int(),
  completed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  stopped: z.int(),
});
export type CellCounts = z.infer<typeof cellCounts>;

const costs = z.object({
  spent: z.number().describe('US dollars of all runs of the comparison, also of those that were run again'),
  spentByJudges: z.number().describe('US dollars of `spent` that verdicts of judges cost'),
  runsWithoutCost: z.int().describe('Completed runs whose price is unknown; `spent` leaves them out'),
  estimate: z
    .object({ low: z.number(), high: z.number() })
    .nullable()
    .describe('US dollars of the whole comparison with its judges; null if a price is unknown'),
});

export const comparison = z
  .object({
    id: uuid,
    name: z.string(),
    state: comparisonState,
    stopReason: z.string().nullable().describe('Why the comparison stopped early, as a sentence'),
    datasetId: uuid,
    datasetVersion: z.int(),
    rowCount: z.int(),
    variants: z.array(shownVariant),
    baseline: z.string(),
    basedOn: uuid.nullable(),
    variables: z.record(z.string(), z.string()).nullable(),
    checks: checkList,
    warnings: z.array(z.string()).describe('Such as a judge that is of the same family of models as a variant'),
    repeats: z.int(),
    concurrency: z.int(),
    maxCost: z.number().nullable(),
    attempts: z.int(),
    timeLimitSeconds: z.int(),
    seed: z.int().nullable(),
    titleColumn: z.string().nullable(),
    cells: cellCounts,
    judging: z
      .object({ judged: z.int(), total: z.int() })
      .nullable()
      .describe('Cells that judges look at again; null unless they do'),
    cost: costs,
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    completedAt: timestamp.nullable(),
  })
  .meta({ id: 'Comparison' });
export type Comparison = z.infer<typeof comparison>;

/** Without what can have megabytes. */
export const comparisonItem = comparison
  .omit({ variants: true, variables: true, checks: true, warnings: true })
  .meta({ id: 'ComparisonItem' });
export type ComparisonItem = z.infer<typeof comparisonItem>;

export const comparisonParameters = z.object({ id: uuid });
const comparisonList = z.object({ data: z.array(comparisonItem) });

export const listComparisons = defineEndpoint({
  id: 'listComparisons',
  method: 'get',
  path: '/comparisons',
  access: 'run',
  tag,
  summary: 'List comparisons',
  description: 'Newest first, without their variants.',
  query: listQuery,
  response: listOf(comparisonItem),
});

export const createComparison = defineEndpoint({
  id: 'createComparison',
  method: 'post',
  path: '/comparisons',
  access: 'manage',
  tag,
  summary: 'Create a comparison',
  description:
    'Variants are run over the rows of one version of a dataset. Nothing runs before the comparison is started. It has at most 26 variants and 1,000,000 cells, one for each row, variant and repeat.',
  body: comparisonInput,
  status: 201,
  response: comparison,
  errors: [404],
});

export const followComparisons = defineEndpoint({
  id: 'followComparisons',
  method: 'get',
  path: '/window/comparisons/events',
  access: 'window',
  tag,
  summary: 'Send the comparisons that ran since the start whenever one changes, at most five times a second',
  kinds: ['event-stream'],
  part: comparisonList,
});

export const readComparison = defineEndpoint({
  id: 'readComparison',
  method: 'get',
  path: '/comparisons/{id}',
  access: 'run',
  tag,
  summary: 'Read a comparison',
  description: 'Returns its settings, its state, the number of cells by state, and its estimated and actual cost.',
  parameters: comparisonParameters,
  response: comparison,
  errors: [404],
});

export const deleteComparison = defineEndpoint({
  id: 'deleteComparison',
  method: 'delete',
  path: '/comparisons/{id}',
  access: 'manage',
  tag,
  summary: 'Stop and delete a comparison',
  description: 'Its runs are kept in the audit.',
  parameters: comparisonParameters,
  status: 204,
  kinds: ['empty'],
  errors: [404],
});
