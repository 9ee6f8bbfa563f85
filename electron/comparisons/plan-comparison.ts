import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, invalidField } from '../../shared/app-error.ts';
import { type ComparisonInput, maxCells, type Variant } from '../../shared/contract/comparisons.ts';
import type { Dataset } from '../../shared/contract/datasets.ts';
import type { PromptVersion } from '../../shared/contract/prompts.ts';
import { modelNameOf } from '../../shared/prompt-content.ts';
import { requireRunnable } from '../../shared/prompt-template.ts';
import type { Grounding } from '../knowledge/grounding/create-grounding.ts';
import type { Providers } from '../providers/create-providers.ts';
import type { NewComparison } from '../storage/comparison-store.ts';
import { VariantRequests } from './cell-request.ts';

export interface PlanOptions {
  readonly providers: Pick<Providers, 'systemOf' | 'resolve' | 'cost' | 'learnModel'>;
  readonly grounding: Pick<Grounding, 'requireDataspaces'>;
  readonly findVersion: (versionId: string) => PromptVersion | null;
}

const defaults = { repeats: 1, concurrency: 4, attempts: 1, timeLimitSeconds: 300 };

/** The same failure under the field of its variant. */
function underVariant<Result>(index: number, attempt: () => Result): Result {
  try {
    return attempt();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const details = error.details.map((detail) => ({
      ...detail,
      field: `variants[${index}].${detail.field === 'promptText' ? 'prompt.promptText' : detail.field}`,
    }));
    throw new AppError(error.code, error.message, { details, cause: error });
  }
}

function versionOf(input: ComparisonInput['variants'][number], { findVersion }: PlanOptions): PromptVersion | null {
  if (input.promptVersionId == null) return null;
  const version = findVersion(input.promptVersionId.toLowerCase());
  if (version) return version;
  throw invalidField('promptVersionId', 'is not a prompt version', 'No prompt version has this ID.');
}

/** A variant with everything that its prompt version leaves to it. Throws `invalid_request` for what could never run. */
export function resolveVariant(input: ComparisonInput['variants'][number], options: PlanOptions): Variant {
  const version = versionOf(input, options);
  const own = version && modelNameOf(version);
  const model = input.model ?? own?.model ?? '';
  const aiSystem = options.providers.systemOf(
    input.model == null ? (own?.aiSystem ?? null) : (input.aiSystem ?? null),
    model,
  );
  const configuration = input.configuration === undefined ? (version?.configuration ?? null) : input.configuration;
  return {
    name: input.name,
    promptVersionId: version?.id ?? null,
    prompt: input.prompt ?? null,
    aiSystem,
    model,
    configuration,
    dataspaceIds: input.dataspaceIds ? [...options.grounding.requireDataspaces(input.dataspaceIds)] : null,
  };
}

export function requestsOf(
  variant: Variant,
  dataset: Pick<Dataset, 'columns'>,
  variables: Readonly<Record<string, string>> | null,
  { findVersion }: Pick<PlanOptions, 'findVersion'>,
): VariantRequests {
  const version = variant.promptVersionId === null ? null : findVersion(variant.promptVersionId);
  if (variant.promptVersionId !== null && version === null)
    throw new AppError('not_found', `The prompt version of variant "${variant.name}" was deleted.`);
  return new VariantRequests(variant, version, dataset.columns, variables);
}

function requireColumns(
  variables: Readonly<Record<string, string>>,
  titleColumn: string | null,
  { columns }: Dataset,
): void {
  const names = new Set(columns.map(({ name }) => name));
  if (titleColumn !== null && !names.has(titleColumn))
    throw invalidField('titleColumn', `is not a column: "${titleColumn}"`);
  for (const [variable, column] of Object.entries(variables)) {
    if (!names.has(column)) throw invalidField(`variables.${variable}`, `is not a column: "${column}"`);
    if (variable.split('.').includes('__proto__'))
      throw invalidField('variables', 'has a name that no variable can have');
  }
}

function requireSize(dataset: Dataset, variants: number, repeats: number): void {
  if (dataset.rowCount === 0) throw invalidField('datasetId', 'has no rows', 'The dataset has no rows.');
  const cells = dataset.rowCount * variants * repeats;
  if (cells <= maxCells) return;
  const count = cells.toLocaleString('en');
  throw invalidField(
    'repeats',
    `give ${count} cells, more than 1,000,000`,
    `A comparison has at most 1,000,000 cells, and this one has ${count}.`,
  );
}

/** A comparison that is checked and complete, and what makes its requests. */
export interface PlannedComparison {
  readonly comparison: NewComparison;
  readonly requests: readonly VariantRequests[];
}

/** Checks a comparison and completes it. Throws `invalid_request` with the field. */
export async function planComparison(
  input: ComparisonInput,
  dataset: Dataset,
  options: PlanOptions,
): Promise<PlannedComparison> {
  const repeats = input.repeats ?? defaults.repeats;
  requireSize(dataset, input.variants.length, repeats);
  const variables = input.variables ?? null;
  requireColumns(variables ?? {}, input.titleColumn ?? null, dataset);
  const variants = input.variants.map((variant, index) => underVariant(index, () => resolveVariant(variant, options)));
  const requests: VariantRequests[] = [];
  for (const [index, variant] of variants.entries()) {
    const made = underVariant(index, () => {
      const one = requestsOf(variant, dataset, variables, options);
      requireRunnable(one.template);
      return one;
    });
    requests.push(made);
    // A template of 4 MB takes up to 150 ms.
    await nextTurn();
  }
  const total = dataset.rowCount * variants.length * repeats;
  const comparison: NewComparison = {
    name: input.name,
    datasetId: dataset.id,
    datasetVersion: dataset.version,
    setup: { variants, variables, checks: input.checks ?? [] },
    settings: {
      variantCount: variants.length,
      baseline: input.baseline ?? variants[0]!.name,
      basedOn: input.basedOn ?? null,
      repeats,
      concurrency: input.concurrency ?? defaults.concurrency,
      maxCost: input.maxCost ?? null,
      attempts: input.attempts ?? defaults.attempts,
      timeLimitSeconds: input.timeLimitSeconds ?? defaults.timeLimitSeconds,
      seed: input.seed ?? null,
      titleColumn: input.titleColumn ?? null,
      rowCount: dataset.rowCount,
      estimate: null,
    },
    summary: {
      counts: { total, waiting: total, running: 0, completed: 0, failed: 0, skipped: 0, stopped: 0 },
      spent: 0,
      spentByJudges: 0,
      runsWithoutCost: 0,
      stoppedVariants: [],
      stopReason: null,
      startedAt: null,
      completedAt: null,
    },
  };
  return { comparison, requests };
}
