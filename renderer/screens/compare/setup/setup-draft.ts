import type { z } from 'zod';
import { type Comparison, type ComparisonInput, comparisonInput } from '../../../../shared/contract/comparisons.ts';
import type { Dataset } from '../../../../shared/contract/datasets.ts';
import type { Model } from '../../../../shared/contract/providers.ts';
import { readNumber } from '../../../components/format.ts';
import { readConfiguration, writeParameters } from '../../../drafts/parameter-model.ts';
import { emptySetup, type SetupDraft, type VariantDraft } from '../../../stores/comparison-drafts.ts';
import { missingVariables } from './column-mapping.ts';
import { type Problems, readChecks, readWhole, writeChecks } from './check-drafts.ts';

/** Rows of "First 20 rows only". */
export const firstRows = 20;

/** `A`, `B`, and so on. */
export function letterOf(index: number): string {
  return String.fromCodePoint(65 + index);
}

export function variantNames(variants: readonly Pick<VariantDraft, 'name'>[]): string[] {
  return variants.map(({ name }, index) => name.trim() || letterOf(index));
}

/** What a setup is read with. */
export interface SetupContext {
  /** Null while it loads, or without one. */
  readonly dataset: Dataset | null;
  /** Variables that rows must fill. */
  readonly needed: readonly string[];
  readonly models: readonly Model[];
}

export interface ReadSetup {
  /** Null if there are problems. */
  readonly input: ComparisonInput | null;
  readonly problems: Problems;
}

function readVariant(
  draft: VariantDraft,
  name: string,
  models: readonly Model[],
  report: (field: string, problem: string) => void,
) {
  const { prompt, aiSystem, model, dataspaceIds } = draft;
  if (!prompt) report('prompt', 'Choose a prompt');
  if (prompt?.kind === 'text' && prompt.promptText.trim() === '') report('prompt', 'The prompt is empty');
  const known = models.find((one) => one.aiSystem === aiSystem && one.name === model) ?? null;
  const { configuration, problems } = readConfiguration(draft, known);
  for (const problem of problems) report('configuration', `${problem.name}: ${problem.problem}`);
  return {
    name,
    ...(prompt?.kind === 'version' && { promptVersionId: prompt.versionId }),
    ...(prompt?.kind === 'text' && {
      prompt: { promptText: prompt.promptText, systemMessage: prompt.systemMessage || null },
    }),
    aiSystem,
    model,
    configuration: Object.keys(configuration).length === 0 ? null : configuration,
    dataspaceIds: dataspaceIds.length === 0 ? null : [...dataspaceIds],
  };
}

function readNumbers(draft: SetupDraft, problems: Map<string, string>) {
  const whole = (field: 'repeats' | 'concurrency' | 'attempts' | 'timeLimitSeconds', max: number): number => {
    const read = readWhole(draft[field], 1, max);
    if ('value' in read) return read.value;
    problems.set(field, read.problem);
    return 1;
  };
  const maxCost = readNumber(draft.maxCost);
  if (maxCost === null || (maxCost !== undefined && maxCost <= 0)) problems.set('maxCost', 'Enter dollars above 0');
  else if (maxCost !== undefined && maxCost > 1_000_000) problems.set('maxCost', 'Must be 1,000,000 or less');
  const seed = readWhole(draft.seed.trim() === '' ? '1' : draft.seed, 0, 2_147_483_647);
  if (draft.isRandomOrder && 'problem' in seed) problems.set('seed', seed.problem);
  return {
    repeats: whole('repeats', 100),
    concurrency: whole('concurrency', 64),
    attempts: whole('attempts', 10),
    timeLimitSeconds: whole('timeLimitSeconds', 3600),
    ...(typeof maxCost === 'number' && { maxCost }),
    ...(draft.isRandomOrder && 'value' in seed && { seed: seed.value }),
  };
}

/** `checks[0].pattern`, as the service writes it. */
function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );
}

export function issueText(issue: string): string {
  return `${issue.charAt(0).toUpperCase()}${issue.slice(1)}`;
}

/** A name for a setup without one: that of its dataset. */
export function defaultName({ variants }: SetupDraft, dataset: Pick<Dataset, 'name'> | null): string {
  const letters = variants.map((_, index) => letterOf(index));
  const shown = letters.length > 4 ? `${letters.length} variants` : letters.join(' against ');
  return `${dataset?.name.slice(0, 250) ?? 'Comparison'}, ${shown || 'no variants'}`;
}

function requireColumns(draft: SetupDraft, { dataset, needed }: SetupContext, problems: Map<string, string>): void {
  if (draft.datasetId === null) problems.set('datasetId', 'Choose a dataset or import a file');
  if (!dataset) return;
  if (dataset.rowCount === 0) problems.set('datasetId', 'The dataset has no rows');
  for (const variable of missingVariables(needed, dataset.columns, draft))
    problems.set(`variables.${variable}`, `No column for ${variable}`);
}

/** Columns that the dataset no longer has would be rejected. While it loads, all stay: a setup that is saved then would lose them. */
function knownColumns({ variables, titleColumn }: SetupDraft, dataset: Dataset | null) {
  if (!dataset) return { variables, ...(titleColumn !== null && { titleColumn }) };
  const names = new Set(dataset.columns.map(({ name }) => name));
  const known = Object.fromEntries(Object.entries(variables).filter(([, column]) => names.has(column)));
  return {
    ...(Object.keys(known).length > 0 && { variables: known }),
    ...(titleColumn !== null && names.has(titleColumn) && { titleColumn }),
  };
}

/** The request that creates the comparison, or what is wrong by field. */
export function readSetup(draft: SetupDraft, context: SetupContext): ReadSetup {
  const problems = new Map<string, string>();
  const names = variantNames(draft.variants);
  if (draft.variants.length === 0) problems.set('variants', 'Add a variant');
  const variants = draft.variants.map((variant, index) =>
    readVariant(variant, names[index]!, context.models, (field, problem) =>
      problems.set(`variants[${index}].${field}`, problem),
    ),
  );
  requireColumns(draft, context, problems);
  const baseline = names[draft.variants.findIndex(({ id }) => id === draft.baselineId)];
  const input = {
    name: draft.name.trim() || defaultName(draft, context.dataset),
    datasetId: draft.datasetId ?? '00000000-0000-4000-8000-000000000000',
    ...(draft.datasetVersion !== null && { datasetVersion: draft.datasetVersion }),
    variants,
    ...(baseline !== undefined && { baseline }),
    checks: readChecks(draft.checks, problems),
    ...(draft.basedOn !== null && { basedOn: draft.basedOn }),
    ...knownColumns(draft, context.dataset),
    ...readNumbers(draft, problems),
  };
  if (problems.size > 0) return { input: null, problems };
  const parsed = comparisonInput.safeParse(input);
  if (parsed.success) return { input: parsed.data, problems };
  return { input: null, problems: problemsOf(parsed.error.issues) };
}

function problemsOf(issues: readonly z.core.$ZodIssue[]): Problems {
  return new Map(issues.map(({ path, message }) => [pathOf(path), issueText(message)]));
}

type ShownVariant = Comparison['variants'][number];

function writeVariant(variant: ShownVariant, index: number): VariantDraft {
  const { name, promptId, promptVersionId, prompt, aiSystem, model, configuration, dataspaceIds } = variant;
  return {
    id: crypto.randomUUID(),
    name: name === letterOf(index) ? '' : name,
    prompt: writePrompt({ promptId, promptVersionId, prompt }),
    aiSystem,
    model,
    ...writeParameters(configuration),
    dataspaceIds: dataspaceIds ?? [],
  };
}

function writePrompt({
  promptId,
  promptVersionId,
  prompt,
}: Pick<ShownVariant, 'promptId' | 'promptVersionId' | 'prompt'>): VariantDraft['prompt'] {
  if (promptVersionId !== null) return { kind: 'version', promptId: promptId ?? '', versionId: promptVersionId };
  if (!prompt) return null;
  const { promptText, systemMessage } = prompt;
  return { kind: 'text', title: 'Text', promptText, systemMessage: systemMessage ?? '' };
}

/** The setup of an existing comparison. */
export function writeSetup(comparison: Comparison): SetupDraft {
  const variants = comparison.variants.map(writeVariant);
  const { name, seed, maxCost, repeats, concurrency, attempts, timeLimitSeconds } = comparison;
  const baseline = comparison.variants.findIndex((variant) => variant.name === comparison.baseline);
  return {
    ...emptySetup({
      name,
      basedOn: comparison.basedOn,
      variants,
      baselineId: baseline > 0 ? (variants[baseline]?.id ?? null) : null,
      datasetId: comparison.datasetId,
      datasetVersion: comparison.datasetVersion,
      variables: comparison.variables ?? {},
      titleColumn: comparison.titleColumn,
      checks: writeChecks(comparison.checks),
      repeats: String(repeats),
      concurrency: String(concurrency),
      maxCost: maxCost === null ? '' : String(maxCost),
      attempts: String(attempts),
      timeLimitSeconds: String(timeLimitSeconds),
      isRandomOrder: seed !== null,
      seed: seed === null ? '' : String(seed),
    }),
    id: comparison.id,
  };
}
